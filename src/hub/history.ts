/**
 * Closed sessions, read from disk (S1 d): loading one gives its record, read-only; there is no agent behind it.
 */

import { coalesce } from "../core/journal/coalesce.ts";
import { type FrameMarks, itemTextFor } from "../core/journal/frames.ts";
import { itemAfter, type JournalItem } from "../core/journal/item.ts";
import type { ClientRequest, Connection } from "../core/mirror/connection.ts";
import { pageLimit } from "../core/mirror/page-limit.ts";
import type { MirrorHistory } from "../core/mirror/ports.ts";
import { invalidParams } from "../protocol/errors.ts";
import { HUB, type LoadVerdict } from "../protocol/hub-methods.ts";
import { type Cursor, type Epoch, sessionId } from "../protocol/ids.ts";
import { type Json, type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META, hubMeta, readCursor } from "../protocol/meta.ts";
import { fromStored } from "../store/core-items.ts";
import type { SessionRecord, Store } from "../store/ports.ts";
import { type HistoryItem, pageBefore } from "./history-page.ts";

const PAGE_BYTES = 4_194_304;

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

  /** Everything kept of a session, epoch after epoch, coalesced. An epoch that began with a replay stands for those before it. */
  items(record: SessionRecord): HistoryItem[] {
    return record.epochs.flatMap((epoch) => this.#after(record, epoch, 0));
  }

  /** What is kept of one epoch after event `seq`, coalesced. */
  #after(record: SessionRecord, epoch: Epoch, seq: number): HistoryItem[] {
    const items: JournalItem[] = [];
    let after = seq;
    for (;;) {
      const page = this.#store.journal.read(record.key, epoch, { after, limitBytes: PAGE_BYTES });
      items.push(...page.items.map((item) => itemAfter(fromStored(item), seq)));
      const last = page.items.at(-1);
      if (!page.hasMore || last === undefined) break;
      after = last.last;
    }
    return coalesce(items).map((item) => ({ epoch, item }));
  }

  serve(connection: Connection<Buffer>, request: ClientRequest): boolean {
    const id = stringAt(request.params, "sessionId");
    const record = id === undefined ? undefined : this.find(id);
    if (record === undefined) return false;
    if (request.method === HUB.loadEarlier) this.#page(connection, request, record);
    else this.#load(connection, request, record);
    return true;
  }

  #page(connection: Connection<Buffer>, request: ClientRequest, record: SessionRecord): void {
    const before = numberAt(request.params, "before");
    if (before === undefined)
      return connection.answer(request.id, { error: invalidParams("before", "must be a number") });
    const page = pageBefore(this.#latest(record), before, pageLimit(request.params));
    this.#send(connection, page.items, { replay: true, page: true });
    return connection.answer(request.id, { result: { hasMore: page.hasMore, before: page.before } });
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
      const missed = this.#after(record, wanted.epoch, wanted.seq);
      this.#send(connection, missed, { replay: true });
      const last = missed.at(-1);
      const cursor = { epoch: wanted.epoch, seq: last?.item.last ?? wanted.seq };
      return connection.answer(request.id, { result: result(record, { verdict: "ok", cursor }) });
    }
    const isQuiet = request.method === "session/resume" || (stringAt(ours, "history") ?? "full") !== "full";
    const all = isQuiet ? [] : this.#latest(record);
    const limit = numberAt(ours, "limit") ?? numberAt(objectAt(objectAt(request.params, "_meta"), "zcode"), "limit");
    const last = all.at(-1);
    const page = pageBefore(all, (last?.item.last ?? 0) + 1, limit ?? all.length);
    this.#send(connection, page.items, { replay: true });
    connection.answer(request.id, {
      result: result(record, {
        ...(wanted ?? { verdict: "ok" }),
        ...(last !== undefined && { cursor: { epoch: last.epoch, seq: last.item.last } }),
        ...(page.hasMore && { hasMore: true, before: page.before }),
      }),
    });
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

  /** The newest epoch: it holds the whole session when it began with a load. */
  #latest(record: SessionRecord): HistoryItem[] {
    const newest = record.epochs.at(-1);
    const isWhole = newest !== undefined && this.#store.journal.epoch(record.key, newest)?.isWhole === true;
    return isWhole ? this.items({ ...record, epochs: [newest] }) : this.items(record);
  }
}

function result(record: SessionRecord, given: JsonObject): JsonObject {
  const state = objectAt(record.extra, "state") ?? {};
  const ours: JsonObject = { readOnly: true, turn: { state: "idle", queue: [] }, openInteractions: 0, ...given };
  return { ...state, _meta: { ...objectAt(state, "_meta"), [HUB_META]: ours } };
}
