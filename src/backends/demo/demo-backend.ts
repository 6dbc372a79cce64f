/** A scripted agent in this process, for trying the hub out without one and for tests. Loads the ACP SDK. */
import { setTimeout as wait } from "node:timers/promises";
import { memoryPair } from "../../transport/memory.ts";
import type { Transport } from "../../transport/transport.ts";
import type { Backend, BackendExit } from "../backend.ts";
import { sdkStream } from "../sdk-stream.ts";
import { demoAgent } from "./demo-agent.ts";
import type { Pace } from "./turn.ts";

export interface DemoBackendOptions {
  /** How the scenes wait. Default: real time. */
  readonly pace?: Pace;
  /** Epoch milliseconds. */
  readonly now?: () => number;
}

const realTime: Pace = async (ms, signal) => {
  await wait(ms, undefined, { signal });
};

/** Starts nothing yet. See `Backend` for what its members do. */
export function demoBackend(options: DemoBackendOptions = {}): Backend {
  return new DemoBackend(options);
}

class DemoBackend implements Backend {
  readonly name = "demo";
  readonly seesCapabilitiesLive = false;
  readonly exited: Promise<BackendExit>;
  readonly #options: DemoBackendOptions;
  readonly #stopped = new AbortController();
  #resolveExited: (exit: BackendExit) => void = () => undefined;
  #transport: Transport | undefined;

  constructor(options: DemoBackendOptions) {
    this.#options = options;
    this.exited = new Promise((resolve) => {
      this.#resolveExited = resolve;
    });
  }

  start(): Transport {
    this.#transport ??= this.#connect();
    return this.#transport;
  }

  async stop(): Promise<void> {
    this.#stopped.abort();
    this.#transport?.close();
    if (this.#transport !== undefined) await this.exited;
  }

  #connect(): Transport {
    const [ours, theirs] = memoryPair();
    const app = demoAgent({
      pace: this.#options.pace ?? realTime,
      now: this.#options.now ?? Date.now,
      stopped: this.#stopped.signal,
    });
    const connection = app.connect(sdkStream(theirs));
    void connection.closed.then(() => {
      this.#stopped.abort();
      this.#resolveExited({ code: 0, signal: null, stderrTail: "" });
    });
    return ours;
  }
}
