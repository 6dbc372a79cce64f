/** What the store keeps of a session, as the core's items: epoch after epoch, coalesced (S1, S4). */
import { setImmediate } from "node:timers/promises";
import { coalesce } from "../core/journal/coalesce.ts";
import { type HistoryItem, inEpoch } from "../core/journal/history-page.ts";
import { itemAfter, type JournalItem } from "../core/journal/item.ts";
import type { Epoch } from "../protocol/ids.ts";
import { arrayAt } from "../protocol/json.ts";
import { fromStored } from "../store/core-items.ts";
import type { SessionRecord, Store } from "../store/ports.ts";

const PAGE_BYTES = 4_194_304;
/** What is read before others have their turn. */
const TURN_BYTES = 524_288;

/** What is kept of one epoch after event `seq`. */
export function itemsAfter({ journal }: Store, { key }: SessionRecord, epoch: Epoch, seq: number): HistoryItem[] {
  const items: JournalItem[] = [];
  let after = seq;
  for (;;) {
    const page = journal.read(key, epoch, { after, limitBytes: PAGE_BYTES });
    items.push(...page.items.map((item) => itemAfter(fromStored(item), seq)));
    const last = page.items.at(-1);
    if (!page.hasMore || last === undefined) break;
    after = last.last;
  }
  return inEpoch(epoch, coalesce(items));
}

/** The same of all epochs, with the loop free between pages: a session may hold as much as `limits.journalBytes`. */
export async function itemsInTurns({ journal }: Store, { key, epochs }: SessionRecord): Promise<HistoryItem[]> {
  const items: HistoryItem[] = [];
  for (const epoch of epochs) {
    const stored: JournalItem[] = [];
    for (let after = 0, hasMore = true; hasMore; ) {
      const page = journal.read(key, epoch, { after, limitBytes: TURN_BYTES });
      for (const item of page.items) stored.push(fromStored(item));
      after = page.items.at(-1)?.last ?? after;
      hasMore = page.hasMore && page.items.length > 0;
      await setImmediate();
    }
    for (const item of inEpoch(epoch, coalesce(stored))) items.push(item);
    await setImmediate();
  }
  return items;
}

/** The epochs that began without a replay: those before them go on in them. */
export const continuedIn = (record: SessionRecord | undefined): readonly string[] =>
  (arrayAt(record?.extra, "continued") ?? []).filter((name) => typeof name === "string");

/** The epochs that are one history with `newest`, oldest first: one that began with a replay, and is whole, stands for all before it. */
export function epochsUpTo({ journal }: Store, record: SessionRecord, newest: Epoch): readonly Epoch[] {
  const { key, epochs } = record;
  const continued = new Set(continuedIn(record));
  const end = epochs.indexOf(newest);
  const goesBack = (epoch: Epoch | undefined): boolean =>
    epoch !== undefined && (continued.has(epoch) || journal.epoch(key, epoch)?.isWhole !== true);
  let start = end;
  while (start > 0 && goesBack(epochs[start])) start -= 1;
  return epochs.slice(Math.max(0, start), end + 1);
}
