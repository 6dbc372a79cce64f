/** Who writes a message, passed on to the others who read the session and understand it. Nothing of it is kept (contract §4). */
import { notification } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import type { Connection } from "./connection.ts";
import type { MirrorSession } from "./session.ts";

/** Signs of one connection that are passed on per window; a client gives one in three seconds, and one at the end. */
const SIGNS_MAX = 10;
const WINDOW_MS = 10_000;

interface Told {
  readonly since: number;
  readonly count: number;
}

export class TypingSigns<Encoded> {
  readonly #told = new WeakMap<Connection<Encoded>, Told>();

  /** False when it may not write here. */
  pass(
    connection: Connection<Encoded>,
    session: MirrorSession<Encoded> | undefined,
    isTyping: boolean,
    now: number,
  ): boolean {
    if (session?.attached.has(connection) !== true || !connection.may("sessions:prompt")) return false;
    if (!this.#isWithinLimit(connection, now)) return true;
    const params = { sessionId: session.id, typing: isTyping, by: { ...connection.by } };
    const text = JSON.stringify(notification(HUB.typing, params));
    for (const reader of session.attached)
      if (reader !== connection && reader.abilities.isExtended) reader.outbox.send(text, session.feed);
    return true;
  }

  #isWithinLimit(connection: Connection<Encoded>, now: number): boolean {
    const told = this.#told.get(connection);
    const isNew = told === undefined || now - told.since >= WINDOW_MS || now < told.since;
    const next: Told = isNew ? { since: now, count: 1 } : { since: told.since, count: told.count + 1 };
    this.#told.set(connection, next);
    return next.count <= SIGNS_MAX;
  }
}
