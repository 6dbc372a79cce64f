/** Clients that attach nothing: after a moment they watch every session in scope, from their initialize on (B1). */
import type { SessionId } from "../../protocol/ids.ts";
import { isExtendedOnly, itemText } from "../journal/frames.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import type { MirrorSession } from "./session.ts";
import { JournalSource } from "./source.ts";

interface Position {
  readonly epoch: string;
  readonly seq: number;
}

interface Watch {
  readonly isOn: boolean;
  /** Where each session stood when the client initialized. */
  readonly from: ReadonlyMap<SessionId, Position>;
}

export class Watchers<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #watching = new Map<Connection<Encoded>, Watch>();
  readonly #onLost: (connection: Connection<Encoded>, session: MirrorSession<Encoded>) => void;

  constructor(
    context: MirrorContext<Encoded>,
    onLost: (connection: Connection<Encoded>, session: MirrorSession<Encoded>) => void,
  ) {
    this.#context = context;
    this.#onLost = onLost;
  }

  /** A client initialized: it watches everything unless it attaches something soon. */
  onInitialized(connection: Connection<Encoded>): void {
    const { wantsAll } = connection.abilities;
    if (!this.#watching.has(connection) && (wantsAll || !connection.hasAttached)) {
      const from = new Map(
        [...this.#context.sessions.values()].map(({ id, epoch, journal }) => [id, { epoch, seq: journal.tail }]),
      );
      this.#watching.set(connection, { isOn: false, from });
    }
    if (wantsAll) this.#watchAll(connection);
    else if (this.#watching.get(connection)?.isOn === false)
      this.#context.ports.startTimer(watchTimer(connection), this.#context.options.watchAfterMs);
  }

  /** A session appeared: watchers read it from the end of its baseline. */
  onSession(session: MirrorSession<Encoded>): void {
    for (const [connection, watch] of this.#watching) {
      if (watch.isOn) session.whenReady((ready) => ready !== undefined && this.#watch(connection, ready));
    }
  }

  /** Who attaches gets what it attached; only `updates:"all"` keeps the rest. `keep` is the session it attaches. */
  onAttached(connection: Connection<Encoded>, keep?: MirrorSession<Encoded>): void {
    connection.hasAttached = true;
    const watch = this.#watching.get(connection);
    if (watch === undefined || connection.abilities.wantsAll) return;
    this.onGone(connection);
    for (const other of this.#context.sessions.values()) {
      if (other === keep || other.attached.has(connection)) continue;
      if (watch.isOn) connection.outbox.unsubscribe(other.feed);
      else if (connection.abilities.isExtended) this.#tellNotices(connection, other, this.#startOf(watch, other));
    }
  }

  /** It has not said yet whether it watches: nothing of sessions it does not read goes to it. */
  isUndecided(connection: Connection<Encoded>): boolean {
    return this.#watching.get(connection)?.isOn === false;
  }

  /** True when it watches, so that a detached session is still read. */
  watches(connection: Connection<Encoded>): boolean {
    return this.#watching.get(connection)?.isOn === true;
  }

  onGone(connection: Connection<Encoded>): void {
    this.#context.ports.cancelTimer(watchTimer(connection));
    this.#watching.delete(connection);
  }

  /** Gives the connection that turned out to watch. */
  onTimer(name: string): Connection<Encoded> | undefined {
    const connection = [...this.#watching.keys()].find((each) => name === watchTimer(each));
    if (connection !== undefined) this.#watchAll(connection);
    return connection;
  }

  /** Notices go to all in scope: those that came while it was undecided are told now. */
  #tellNotices(connection: Connection<Encoded>, session: MirrorSession<Encoded>, after: number): void {
    const found = session.journal.itemsAfter(after);
    if (!found.ok) return;
    for (const item of found.items) if (isExtendedOnly(item)) connection.outbox.send(itemText(item, session.epoch));
  }

  #startOf(watch: Watch, session: MirrorSession<Encoded>): number {
    const from = watch.from.get(session.id);
    return Math.max(from?.epoch === session.epoch ? from.seq : 0, session.baselineTail);
  }

  #watchAll(connection: Connection<Encoded>): void {
    const watch = this.#watching.get(connection);
    if (watch === undefined || watch.isOn || connection.isGone) return;
    // It attached a session at another instance meanwhile.
    if (connection.hasAttached && !connection.abilities.wantsAll) return this.onGone(connection);
    this.#context.ports.cancelTimer(watchTimer(connection));
    this.#watching.set(connection, { ...watch, isOn: true });
    for (const session of this.#context.sessions.values())
      session.whenReady((ready) => ready !== undefined && this.#watch(connection, ready));
  }

  /** Everything since its initialize, out of the journal, then live. */
  #watch(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    const watch = this.#watching.get(connection);
    if (watch === undefined || connection.isGone || connection.outbox.isSubscribed(session.feed)) return;
    const seen = this.#startOf(watch, session);
    const source = new JournalSource(session, connection, {
      replayUpTo: 0,
      isWholeReplay: false,
      exactUpTo: session.journal.tail,
      onLost: () => this.#onLost(connection, session),
    });
    connection.seenAfter.set(session, seen);
    connection.outbox.subscribe(session.feed, source, seen);
  }
}

const watchTimer = <E>(connection: Connection<E>): string => `watch:${connection.id}`;
