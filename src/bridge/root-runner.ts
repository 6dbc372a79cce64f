/**
 * Runs the root over real channels: the agent's, the editor's, the link's. Holds the agent back while the editor does not read, as
 * a direct pipe would; never for the hub (B5).
 */

import type { BackendExit } from "../backends/backend.ts";
import type { Sink } from "../core/fanout/outbox.ts";
import type { LinkedHub, Observation, RootOptions } from "../core/root/ports.ts";
import { Root } from "../core/root/root.ts";
import type { Frame } from "../protocol/envelope.ts";
import type { JsonObject } from "../protocol/json.ts";
import type { CloseInfo, Transport } from "../transport/transport.ts";
import { LazyHost } from "./host/lazy-host.ts";
import type { BridgeLog } from "./log.ts";
import { randomMint } from "./mint.ts";
import { NamedTimers } from "./named-timers.ts";

export interface RootRunnerOptions {
  readonly root: RootOptions;
  readonly agent: Transport;
  /** Absent for a headless bridge. */
  readonly primary: Transport | undefined;
  readonly log: BridgeLog;
  /** The editor closed its pipe (L1). */
  readonly onPrimaryGone: () => void;
  /** One of the agent's pipes has ended: nothing it says is heard any more, or nothing reaches it. */
  readonly onAgentClosed: (info: CloseInfo) => void;
}

export class RootRunner {
  readonly #root: Root;
  readonly #timers: NamedTimers;
  readonly #agent: Transport;
  readonly #primary: Transport | undefined;
  readonly #log: BridgeLog;
  readonly #onPrimaryGone: () => void;
  readonly #onAgentClosed: (info: CloseInfo) => void;
  readonly #host: LazyHost;
  #isFlushing = false;
  #onFirstWords: () => void = () => undefined;
  /** The editor has said something, or will not any more. */
  readonly #firstWords: Promise<void>;
  /** Lines the agent printed that were no JSON-RPC (T2). */
  junkLines = 0;

  constructor(options: RootRunnerOptions) {
    this.#agent = options.agent;
    this.#primary = options.primary;
    this.#log = options.log;
    this.#onPrimaryGone = options.onPrimaryGone;
    this.#onAgentClosed = options.onAgentClosed;
    this.#firstWords = new Promise((resolve) => {
      this.#onFirstWords = resolve;
    });
    this.#timers = new NamedTimers((name) => this.#root.onTimer(name, Date.now()));
    this.#host = new LazyHost({
      answer: (id, body) => void this.#root.answerHost(id, body, Date.now()),
      onOutput: (session, terminalId, text) => this.#root.onTerminalOutput(session, terminalId, text, Date.now()),
    });
    this.#root = new Root(
      {
        toAgent: (text) => void this.#agent.send(text),
        toPrimary: (text) => this.#toPrimary(text),
        startTimer: (name, ms) => this.#timers.start(name, ms),
        cancelTimer: (name) => this.#timers.cancel(name),
        requestFlush: () => this.#requestFlush(),
        observe: (observation) => this.#observe(observation),
        serveHost: (request, session) => this.#host.serve(request, session),
        cancelHost: (id) => this.#host.cancel(id),
        releaseHost: (session) => this.#host.release(session),
        mint: randomMint,
      },
      options.root,
    );
  }

  get root(): Root {
    return this.#root;
  }

  start(): void {
    this.#agent.start({
      onFrame: (frame) => this.#root.onAgent(frame, Date.now()),
      onJunk: (_refusal, bytes) => this.#onAgentJunk(bytes),
      onClose: (info) => this.#onAgentClosed(info),
    });
    this.#primary?.start({
      onFrame: (frame) => {
        this.#root.onPrimary(frame, Date.now());
        this.#onFirstWords();
      },
      onJunk: (refusal) => this.#root.refusePrimary(refusal),
      onClose: () => {
        this.#root.onPrimaryGone();
        this.#onFirstWords();
        this.#onPrimaryGone();
      },
      onDrain: () => this.#agent.resume(),
    });
    if (this.#primary === undefined) this.#root.startHeadless();
  }

  /** S8: everything that waits is answered with how the agent ended. */
  onAgentExit(exit: BackendExit): void {
    const how =
      exit.error?.message ?? (exit.signal === null ? `exit code ${exit.code ?? "unknown"}` : `signal ${exit.signal}`);
    const data: JsonObject = { exitCode: exit.code, signal: exit.signal, stderr: exit.stderrTail };
    const tail = exit.stderrTail.trim();
    this.#root.onAgentGone(
      `The agent has ended (${how})${tail === "" ? "" : `: ${tail.slice(-500)}`}`,
      data,
      Date.now(),
    );
    this.#root.flush();
    this.#timers.clear();
  }

  /** An agent may be gone before the editor's first request was read; that request is answered too (S8). */
  async heardEditor(limitMs: number): Promise<void> {
    if (this.#primary === undefined) return;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, limitMs);
    });
    await Promise.race([this.#firstWords, late]);
    clearTimeout(timer);
  }

  onLinkUp(sink: Sink<string>, acked: JsonObject, drop: () => void, hub: LinkedHub): void {
    this.#root.onLinkUp(sink, acked, drop, hub, Date.now());
  }

  onLink(frame: Frame): void {
    this.#root.onLink(frame, Date.now());
  }

  onLinkDown(): void {
    this.#root.onLinkDown();
  }

  onLinkDrain(): void {
    this.#root.onLinkDrain();
  }

  /** Resolves when no terminal it served is left. */
  stop(): Promise<void> {
    this.#timers.clear();
    return this.#host.stop();
  }

  #toPrimary(text: string): void {
    if (this.#primary?.send(text) === false) this.#agent.pause();
  }

  #requestFlush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      this.#root.flush();
    });
  }

  #onAgentJunk(bytes: number): void {
    this.junkLines += 1;
    this.#log.warn("agent printed a line that is no message", { bytes, count: this.junkLines });
  }

  #observe(observation: Observation): void {
    const { kind, ...fields } = observation;
    this.#log.info(`root: ${kind}`, fields);
  }
}
