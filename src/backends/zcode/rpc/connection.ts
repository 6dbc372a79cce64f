/**
 * Calls over one running app-server. Two id spaces: our requests count up from 1, theirs are whatever they send and are
 * only ever echoed. A frame with `method` is never an answer, so the spaces cannot collide.
 */
import type { Json, JsonObject } from "../../../protocol/json.ts";
import { isObject } from "../../../protocol/json.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import { fromAnswer, ZcodeError } from "./errors.ts";
import { errorLine, readFrame, requestLine, resultLine, type ZId } from "./frames.ts";
import { timeoutOf } from "./methods.ts";

export interface ConnectionHandlers {
  onNotification(method: string, params: JsonObject): void;
  /** Called at the moment the frame arrives; some requests must be answered before anything else happens. */
  onRequest(id: ZId, method: string, params: JsonObject): void;
  /** Call after call ran into its limit, and not one line came all the while: it will not answer any more. */
  onSilent?(): void;
}

/** So many calls that were made one after the other and ran into their limits, and so long since the first of them was made. */
const SILENT_MS = 120_000;
const SILENT_CALLS = 3;
/** A limit that comes this late says that the computer slept meanwhile. */
const SLEPT_MS = 60_000;

export interface CallOptions {
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
}

interface Pending {
  readonly method: string;
  settle(outcome: JsonObject | ZcodeError): void;
}

export class ZcodeConnection {
  readonly #write: (line: string) => void;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #handlers: ConnectionHandlers;
  readonly #pending = new Map<ZId, Pending>();
  #nextId = 1;
  #heardAt: number;
  /** Calls nobody answered since, when the first of them was made, and when the last was given up. */
  #unanswered = 0;
  #unansweredSince = 0;
  #unansweredAt = 0;
  #death: ZcodeError | undefined;

  constructor(write: (line: string) => void, clock: Clock, log: Log, handlers: ConnectionHandlers) {
    this.#write = write;
    this.#clock = clock;
    this.#log = log;
    this.#handlers = handlers;
    this.#heardAt = clock.now();
  }

  get isDead(): boolean {
    return this.#death !== undefined;
  }

  /** Number of calls still waiting; zero after death. */
  get pendingCount(): number {
    return this.#pending.size;
  }

  /**
   * One call. Resolves with the result object (`{}` for a null result). Rejects with a ZcodeError and nothing else:
   * the backend's own error, `timeout`, `dead`, or `other` when `signal` aborted.
   */
  call(method: string, params: JsonObject, options: CallOptions = {}): Promise<JsonObject> {
    if (this.#death !== undefined) return Promise.reject(this.#death);
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const { signal } = options;
      const timeoutMs = options.timeoutMs ?? timeoutOf(method);
      const settle = (outcome: JsonObject | ZcodeError): void => {
        if (!this.#pending.delete(id)) return;
        cancelTimer();
        signal?.removeEventListener("abort", onAbort);
        if (outcome instanceof ZcodeError) reject(outcome);
        else resolve(outcome);
      };
      const onAbort = (): void => settle(new ZcodeError("other", `${method} was given up`));
      const sentAt = this.#clock.now();
      const cancelTimer = this.#clock.setTimeout(() => {
        settle(new ZcodeError("timeout", `ZCode did not answer ${method} within ${timeoutMs} ms`));
        this.#noteSilence(sentAt, timeoutMs);
      }, timeoutMs);
      this.#pending.set(id, { method, settle });
      signal?.addEventListener("abort", onAbort);
      if (signal?.aborted === true) return onAbort();
      this.#write(requestLine(id, method, params));
    });
  }

  answer(id: ZId, result: Json): void {
    if (this.#death === undefined) this.#write(resultLine(id, result));
  }

  answerError(id: ZId, code: number, message: string): void {
    if (this.#death === undefined) this.#write(errorLine(id, code, message));
  }

  /** Takes one line of the app-server's stdout. Lines that are no frames are counted by length and dropped. */
  receive(line: string): void {
    if (this.#death !== undefined) return;
    this.#heardAt = this.#clock.now();
    this.#unanswered = 0;
    const frame = readFrame(line);
    if (frame === undefined) {
      if (line.trim() !== "") this.#log("debug", "zcode line dropped", { bytes: line.length });
      return;
    }
    if (frame.kind === "notification") return this.#handlers.onNotification(frame.method, frame.params);
    if (frame.kind === "request") return this.#handlers.onRequest(frame.id, frame.method, frame.params);
    const pending = this.#pending.get(frame.id);
    // An answer nobody waits for is a late one (its call timed out): nothing to do with it.
    if (pending === undefined) return;
    if (frame.kind === "error") pending.settle(fromAnswer(frame.error));
    else pending.settle(isObject(frame.result) ? frame.result : {});
  }

  /** Calls that ran side by side count once: a computer that wakes finds all of them late at the same time. */
  #noteSilence(sentAt: number, timeoutMs: number): void {
    if (this.#death !== undefined || sentAt < this.#heardAt || sentAt < this.#unansweredAt) return;
    const now = this.#clock.now();
    this.#unansweredAt = now;
    if (now - sentAt - timeoutMs >= SLEPT_MS) {
      this.#unanswered = 0;
      return;
    }
    // Silence before anybody asked is no sign: one that was idle has as long as any other.
    if (this.#unanswered === 0) this.#unansweredSince = sentAt;
    this.#unanswered += 1;
    if (this.#unanswered < SILENT_CALLS || now - this.#unansweredSince < SILENT_MS) return;
    this.#unanswered = 0;
    this.#handlers.onSilent?.();
  }

  /** Ends it: everything pending is answered with `death`, everything later too. */
  die(death: ZcodeError): void {
    if (this.#death !== undefined) return;
    this.#death = death;
    for (const pending of [...this.#pending.values()]) pending.settle(death);
  }
}
