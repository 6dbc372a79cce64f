/** The one way a session ends here: closed, deleted, or its load failed. Nothing that belongs to it is left open. */
import { LINK } from "../../protocol/link.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { Asks } from "./asks.ts";
import type { RootContext } from "./context.ts";
import type { RootSession } from "./session.ts";
import type { Setters } from "./setters.ts";
import type { Turns } from "./turns.ts";

const CANCELLED: AnswerBody = { result: { stopReason: "cancelled" } };

export type EndReason = "closed" | "load-failed";

export class Ending {
  readonly #context: RootContext;
  readonly #asks: Asks;
  readonly #turns: Turns;
  readonly #setters: Setters;

  constructor(context: RootContext, asks: Asks, turns: Turns, setters: Setters) {
    this.#context = context;
    this.#asks = asks;
    this.#turns = turns;
    this.#setters = setters;
  }

  end(session: RootSession, reason: EndReason, now: number): void {
    if (this.#context.sessions.get(session.id) !== session) return;
    this.#asks.endAll(session, now);
    this.#turns.endAll(session, CANCELLED, now);
    this.#setters.forget(session);
    this.#context.sessions.delete(session.id);
    this.#context.link.notify(LINK.sessionGone, { sessionId: session.id, reason }, session);
    this.#context.link.unsubscribe(session);
    this.#context.ports.releaseHost?.(session.id);
  }
}
