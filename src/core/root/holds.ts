/** Updates for session ids that a pending new, load, resume or fork may introduce: held until its response (S6). Bounded. */
import type { Frame } from "../../protocol/envelope.ts";
import type { SessionId } from "../../protocol/ids.ts";
import type { RootContext } from "./context.ts";

export const HOLD_TIMER = "hold";

export class Holds {
  readonly #context: RootContext;
  #introducing = 0;
  #held: { readonly id: SessionId; readonly frame: Frame }[] = [];

  constructor(context: RootContext) {
    this.#context = context;
  }

  /** A request that may bring a new session id goes out. */
  begin(): void {
    this.#introducing += 1;
    if (this.#introducing === 1) this.#context.ports.startTimer(HOLD_TIMER, this.#context.options.heldUpdatesMs);
  }

  /** It was answered. */
  end(): void {
    this.#introducing = Math.max(0, this.#introducing - 1);
    if (this.#introducing === 0) this.#context.ports.cancelTimer(HOLD_TIMER);
  }

  get isHolding(): boolean {
    return this.#introducing > 0;
  }

  /** Keeps an update of an unknown session. False when it has to be delivered now. */
  hold(id: SessionId, frame: Frame): boolean {
    if (this.#introducing === 0) return false;
    if (this.#held.length >= this.#context.options.heldUpdatesMax) {
      this.#context.ports.observe({ kind: "held-overflow", sessionId: id });
      return false;
    }
    this.#held.push({ id, frame });
    return true;
  }

  /** The held updates of one session, in order. */
  take(id: SessionId): Frame[] {
    const taken = this.#held.filter((entry) => entry.id === id).map((entry) => entry.frame);
    if (taken.length > 0) this.#held = this.#held.filter((entry) => entry.id !== id);
    return taken;
  }

  /** Everything held: the time is over, or nothing that could introduce a session is pending. */
  takeAll(): { readonly id: SessionId; readonly frame: Frame }[] {
    const taken = this.#held;
    this.#held = [];
    return taken;
  }
}
