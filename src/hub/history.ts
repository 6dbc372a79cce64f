/**
 * Closed sessions, read from disk (S1 d): loading one gives its record, read-only; there is no agent behind it.
 */

import { coalesce } from "../core/journal/coalesce.ts";
import { isExtendedOnly, itemText } from "../core/journal/frames.ts";
import type { JournalItem } from "../core/journal/item.ts";
import type { ClientRequest, Connection } from "../core/mirror/connection.ts";
import type { MirrorHistory } from "../core/mirror/ports.ts";
import { type Epoch, sessionId } from "../protocol/ids.ts";
import { type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META, hubMeta } from "../protocol/meta.ts";
import { fromStored } from "../store/core-items.ts";
import type { SessionRecord, Store } from "../store/ports.ts";

const PAGE_BYTES = 4_194_304;

export interface HistoryItem {
  readonly epoch: Epoch;
  readonly item: JournalItem;
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
    return record.epochs.flatMap((epoch) => {
      const items: JournalItem[] = [];
      let after = 0;
      for (;;) {
        const page = this.#store.journal.read(record.key, epoch, { after, limitBytes: PAGE_BYTES });
        items.push(...page.items.map(fromStored));
        const last = page.items.at(-1);
        if (!page.hasMore || last === undefined) break;
        after = last.last;
      }
      return coalesce(items).map((item) => ({ epoch, item }));
    });
  }

  serve(connection: Connection<Buffer>, request: ClientRequest): boolean {
    const id = stringAt(request.params, "sessionId");
    const record = id === undefined ? undefined : this.find(id);
    if (record === undefined) return false;
    const ours = hubMeta(request.params);
    const isQuiet = request.method === "session/resume" || (stringAt(ours, "history") ?? "full") !== "full";
    const all = isQuiet ? [] : this.#latest(record);
    const limit = numberAt(ours, "limit") ?? numberAt(objectAt(objectAt(request.params, "_meta"), "zcode"), "limit");
    const shown = limit === undefined ? all : all.slice(-Math.max(0, limit));
    for (const { epoch, item } of shown) {
      if (isExtendedOnly(item) && !connection.abilities.isExtended) continue;
      connection.outbox.send(itemText(item, epoch, { replay: true }));
    }
    connection.answer(request.id, { result: result(record, shown.at(-1), shown.length < all.length) });
    return true;
  }

  /** The newest epoch: it holds the whole session when it began with a load. */
  #latest(record: SessionRecord): HistoryItem[] {
    const newest = record.epochs.at(-1);
    const isWhole = newest !== undefined && this.#store.journal.epoch(record.key, newest)?.isWhole === true;
    return isWhole ? this.items({ ...record, epochs: [newest] }) : this.items(record);
  }
}

function result(record: SessionRecord, last: HistoryItem | undefined, hasMore: boolean): JsonObject {
  const state = objectAt(record.extra, "state") ?? {};
  const ours: JsonObject = {
    verdict: "ok",
    readOnly: true,
    turn: { state: "idle", queue: [] },
    openInteractions: 0,
    ...(last !== undefined && { cursor: { epoch: last.epoch, seq: last.item.last } }),
    ...(hasMore && { hasMore: true }),
  };
  return { ...state, _meta: { ...objectAt(state, "_meta"), [HUB_META]: ours } };
}
