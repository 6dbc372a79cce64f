/**
 * Pages of a history that may span epochs, which number their events anew (S1): a position is a number of the newest epoch, or, at
 * 0 and below, how many items of the older ones were given. Pure.
 */
import type { Epoch } from "../../protocol/ids.ts";
import type { JournalItem } from "./item.ts";

export interface HistoryItem {
  readonly epoch: Epoch;
  readonly item: JournalItem;
}

export interface Position {
  /** The newest epoch of the history. */
  readonly epoch: string;
  /** What the page ends before. */
  readonly before: number;
}

export interface HistoryPage {
  readonly items: readonly HistoryItem[];
  /** What the next page is before. */
  readonly before: number;
  readonly hasMore: boolean;
  /** The older ones, which are not on it. */
  readonly rest: readonly HistoryItem[];
}

/** Where among the items before the position a page begins. */
export type StartOf = (older: readonly JournalItem[]) => number;

/** A page has the last `limit` of them. */
export const lastOf =
  (limit: number): StartOf =>
  (older) =>
    Math.max(0, older.length - Math.max(0, limit));

export const inEpoch = (epoch: Epoch, items: readonly JournalItem[]): HistoryItem[] =>
  items.map((item) => ({ epoch, item }));

/** The page that ends before the position; `all` in order, epoch after epoch. */
export function pageBefore(
  all: readonly HistoryItem[],
  { epoch: newest, before }: Position,
  startOf: StartOf,
): HistoryPage {
  const at = all.findIndex(({ epoch }) => epoch === newest);
  const start = at < 0 ? all.length : at;
  const older = all.filter(({ epoch, item }, index) =>
    epoch === newest ? item.first < before : index < start + Math.min(0, before),
  );
  const given = startOf(older.map(({ item }) => item));
  const [items, rest] = [older.slice(given), older.slice(0, given)];
  const [first] = items;
  if (first === undefined) return { items, before, hasMore: given > 0, rest };
  return { items, before: first.epoch === newest ? first.item.first : given - start, hasMore: given > 0, rest };
}
