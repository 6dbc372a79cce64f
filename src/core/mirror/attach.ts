/**
 * Who reads which session (B1, B2, S1, S3, S5): attaching by new, load, resume and prompt, and leaving.
 *
 * T-a Attaching is one synchronous step: the replay, the response and the live events after it are one order (B2, B6).
 * T-b A cursor is served exactly, or the answer says why not and a full replay follows (S3).
 */
import { CLOSE } from "../../protocol/close-codes.ts";
import { notification } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { objectAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { HUB_META } from "../../protocol/meta.ts";
import { updateFor } from "../audience.ts";
import { itemTextFor } from "../journal/frames.ts";
import type { Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import type { Copies } from "./copies.ts";
import { dialectResult, noteDialect, tellRunning } from "./dialect.ts";
import { type HistoryPlan, planHistory } from "./history-plan.ts";
import { hasOlder, olderItems } from "./live-pages.ts";
import { Reasks } from "./reasks.ts";
import type { MirrorSession } from "./session.ts";
import { JournalSource } from "./source.ts";
import { stateText } from "./state-text.ts";
import { Watchers } from "./watchers.ts";

type DetachReason = "instance-gone" | "closed" | "superseded";

export class Attachments<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #copies: Copies<Encoded>;
  readonly #watchers: Watchers<Encoded>;
  readonly #reasks: Reasks<Encoded>;
  readonly #onScope: () => void;

  /** `onScope`: a hub-wide connection counts here now, or no longer (I3). */
  constructor(context: MirrorContext<Encoded>, copies: Copies<Encoded>, onScope: () => void) {
    this.#context = context;
    this.#copies = copies;
    this.#onScope = onScope;
    this.#watchers = new Watchers(context, (connection, session) => this.#onLost(connection, session));
    this.#reasks = new Reasks(context, copies);
  }

  /** It attached a session at another instance: here it no longer watches (B1). */
  stopWatching(connection: Connection<Encoded>): void {
    this.#watchers.onAttached(connection);
  }

  /** It may still turn out to watch everything. */
  isUndecided(connection: Connection<Encoded>): boolean {
    return this.#watchers.isUndecided(connection);
  }

  onInitialized(connection: Connection<Encoded>): void {
    this.#watchers.onInitialized(connection);
  }

  onSession(session: MirrorSession<Encoded>): void {
    this.#watchers.onSession(session);
  }

  /**
   * Attaches and gives the history asked for, then calls `onResult` for the response in its place, then live events (B2).
   * `onResult` gets no session when it is gone before its copy was whole.
   */
  load(
    connection: Connection<Encoded>,
    session: MirrorSession<Encoded>,
    params: JsonObject,
    isResume: boolean,
    onResult: (found: { session: MirrorSession<Encoded>; result: JsonObject } | undefined) => void,
  ): void {
    session.whenReady((ready) => {
      if (connection.isGone) return;
      if (ready === undefined) return onResult(undefined);
      const isNewToDialect = noteDialect(connection, params);
      const plan = planHistory(ready, params, isResume, hasOlder(this.#context, ready));
      this.#markAttached(connection, ready);
      connection.seenAfter.set(ready, plan.knownAfter);
      const { tail } = ready.journal;
      const isWholeReplay = plan.after === 0 && plan.tailItems === undefined;
      connection.outbox.subscribe(ready.feed, this.#source(connection, ready, tail, isWholeReplay), plan.after);
      for (const item of plan.tailItems ?? []) {
        const text = itemTextFor(connection.abilities.audiences, item, ready.epoch, { replay: true });
        if (text !== undefined) connection.outbox.send(text, ready.feed);
      }
      onResult({ session: ready, result: this.#result(connection, ready, plan) });
      const isPart = plan.after === tail ? tail > 0 : plan.after === 0 && !ready.journal.isWhole;
      if (isPart) this.#sendStates(connection, ready, plan);
      if (isNewToDialect) tellRunning(connection, this.#context.sessions.values(), ready);
      return this.#reasks.after(connection, ready);
    });
  }

  /** Attaches without any history: by new (everything is ahead) or prompt. */
  attach(connection: Connection<Encoded>, session: MirrorSession<Encoded>, after: number): void {
    if (session.attached.has(connection)) return;
    const wasUndecided = this.isUndecided(connection);
    this.#markAttached(connection, session);
    if (!connection.outbox.isSubscribed(session.feed)) {
      connection.seenAfter.set(session, after);
      connection.outbox.subscribe(session.feed, this.#source(connection, session, 0, false), after);
    }
    if (wasUndecided) this.#copies.offerAll(connection);
  }

  detach(connection: Connection<Encoded>, session: MirrorSession<Encoded>): boolean {
    connection.draftClients.delete(session);
    if (!session.attached.delete(connection)) return false;
    if (!this.#watchers.watches(connection)) connection.outbox.unsubscribe(session.feed);
    this.#reportAttached(session);
    if (connection.isHubWide) this.#onScope();
    return true;
  }

  /** It attaches the same session on another instance: of two copies under one id it reads the one it asked for last (S9). */
  supersede(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    if (!session.attached.has(connection)) return;
    if (!this.#watchers.watches(connection)) this.#tellDetached(connection, session, "superseded");
    this.detach(connection, session);
  }

  onGone(connection: Connection<Encoded>): void {
    this.#watchers.onGone(connection);
    this.#reasks.onGone(connection);
    for (const session of this.#context.sessions.values()) {
      connection.outbox.unsubscribe(session.feed);
      if (session.attached.delete(connection)) this.#reportAttached(session);
    }
  }

  /**
   * The copy is begun anew. In a new epoch its readers go on with that, and are told (S1). In the same one they may have missed
   * something that cannot be told apart any more: they have to load, in the way they understand (B5).
   */
  moveReaders(old: MirrorSession<Encoded>, session: MirrorSession<Encoded>, reason: string): void {
    const isLoss = old.epoch === session.epoch;
    for (const connection of this.#context.connections) {
      const wasAttached = old.attached.has(connection);
      connection.outbox.unsubscribe(old.feed);
      if (!wasAttached) continue;
      if (isLoss && !connection.abilities.isExtended) {
        this.#context.ports.close(connection.id, CLOSE.slow);
        continue;
      }
      session.whenReady((ready) => {
        if (connection.isGone || ready === undefined) return;
        if (connection.abilities.isExtended) this.#tellReset(connection, ready, reason);
        this.attach(connection, ready, ready.journal.tail);
      });
    }
    old.attached.clear();
    session.succeed(old);
  }

  /** The session ended: its readers are told, and what waited for it is answered. */
  dropReaders(session: MirrorSession<Encoded>, reason: "instance-gone" | "closed"): void {
    session.abandon();
    for (const connection of this.#context.connections) {
      const isReader = session.attached.delete(connection) || connection.outbox.isSubscribed(session.feed);
      connection.draftClients.delete(session);
      if (!isReader) continue;
      this.#tellDetached(connection, session, reason);
      connection.outbox.unsubscribe(session.feed);
    }
    this.#onScope();
  }

  /** It watches, or attached a session here. */
  reads(connection: Connection<Encoded>): boolean {
    return this.#watchers.watches(connection) || this.hasAttached(connection);
  }

  hasAttached(connection: Connection<Encoded>): boolean {
    for (const session of this.#context.sessions.values()) if (session.attached.has(connection)) return true;
    return false;
  }

  reportAll(): void {
    for (const session of this.#context.sessions.values()) this.#reportAttached(session);
  }

  /** A timer named `watch:<connection>` or `ask:<connection>`. */
  onTimer(name: string): void {
    const watcher = this.#watchers.onTimer(name);
    if (watcher !== undefined && !watcher.isGone) this.#copies.offerAll(watcher);
    this.#reasks.onTimer(name);
  }

  #markAttached(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    this.#watchers.onAttached(connection, session);
    connection.onAttached?.(session.id, this.#context.options.instanceId);
    if (session.attached.has(connection)) return;
    session.attached.add(connection);
    this.#reportAttached(session);
    if (connection.isHubWide) this.#onScope();
  }

  #source(
    connection: Connection<Encoded>,
    session: MirrorSession<Encoded>,
    replayUpTo: number,
    isWholeReplay: boolean,
  ): JournalSource<Encoded> {
    const onLost = (): void => this.#onLost(connection, session);
    return new JournalSource(session, connection, { replayUpTo, isWholeReplay, exactUpTo: 0, onLost });
  }

  /** The journal shrank past a lagging reader: it has to load anew, and is told so in the way it understands. */
  #onLost(connection: Connection<Encoded>, session: MirrorSession<Encoded>): void {
    if (connection.abilities.isExtended) this.#tellReset(connection, session, "journal-trimmed");
    else this.#context.ports.close(connection.id, CLOSE.slow);
  }

  #tellDetached(connection: Connection<Encoded>, session: MirrorSession<Encoded>, reason: DetachReason): void {
    if (!connection.abilities.isExtended) return;
    const detached = { sessionId: session.id, instance: this.#context.options.instanceId, reason };
    connection.outbox.send(JSON.stringify(notification(HUB.detached, detached)), session.feed);
  }

  #tellReset(connection: Connection<Encoded>, session: MirrorSession<Encoded>, reason: string): void {
    const reset = { sessionId: session.id, epoch: session.epoch, reason };
    connection.outbox.send(JSON.stringify(notification(HUB.reset, reset)));
  }

  /** S5: who gets no history, or what is left of it, still knows the commands, the plan, the usage. Behind the response. */
  #sendStates(connection: Connection<Encoded>, session: MirrorSession<Encoded>, plan: HistoryPlan): void {
    const items = plan.tailItems ?? (plan.after === 0 ? session.journal.everything() : []);
    const given = new Set(items.map((item) => objectAt(item.params, "update")?.["sessionUpdate"]));
    for (const [kind, update] of session.lastStates) {
      const shown = given.has(kind) ? undefined : updateFor(connection.abilities.audiences, update);
      if (shown !== undefined) connection.outbox.send(stateText(session.id, shown), session.feed);
    }
  }

  #result(connection: Connection<Encoded>, session: MirrorSession<Encoded>, plan: HistoryPlan): JsonObject {
    const { turn, queue, promptId, turnBy } = session.info;
    const ours: JsonObject = {
      verdict: plan.verdict,
      ...(plan.reason !== undefined && { reason: plan.reason }),
      cursor: { epoch: session.epoch, seq: session.journal.tail },
      turn: {
        state: turn,
        queue: queue.map((entry) => ({ ...entry, by: { ...entry.by } })),
        ...(promptId !== undefined && { promptId }),
        ...(turnBy !== undefined && { by: { ...turnBy } }),
      },
      openInteractions: this.#copies.openCount(session),
      // Where the next page ends: what comes after the response is known.
      ...(plan.hasMore && { hasMore: true, before: plan.knownAfter + 1 }),
    };
    const state = session.state.result;
    const meta = objectAt(state, "_meta") ?? {};
    const result = { ...state, _meta: { ...meta, [HUB_META]: ours } };
    if (!connection.speaksDialect) return result;
    return dialectResult(session, plan, olderItems(this.#context, session), result);
  }

  #reportAttached(session: MirrorSession<Encoded>): void {
    this.#context.notifyLink(LINK.attached, { sessionId: session.id, count: session.attached.size });
    this.#context.markPresence(session);
  }
}
