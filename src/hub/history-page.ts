/**
 * Pages of a session that is only read (S1 d). Its record may span epochs, which number their events anew: a position is a number
 * of the newest epoch, or, at 0 and below, how many items of the older ones were given. Pure.
 */
import type { JournalItem } from "../core/journal/item.ts";
import type { Epoch } from "../protocol/ids.ts";

export interface HistoryItem {
  readonly epoch: Epoch;
  readonly item: JournalItem;
}

export interface HistoryPage {
  readonly items: readonly HistoryItem[];
  /** What the next page is before. */
  readonly before: number;
  readonly hasMore: boolean;
}

/** The last `limit` items before the position; `all` in order, epoch after epoch. */
export function pageBefore(all: readonly HistoryItem[], before: number, limit: number): HistoryPage {
  const newest = all.at(-1)?.epoch;
  const start = all.findIndex(({ epoch }) => epoch === newest);
  const older = all.filter(({ epoch, item }, index) =>
    epoch === newest ? item.first < before : index < start + Math.min(0, before),
  );
  const items = older.slice(Math.max(0, older.length - Math.max(0, limit)));
  const given = older.length - items.length;
  const [first] = items;
  if (first === undefined) return { items, before, hasMore: given > 0 };
  return { items, before: first.epoch === newest ? first.item.first : given - start, hasMore: given > 0 };
}
