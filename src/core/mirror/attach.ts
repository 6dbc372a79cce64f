/**
 * Who reads which session (B1, B2, S1, S3, S5, X6): attaching by new, load, resume and prompt, and watching everything.
 *
 * T-a Attaching is one synchronous step: the replay, the response and the live events after it are one order (B2, B6).
 * T-b A cursor is served exactly, or the answer says why not and a full replay follows (S3).
 */
import { CLOSE } from "../../protocol/close-codes.ts";
import { notification } from "../../protocol/envelope.ts";
import { HUB, type LoadVerdict } from "../../protocol/hub-methods.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { HUB_META, hubMeta, readCursor } from "../../protocol/meta.ts";
import { isExtendedOnly, itemText } from "../journal/frames.ts";
import type { JournalItem } from "../journal/item.ts";
import type { ClientRequest, Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import type { Copies } from "./copies.ts";
import type { MirrorSession } from "./session.ts";
import { JournalSource } from "./source.ts";

/** What of the history a load gives. */
interface HistoryPlan {
  /** Events after this one are sent. */
  readonly after: number;
  readonly verdict: LoadVerdict;
  readonly reason?: string;
  /** Only the last ones of the history: they are given one by one instead. */
  readonly tailItems?: readonly JournalItem[];
  readonly hasMore: boolean;
}

type Watch = { readonly mode: "pending" | "all"; readonly from: Map<SessionId, number> };

export class Attachments<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #copies: Copies<Encoded>;
  /** Connections that attached nothing yet, and those that watch everything (B1). */
  readonly #watching = new Map<Connection<Encoded>, Watch>();

  constructor(context: MirrorContext<Encoded>, copies: Copies<Encoded>) {
    this.#context = context;
    this.#copies = copies;
  }

  /** A client initialized: it watches everything unless it attaches something soon. */
  onInitialized(connection: Connection<Encoded>): void {
    if (this.#watching.has(connection)) return;
    const from = new Map([...this.#context.sessions.values()].map((session) => [session.id, session.journal.tail]));
    this.#watching.set(connection, { mode: "pending", from });
    if (connection.abilities.wantsAll) this.watchAll(connection);
    else this.#context.ports.startTimer(watchTimer(connection), this.#context.options.watchAfterMs);
  }

  /** The time is over: everything since its initialize, out of the journal, then live. */
  watchAll(connection: Connection<Encoded>): void {
    if (connection.hasAttached && !connection.abilities.wantsAll) return this.stopWatching(connection);
    const watch = this.#watching.get(connection);
    if (watch === undefined || watch.mode !== "pending" || connection.isGone) return;
    this.#watching.set(connection, { mode: "all", from: watch.from });
    for (const session of this.#context.sessions.values()) this.#watchSession(connection, session, watch.from);
  }

  /** It attached a session, here or at another instance: from now on it gets those only (B1). */
  stopWatching(connection: Connection<Encoded>): void {
    if (!this.#watching.delete(connection)) return;
    this.#context.ports.cancelTimer(watchTimer(connection));
    for (const session of this.#context.sessions.values()) {
      if (!session.attached.has(connection)) connection.outbox.unsubscribe(session.feed);
    }
  }

  /** A session appeared: watchers read it from the end of its baseline. */
  onSession(session: MirrorSession<Encoded>): void {
    for (const [connection, watch] of this.#watching) {
      if (watch.mode === "all") session.whenReady(() => this.#watchSession(connection, session, watch.from));
    }
  }

  /**
   * Attaches and gives the history asked for, the response in its place, then live events (B2). `ignored`: what of the request
   * did not go on to the agent (contract §2).
   */
  load(
    connection: Connection<Encoded>,
    session: MirrorSession<Encoded>,
    request: ClientRequest,
    isResume: boolean,
    ignored: readonly string[] = [],
  ): void {
    session.whenReady(() => {
      if (connection.isGone) return;
      const plan = this.#plan(session, request.params, isResume);
      const { tail } = session.journal;
      this.#subscribe(connection, session, plan.after, tail, plan.after === 0 && plan.tailItems === undefined);
      for (const item of plan.tailItems ?? []) {
        if (isExtendedOnly(item) && !connection.abilities.isExtended) continue;
        connection.outbox.send(itemText(item, session.epoch, { replay: true }), session.feed);
      }
      connection.answer(request.id, { result: this.#result(session, plan, ignored) }, session.feed);
      this.#askAgain(connection, session);
    });
  }

  /** Attaches without any history: by new (everything is ahead) or prompt. */
  attach(connection: Connection<Encoded>, session: MirrorSession<Encoded>, after: number): void {
    if (session.attached.has(connection)) return;
    if (connection.outbox.isSubscribed(session.feed)) this.#markAttached(connection, session);
    else this.#subscribe(connection, session, after, 0, false);
  }

  detach(connection: Connection<Encoded>, session: MirrorSession<Encoded>): boolean {
    if (!session.attached.delete(connection)) return false;
    connection.outbox.unsubscribe(session.feed);
    this.#reportAttached(session);
    return true;
  }

  onGone(connection: Connection<Encoded>): void {
    this.#context.ports.cancelTimer(watchTimer(connection));
    this.#context.ports.cancelTimer(askTimer(connection));
    this.#watching.delete(connection);
    for (const session of this.#context.sessions.values()) {
      if (session.attached.delete(connection)) this.#reportAttached(session);
    }
  }

  /** The session begins a new epoch: who read the old one goes on with the new, and is told (S1). */
  moveReaders(old: MirrorSession<Encoded>, session: MirrorSession<Encoded>, reason: string): void {
    for (const connection of old.attached) {
      connection.outbox.unsubscribe(old.feed);
      session.whenReady(() => {
        if (connection.isGone) return;
        if (connection.abilities.isExtended) {
          const reset = { sessionId: session.id, epoch: session.epoch, reason };
          connection.outbox.send(JSON.stringify(notification(HUB.reset, reset)));
        }
        this.#subscribe(connection, session, session.journal.tail, 0, false);
      });
    }
    old.attached.clear();
  }

  /** The session ended: its readers are told. */
  dropReaders(session: MirrorSession<Encoded>, reason: "instance-gone" | "closed" | "superseded"): void {
    for (const connection of this.#context.connections) {
      const isReader = session.attached.delete(connection) || connection.outbox.isSubscribed(session.feed);
      if (!isReader) continue;
      if (connection.abilities.isExtended) {
        const detached = { sessionId: session.id, instance: this.#context.options.instanceId, reason };
        connection.outbox.send(JSON.stringify(notification(HUB.detached, detached)), session.feed);
      }
      connection.outbox.unsubscribe(session.feed);
    }
  }

  reportAll(): void {
    for (const session of this.#context.sessions.values()) this.#reportAttached(session);
  }

  /** X6: at once for clients that know us, a little later for others, so that the history renders first. */
  #askAgain(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    if (connection.abilities.isExtended) return this.#copies.askAgain(connection, session);
    const due = this.#askDue.get(connection) ?? new Set();
    due.add(session.id);
    this.#askDue.set(connection, due);
    return this.#context.ports.startTimer(askTimer(connection), this.#context.options.askAfterLoadMs);
  }

  readonly #askDue = new Map<Connection<Encoded>, Set<SessionId>>();

  /** A timer named `watch:<connection>` or `ask:<connection>`. */
  onTimer(name: string): void {
    for (const connection of this.#context.connections) {
      if (name === watchTimer(connection)) this.watchAll(connection);
      if (name !== askTimer(connection)) continue;
      const due = this.#askDue.get(connection) ?? new Set();
      this.#askDue.delete(connection);
      for (const id of due) {
        const session = this.#context.sessions.get(id);
        if (session !== undefined && !connection.isGone) this.#copies.askAgain(connection, session);
      }
    }
  }

  #watchSession(
    connection: Connection<Encoded>,
    session: MirrorSession<Encoded>,
    from: ReadonlyMap<SessionId, number>,
  ): void {
    if (connection.isGone || connection.outbox.isSubscribed(session.feed)) return;
    const after = Math.max(from.get(session.id) ?? 0, session.baselineTail);
    connection.outbox.subscribe(session.feed, this.#source(connection, session, 0, false), after);
  }

  #subscribe(
    connection: Connection<Encoded>,
    session: MirrorSession<Encoded>,
    after: number,
    replayUpTo: number,
    isWholeReplay: boolean,
  ): void {
    this.#markAttached(connection, session);
    connection.outbox.subscribe(session.feed, this.#source(connection, session, replayUpTo, isWholeReplay), after);
  }

  /** B1: who attaches gets what it attached; only `updates:"all"` keeps the rest. */
  #markAttached(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    connection.hasAttached = true;
    const watch = this.#watching.get(connection);
    if (watch !== undefined && !connection.abilities.wantsAll) {
      this.#watching.delete(connection);
      this.#context.ports.cancelTimer(watchTimer(connection));
      if (watch.mode === "all") {
        for (const other of this.#context.sessions.values()) {
          if (other !== session && !other.attached.has(connection)) connection.outbox.unsubscribe(other.feed);
        }
      }
    }
    session.attached.add(connection);
    this.#reportAttached(session);
  }

  #source(
    connection: Connection<Encoded>,
    session: MirrorSession<Encoded>,
    replayUpTo: number,
    isWholeReplay: boolean,
  ) {
    return new JournalSource(session, connection, {
      replayUpTo,
      isWholeReplay,
      onLost: () => this.#onLost(connection, session),
    });
  }

  /** The journal shrank past a lagging reader: it has to load anew, and is told so in the way it understands. */
  #onLost(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    if (connection.abilities.isExtended) {
      const reset = { sessionId: session.id, epoch: session.epoch, reason: "journal-trimmed" };
      connection.outbox.send(JSON.stringify(notification(HUB.reset, reset)));
    } else this.#context.ports.close(connection.id, CLOSE.slow);
  }

  #plan(session: MirrorSession<Encoded>, params: JsonObject, isResume: boolean): HistoryPlan {
    const ours = hubMeta(params);
    const { journal } = session;
    const wanted = ours?.["cursor"];
    if (wanted !== undefined) return planFromCursor(session, wanted);
    const history = stringAt(ours, "history") ?? (isResume ? "none" : "full");
    if (history !== "full") return { after: journal.tail, verdict: "ok", hasMore: journal.tail > 0 };
    const limit = numberAt(ours, "limit") ?? numberAt(objectAt(objectAt(params, "_meta"), "zcode"), "limit");
    const whole: Pick<HistoryPlan, "verdict" | "reason"> = journal.isWhole
      ? { verdict: "ok" }
      : { verdict: "gap", reason: "trimmed" };
    if (limit === undefined) return { after: 0, ...whole, hasMore: false };
    const items = journal.replay();
    const tailItems = limit <= 0 ? [] : items.slice(-limit);
    return { after: journal.tail, ...whole, tailItems, hasMore: tailItems.length < items.length };
  }

  #result(session: MirrorSession<Encoded>, plan: HistoryPlan, ignored: readonly string[]): JsonObject {
    const { state, turn, queue, promptId, turnBy } = session.info;
    const ours: JsonObject = {
      verdict: plan.verdict,
      ...(plan.reason !== undefined && { reason: plan.reason }),
      cursor: { epoch: session.epoch, seq: session.journal.tail },
      turn: {
        state: turn,
        queue: queue as unknown as Json,
        ...(promptId !== undefined && { promptId }),
        ...(turnBy !== undefined && { by: { ...turnBy } }),
      },
      openInteractions: this.#copies.openCount(session),
      ...(plan.hasMore && { hasMore: true }),
      ...(ignored.length > 0 && { ignored: [...ignored] }),
    };
    const meta = objectAt(state, "_meta") ?? {};
    return { ...state, _meta: { ...meta, [HUB_META]: ours } };
  }

  #reportAttached(session: MirrorSession<Encoded>): void {
    this.#context.notifyLink(LINK.attached, { sessionId: session.id, count: session.attached.size });
  }
}

function planFromCursor<E>(session: MirrorSession<E>, wanted: Json): HistoryPlan {
  const cursor = readCursor(wanted);
  const { journal } = session;
  const fully = { after: 0, hasMore: false };
  if (cursor === undefined) return { ...fully, verdict: "reset", reason: "malformed-cursor" };
  if (cursor.epoch !== session.epoch) return { ...fully, verdict: "reset", reason: "epoch-changed" };
  const found = journal.itemsAfter(cursor.seq);
  if (found.ok) return { after: cursor.seq, verdict: "ok", hasMore: false };
  return { ...fully, verdict: "gap", reason: found.reason };
}

const watchTimer = <E>(connection: Connection<E>): string => `watch:${connection.id}`;
const askTimer = <E>(connection: Connection<E>): string => `ask:${connection.id}`;
