/**
 * Closed sessions, read from disk (S1 d): loading one gives its record, read-only; there is no agent behind it.
 */

import { type FrameMarks, itemTextFor } from "../core/journal/frames.ts";
import { type HistoryItem, lastOf, pageBefore, type StartOf } from "../core/journal/history-page.ts";
import type { ClientRequest, Connection } from "../core/mirror/connection.ts";
import {
  cursorExpired,
  isShown,
  LOAD_EARLIER,
  lastMessages,
  noteDialect,
  readPosition,
  replayMeta,
  totalled,
} from "../core/mirror/dialect.ts";
import { pageLimit } from "../core/mirror/page-limit.ts";
import type { MirrorHistory } from "../core/mirror/ports.ts";
import { invalidParams } from "../protocol/errors.ts";
import { HUB, type LoadVerdict } from "../protocol/hub-methods.ts";
import { type Cursor, sessionId } from "../protocol/ids.ts";
import { type Json, type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META, hubMeta, readCursor } from "../protocol/meta.ts";
import type { SessionRecord, Store } from "../store/ports.ts";
import { epochsUpTo, itemsAfter, itemsInTurns } from "./record-items.ts";

/** A cursor that cannot be served exactly. */
interface Refusal {
  readonly verdict: LoadVerdict;
  readonly reason: string;
}

export class History implements MirrorHistory<Buffer> {
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  holds(id: string): boolean {
    return this.#store.sessions.findById(sessionId(id)).length > 0;
  }

  /** The record of this id used last; undefined when there is none. */
  find(id: string): SessionRecord | undefined {
    return this.#store.sessions.findById(sessionId(id))[0];
  }

  /** Everything kept of a session, epoch after epoch, coalesced; with the loop free in between. */
  itemsInTurns(record: SessionRecord): Promise<HistoryItem[]> {
    return itemsInTurns(this.#store, record);
  }

  serve(connection: Connection<Buffer>, request: ClientRequest): boolean {
    const id = stringAt(request.params, "sessionId");
    const record = id === undefined ? undefined : this.find(id);
    if (record === undefined) return false;
    if (request.method === HUB.loadEarlier) this.#page(connection, request, record);
    else if (request.method === LOAD_EARLIER) this.#dialectPage(connection, request, record);
    else this.#load(connection, request, record);
    return true;
  }

  #page(connection: Connection<Buffer>, request: ClientRequest, record: SessionRecord): void {
    const before = numberAt(request.params, "before");
    if (before === undefined)
      return connection.answer(request.id, { error: invalidParams("before", "must be a number") });
    const all = this.#latest(record);
    const page = pageBefore(all, { epoch: newestOf(all), before }, lastOf(pageLimit(request.params)));
    this.#send(connection, page.items, { replay: true, page: true });
    return connection.answer(request.id, { result: { hasMore: page.hasMore, before: page.before } });
  }

  /** The predecessor's page: its cursor can expire. */
  #dialectPage(connection: Connection<Buffer>, request: ClientRequest, record: SessionRecord): void {
    const shown = this.#latest(record).filter(({ item }) => isShown(item));
    const position = readPosition(request.params["before"]);
    if (position === undefined || position.epoch !== newestOf(shown))
      return connection.answer(request.id, { error: cursorExpired });
    const page = pageBefore(shown, position, lastMessages(pageLimit(request.params)));
    this.#send(connection, page.items, { replay: true, page: true });
    return connection.answer(request.id, { result: { replayMeta: replayMeta(position.epoch, page, false) } });
  }

  #send(connection: Connection<Buffer>, items: readonly HistoryItem[], marks: FrameMarks): void {
    for (const { epoch, item } of items) {
      const text = itemTextFor(connection.abilities.audiences, item, epoch, marks);
      if (text !== undefined) connection.outbox.send(text);
    }
  }

  #load(connection: Connection<Buffer>, request: ClientRequest, record: SessionRecord): void {
    const ours = hubMeta(request.params);
    const wanted = this.#readCursor(record, ours?.["cursor"]);
    if (wanted !== undefined && !("verdict" in wanted)) {
      const missed = itemsAfter(this.#store, record, wanted.epoch, wanted.seq);
      this.#send(connection, missed, { replay: true });
      const last = missed.at(-1);
      const cursor = { epoch: wanted.epoch, seq: last?.item.last ?? wanted.seq };
      return connection.answer(request.id, { result: result(record, { verdict: "ok", cursor }) });
    }
    const isQuiet = request.method === "session/resume" || (stringAt(ours, "history") ?? "full") !== "full";
    noteDialect(connection, request.params);
    const all = (isQuiet ? [] : this.#latest(record)).filter(({ item }) => !connection.speaksDialect || isShown(item));
    const last = all.at(-1);
    const end = { epoch: newestOf(all), before: (last?.item.last ?? 0) + 1 };
    const page = pageBefore(all, end, startOf(request.params));
    this.#send(connection, page.items, { replay: true });
    const loaded = result(record, {
      ...(wanted ?? { verdict: "ok" }),
      ...(last !== undefined && { cursor: { epoch: last.epoch, seq: last.item.last } }),
      ...(page.hasMore && { hasMore: true, before: page.before }),
    });
    const meta = connection.speaksDialect && { replayMeta: totalled(replayMeta(end.epoch, page, false), page) };
    connection.answer(request.id, { result: { ...loaded, ...meta } });
  }

  /** S3: the position a client has, when exactly what follows it can be given; else why everything is. */
  #readCursor(record: SessionRecord, value: Json | undefined): Cursor | Refusal | undefined {
    if (value === undefined) return undefined;
    const cursor = readCursor(value);
    if (cursor === undefined) return { verdict: "reset", reason: "malformed-cursor" };
    if (cursor.epoch !== record.epochs.at(-1)) return { verdict: "reset", reason: "epoch-changed" };
    const kept = this.#store.journal.epoch(record.key, cursor.epoch);
    if (kept === undefined || cursor.seq > kept.tail) return { verdict: "gap", reason: "ahead" };
    if (cursor.seq >= kept.exactAfter) return cursor;
    return { verdict: "gap", reason: kept.isWhole ? "coalesced" : "trimmed" };
  }

  /** The newest epoch, and those before it that go on in it. */
  #latest(record: SessionRecord): HistoryItem[] {
    const newest = record.epochs.at(-1);
    if (newest === undefined) return [];
    return epochsUpTo(this.#store, record, newest).flatMap((epoch) => itemsAfter(this.#store, record, epoch, 0));
  }
}

const newestOf = (all: readonly HistoryItem[]): string => all.at(-1)?.epoch ?? "";

/** How much of the history a load asks for: all, our clients' last items, or the predecessor's last messages. */
function startOf(params: JsonObject): StartOf {
  const ours = numberAt(hubMeta(params), "limit");
  const theirs = numberAt(objectAt(objectAt(params, "_meta"), "zcode"), "limit");
  if (ours !== undefined) return lastOf(ours);
  return theirs === undefined ? () => 0 : lastMessages(theirs);
}

function result(record: SessionRecord, given: JsonObject): JsonObject {
  const state = objectAt(record.extra, "state") ?? {};
  const ours: JsonObject = { readOnly: true, turn: { state: "idle", queue: [] }, openInteractions: 0, ...given };
  return { ...state, _meta: { ...objectAt(state, "_meta"), [HUB_META]: ours } };
}
