/** Messages of session ids that a pending new, resume or fork may introduce: held until its response (S6). Bounded. */
import type { Frame } from "../../protocol/envelope.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { RootContext } from "./context.ts";

export const HOLD_TIMER = "hold";

export interface HeldFrame {
  readonly id: SessionId;
  readonly frame: Frame;
}

export class Holds {
  readonly #context: RootContext;
  #introducing = 0;
  #held: HeldFrame[] = [];

  constructor(context: RootContext) {
    this.#context = context;
  }

  /** A request that may bring a new session id goes out. */
  begin(): void {
    this.#introducing += 1;
  }

  /** It was answered. */
  end(): void {
    this.#introducing = Math.max(0, this.#introducing - 1);
  }

  get isHolding(): boolean {
    return this.#introducing > 0;
  }

  /** Keeps a message of an unknown session. False when nothing may be held, or no more: then it is delivered behind what was. */
  hold(id: SessionId, frame: Frame): boolean {
    if (!this.isHolding) return false;
    if (this.#held.length >= this.#context.options.heldUpdatesMax) {
      this.#context.ports.observe({ kind: "held-overflow", sessionId: id });
      return false;
    }
    // The time counts from the first message held, not from the request: a slow agent holds nothing back longer for it.
    if (this.#held.length === 0) this.#context.ports.startTimer(HOLD_TIMER, this.#context.options.heldUpdatesMs);
    this.#held.push({ id, frame });
    return true;
  }

  /** The held messages of one session, in order. */
  take(id: SessionId): Frame[] {
    const taken = this.#held.filter((entry) => entry.id === id).map((entry) => entry.frame);
    if (taken.length > 0) this.#keep(this.#held.filter((entry) => entry.id !== id));
    return taken;
  }

  /** Everything held: the time is over, or nothing that could introduce a session is pending. */
  takeAll(): readonly HeldFrame[] {
    const taken = this.#held;
    this.#keep([]);
    return taken;
  }

  #keep(rest: HeldFrame[]): void {
    if (this.#held.length > 0 && rest.length === 0) this.#context.ports.cancelTimer(HOLD_TIMER);
    this.#held = rest;
  }
}
