/**
 * Open interactions for a client that has just loaded (X6): at once to those that declared `_meta["acp-hub"]`, a little later to
 * the others, so that the history renders first.
 */
import type { InteractionId, SessionId } from "../../protocol/ids.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import type { Copies } from "./copies.ts";
import type { MirrorSession } from "./session.ts";

export class Reasks<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #copies: Copies<Encoded>;
  /** Per connection and session, what was open at the load: later ones are asked as they come. */
  readonly #due = new Map<Connection<Encoded>, Map<SessionId, ReadonlySet<InteractionId>>>();

  constructor(context: MirrorContext<Encoded>, copies: Copies<Encoded>) {
    this.#context = context;
    this.#copies = copies;
  }

  /** The response of a load or resume has been sent. */
  after(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    const open = this.#copies.openIds(session);
    if (connection.abilities.isExtended) return this.#copies.askAgain(connection, open);
    const due = this.#due.get(connection) ?? new Map<SessionId, ReadonlySet<InteractionId>>();
    due.set(session.id, open);
    this.#due.set(connection, due);
    return this.#context.ports.startTimer(askTimer(connection), this.#context.options.askAfterLoadMs);
  }

  onTimer(name: string): void {
    for (const [connection, due] of this.#due) {
      if (name !== askTimer(connection)) continue;
      this.#due.delete(connection);
      if (connection.isGone) continue;
      for (const open of due.values()) this.#copies.askAgain(connection, open);
      // What is open elsewhere waited for this moment too.
      this.#copies.offerAll(connection);
    }
  }

  onGone(connection: Connection<Encoded>): void {
    this.#context.ports.cancelTimer(askTimer(connection));
    this.#due.delete(connection);
  }
}

const askTimer = <E>(connection: Connection<E>): string => `ask:${connection.id}`;
