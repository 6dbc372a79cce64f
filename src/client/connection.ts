/**
 * One lasting connection to a hub: dials, initializes, notices death, dials again.
 *
 * C1 Exactly one of the states below holds; every change goes through `#to`.
 * C2 A completion of an earlier dial never touches a later one (generation).
 * C3 The close table decides: `stop` ends, `wait` dials at the slowest pace, `resume` dials with backoff.
 * C4 A wake-up (page seen, network back) dials at once; it never starts a second dial.
 */
import { ACP, ACP_VERSION } from "../protocol/acp.ts";
import { CLOSE, retryPolicy } from "../protocol/close-codes.ts";
import type { RpcId } from "../protocol/envelope.ts";
import { HUB } from "../protocol/hub-methods.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import { LIMITS } from "../protocol/limits.ts";
import { BACKOFF_MAX_MS, backoffMs } from "./backoff.ts";
import { Emitter, Observable } from "./emitter.ts";
import { CallError, ClientError } from "./errors.ts";
import { type HubInfo, readHubInfo } from "./hub-info.ts";
import { Liveness } from "./liveness.ts";
import type { Clock, Socket, SocketClose, SocketFactory } from "./ports.ts";
import { type CallOptions, RpcPeer } from "./rpc.ts";

export interface DialTarget {
  readonly url: string;
  readonly protocols?: readonly string[];
}

/** Thrown by `dial` when trying again cannot help: the credential is gone. */
export class DialRefused extends Error {
  override readonly name = "DialRefused";
}

export type ConnectionState =
  | { readonly kind: "idle" }
  | { readonly kind: "connecting"; readonly attempt: number }
  | { readonly kind: "initializing"; readonly attempt: number }
  | { readonly kind: "ready"; readonly info: HubInfo }
  | {
      readonly kind: "reconnecting";
      readonly attempt: number;
      /** When the next dial is due, epoch milliseconds. */
      readonly retryAt: number;
      readonly reason: string;
    }
  | { readonly kind: "stopped"; readonly reason: "closed" | "unauthorized" | "refused"; readonly message: string };

export type ConnectionEvent =
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "request"; readonly id: RpcId; readonly method: string; readonly params: JsonObject };

export interface ConnectionOptions {
  /** Called for every dial, so that a one-use ticket is fresh. */
  readonly dial: () => Promise<DialTarget>;
  readonly openSocket: SocketFactory;
  readonly clock: Clock;
  readonly clientInfo: { readonly name: string; readonly version: string; readonly title?: string };
  /** Replaces the default client capabilities: forms, urls and the hub's own extension. */
  readonly capabilities?: JsonObject;
  /** Which requests of the hub are answered by the owner; others get "method not found". */
  readonly answers?: ReadonlySet<string>;
}

/** Not an object literal in the call: this is what makes the hub send `_acp-hub/*` notices. */
export const DEFAULT_CAPABILITIES: JsonObject = {
  elicitation: { form: {}, url: {} },
  session: { configOptions: { boolean: {} } },
  _meta: { "acp-hub": {} },
};

interface Live {
  readonly socket: Socket;
  readonly rpc: RpcPeer;
  liveness: Liveness | undefined;
}

export class Connection {
  readonly state: Observable<ConnectionState> = new Observable<ConnectionState>({ kind: "idle" });
  readonly events: Emitter<ConnectionEvent> = new Emitter<ConnectionEvent>();
  readonly #options: ConnectionOptions;
  #live: Live | undefined;
  #generation = 0;
  #attempt = 0;
  #isVisible = true;
  #cancelRetry: (() => void) | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /** When the hub was last heard, epoch milliseconds; undefined before the first time on this socket. */
  get heardAt(): number | undefined {
    return this.#live?.liveness?.heardAt;
  }

  start(): void {
    const { kind } = this.state.value;
    if (kind !== "idle" && kind !== "stopped") return;
    this.#attempt = 0;
    void this.#dial();
  }

  /** Ends for good (until `start`). What is in flight fails with `connection-lost`. */
  stop(): void {
    this.#end({ kind: "stopped", reason: "closed", message: CLOSE.normal.meaning });
  }

  /** The page is seen again or the network is back. */
  wake(): void {
    if (this.state.value.kind === "reconnecting") {
      this.#attempt = 0;
      void this.#dial();
    } else this.#live?.liveness?.wake();
  }

  setVisible(isVisible: boolean): void {
    this.#isVisible = isVisible;
    this.#live?.liveness?.setVisible(isVisible);
    if (isVisible) this.wake();
  }

  /**
   * Fails with `not-connected` before initialize was sent: callers that must not lose a request keep it themselves (outbox).
   * After that it need not wait for the answer: a hub reads what it is sent in order.
   */
  call(method: string, params: JsonObject, options: CallOptions = {}): Promise<Json> {
    const live = this.state.value.kind === "initializing" ? this.#live : this.#ready();
    return live === undefined ? Promise.reject(notConnected()) : live.rpc.call(method, params, options);
  }

  notify(method: string, params: JsonObject): boolean {
    const live = this.#ready();
    live?.rpc.notify(method, params);
    return live !== undefined;
  }

  /** Answers a request of the hub. False when the socket it came on is gone: the hub asks again on the next. */
  respond(id: RpcId, value: Json): boolean {
    const live = this.#ready();
    live?.rpc.respond(id, value);
    return live !== undefined;
  }

