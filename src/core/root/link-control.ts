/** What the hub tells the root about its clients (contract 7): proposals, copies, what is on disk, who is attached, who has left. */
import { type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import type { Asks } from "./asks.ts";
import type { RootContext } from "./context.ts";
import { asSessionId } from "./link-side.ts";
import { passPresence } from "./presence.ts";
import type { RootSession } from "./session.ts";
import type { Turns } from "./turns.ts";

export class LinkControl {
  readonly #context: RootContext;
  readonly #asks: Asks;
  readonly #turns: Turns;

  constructor(context: RootContext, asks: Asks, turns: Turns) {
    this.#context = context;
    this.#asks = asks;
    this.#turns = turns;
  }

  on(method: string, params: JsonObject, now: number): void {
    switch (method) {
      case LINK.propose:
        return this.#asks.propose(params, now);
      case LINK.copies:
        return this.#asks.onCopies(params, now);
      case LINK.answerers:
        this.#context.answerers = numberAt(params, "count") ?? 0;
        return undefined;
      case LINK.ack:
        return this.#onAck(params);
      case LINK.attached: {
        const session = this.#sessionOf(params);
        if (session !== undefined && typeof params["count"] === "number") session.remoteCount = params["count"];
        return undefined;
      }
      case LINK.presence: {
        const session = this.#sessionOf(params);
        if (session !== undefined) passPresence(this.#context, session, params);
        return undefined;
      }
      case LINK.gone:
        return this.#onGone(stringAt(params, "connectionId") ?? "", now);
      default:
        return this.#context.ports.observe({ kind: "bad-link-message", method });
    }
  }

  /** What the hub has on disk, by session: older events are coalesced before others when the journal is over its bound (S3). */
  #onAck(params: JsonObject): void {
    for (const session of this.#context.sessions.values()) {
      const seq = Object.hasOwn(params, session.id) ? params[session.id] : undefined;
      if (typeof seq === "number") session.journal.acknowledge(seq);
    }
  }

  #onGone(key: string, now: number): void {
    for (const session of this.#context.sessions.values())
      this.#turns.onCallerGone(session, (caller) => caller.key === key, now);
    this.#asks.onCallerGone((connection) => connection === key, now);
  }

  #sessionOf(params: JsonObject): RootSession | undefined {
    const id = asSessionId(params);
    return id === undefined ? undefined : this.#context.sessions.get(id);
  }
}