  #ready(): Live | undefined {
    return this.state.value.kind === "ready" ? this.#live : undefined;
  }

  async #dial(): Promise<void> {
    this.#drop();
    const generation = this.#generation;
    this.state.set({ kind: "connecting", attempt: this.#attempt });
    let target: DialTarget;
    try {
      target = await this.#options.dial();
    } catch (error) {
      if (generation !== this.#generation) return;
      if (error instanceof DialRefused) this.#end({ kind: "stopped", reason: "unauthorized", message: error.message });
      else this.#retry("the hub cannot be reached");
      return;
    }
    if (generation === this.#generation) this.#open(target, generation);
  }

  #open(target: DialTarget, generation: number): void {
    const isCurrent = (): boolean => generation === this.#generation;
    // The socket may speak before the factory has returned it; then it is dropped by generation.
    let send: (text: string) => void = () => undefined;
    const rpc = new RpcPeer((text) => send(text), this.#options.clock, {
      onNotification: (method, params) => this.events.emit({ kind: "notification", method, params }),
      onRequest: (id, method, params) => {
        if (this.#options.answers?.has(method) !== true) return false;
        this.events.emit({ kind: "request", id, method, params });
        return true;
      },
    });
    const cancelDeadline = this.#options.clock.after(LIMITS.initializeMs, () => {
      if (isCurrent() && this.state.value.kind === "connecting") this.#retry("the hub did not answer");
    });
    const socket = this.#options.openSocket(target.url, target.protocols ?? [], {
      onOpen: () => {
        cancelDeadline();
        if (isCurrent()) void this.#initialize(rpc, generation);
      },
      onText: (text) => {
        if (!isCurrent()) return;
        this.#live?.liveness?.heard();
        rpc.receive(text);
      },
      onClose: (close) => {
        cancelDeadline();
        rpc.close();
        if (isCurrent()) this.#closed(close);
      },
    });
    send = (text) => socket.send(text);
    if (isCurrent()) this.#live = { socket, rpc, liveness: undefined };
    else socket.close(CLOSE.normal.code, "superseded");
  }

  async #initialize(rpc: RpcPeer, generation: number): Promise<void> {
    const params: JsonObject = {
      protocolVersion: ACP_VERSION,
      clientCapabilities: this.#options.capabilities ?? DEFAULT_CAPABILITIES,
      clientInfo: { ...this.#options.clientInfo },
    };
    try {
      const answer = rpc.call(ACP.initialize, params, { timeoutMs: LIMITS.initializeMs });
      this.state.set({ kind: "initializing", attempt: this.#attempt });
      const result = await answer;
      if (generation !== this.#generation || this.#live === undefined) return;
      this.#attempt = 0;
      this.#live.liveness = this.#watch(rpc);
      this.state.set({ kind: "ready", info: readHubInfo(result) });
    } catch (error) {
      if (generation !== this.#generation) return;
      this.#retry(error instanceof CallError ? error.message : "the hub did not answer");
    }
  }

  #watch(rpc: RpcPeer): Liveness {
    const liveness = new Liveness({
      clock: this.#options.clock,
      probe: (timeoutMs) => isAlive(rpc, timeoutMs),
      onDead: () => this.#closed({ code: 1006, reason: "the hub went silent" }),
    });
    liveness.setVisible(this.#isVisible);
    return liveness;
  }

  #closed(close: SocketClose): void {
    if (close.status === 401 || close.status === 403) {
      this.#end({ kind: "stopped", reason: "unauthorized", message: CLOSE.revoked.meaning });
      return;
    }
    const policy = close.status === 404 ? "stop" : close.status === 429 ? "wait" : retryPolicy(close.code);
    const known = Object.values(CLOSE).find((entry) => entry.code === close.code);
    if (policy === "stop") {
      const reason = close.code === CLOSE.revoked.code ? "unauthorized" : "refused";
      this.#end({ kind: "stopped", reason, message: known?.meaning ?? close.reason });
    } else this.#retry(known?.meaning ?? "the connection was lost", policy === "wait");
  }

  #retry(reason: string, isSlow = false): void {
    this.#drop();
    const { clock } = this.#options;
    const wait = isSlow ? BACKOFF_MAX_MS : backoffMs(this.#attempt, clock.random());
    this.#attempt += 1;
    this.state.set({ kind: "reconnecting", attempt: this.#attempt, retryAt: clock.now() + wait, reason });
    this.#cancelRetry = clock.after(wait, () => void this.#dial());
  }

  #end(state: ConnectionState): void {
    this.#drop();
    this.state.set(state);
  }

  /** Lets go of the socket and of everything that waits; C2: a new generation begins. */
  #drop(): void {
    this.#generation += 1;
    this.#cancelRetry?.();
    this.#cancelRetry = undefined;
    const live = this.#live;
    this.#live = undefined;
    live?.liveness?.stop();
    live?.rpc.close();
    live?.socket.close(CLOSE.normal.code, "");
  }
}

async function isAlive(rpc: RpcPeer, timeoutMs: number): Promise<boolean> {
  try {
    await rpc.call(HUB.queueList, {}, { timeoutMs });
    return true;
  } catch (error) {
    // "No such session" is an answer too.
    return error instanceof CallError;
  }
}

const notConnected = (): ClientError => new ClientError("not-connected", "Not connected to the hub");
