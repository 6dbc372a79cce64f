/**
 * The ordered record of one session in one epoch, bounded, in memory. Pure.
 *
 * J1 Numbers only grow; an event is appended once.
 * J2 `since(c)` gives exactly the events after c, coalesced, or says why it cannot; it never guesses.
 * J3 Over the bound the oldest events are coalesced first, then dropped; `exactAfter` and `isWhole` say so at once.
 * J4 Text is joined as it is written, with the piece lengths kept, so that joining costs no cursor its exactness.
 * J5 What the one reader without another source has not read stays exact, up to `UNREAD_BOUNDS` times the bound.
 */
import type { Epoch } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { coalesce, isSameMessage } from "./coalesce.ts";
import { type EventMarks, itemAfter, itemOf, itemUntil, type JournalItem, NO_MARKS, type TextRun } from "./item.ts";

export type GapReason = "coalesced" | "trimmed" | "ahead";

export type Since =
  | { readonly ok: true; readonly items: readonly JournalItem[] }
  | { readonly ok: false; readonly reason: GapReason };

/** Text is joined in pieces of about this size: one by one, every event would leave a string behind for as long as the journal lives. */
const LOOSE_CHARS_MAX = 16_384;
/** How many times the bound may wait for the reader that has no other source, before it has to start over. */
const UNREAD_BOUNDS = 4;
/** What one event costs besides its text, roughly. */
const EVENT_OVERHEAD_BYTES = 160;

export class Journal {
  readonly epoch: Epoch;
  readonly #maxBytes: number;
  readonly #readerAt: () => number | undefined;
  #items: JournalItem[] = [];
  /** Text of the last item that does not stand in its run yet. */
  #loose: string[] = [];
  #looseChars = 0;
  #tail = 0;
  #bytes = 0;
  #exactAfter = 0;
  #acked = 0;
  #isWhole: boolean;
  /** Over this it is shrunk: the bound, or more while a reader lags. */
  #shrinkAt: number;
  /** What items that are no text count for: measured when they came, so that shrinking need not write them out again. */
  readonly #sizes = new WeakMap<JournalItem, number>();

  /**
   * `isWhole` false: history before the first event exists and is not here (a resumed session). `readerAt`: the cursor of a
   * reader that gets nowhere else what falls out here (the link); undefined while there is none.
   */
  constructor(epoch: Epoch, maxBytes: number, isWhole = true, readerAt: () => number | undefined = () => undefined) {
    this.epoch = epoch;
    this.#maxBytes = maxBytes;
    this.#shrinkAt = maxBytes;
    this.#readerAt = readerAt;
    this.#isWhole = isWhole;
  }

  /** The last event's number; 0 while empty. */
  get tail(): number {
    return this.#tail;
  }

  /** Cursors from here on are served exactly. */
  get exactAfter(): number {
    return this.#exactAfter;
  }

  /** True when a full replay gives the whole session. */
  get isWhole(): boolean {
    return this.#isWhole;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Appends the next event and returns its number. `size` is its length in characters, for the bound. */
  append(ts: number, method: string, params: JsonObject, size: number, marks: EventMarks = NO_MARKS): number {
    const seq = this.#tail + 1;
    this.put(itemOf(seq, ts, method, params, marks), size);
    return seq;
  }

  /** Takes over an item that another journal numbered (the mirror's side of the link). Items below the tail are already merged ones. */
  put(item: JournalItem, size: number): void {
    const isNext = item.first === this.#tail + 1;
    if (!isNext || !isExact(item)) this.#exactAfter = Math.max(this.#exactAfter, item.last, this.#tail);
    this.#tail = Math.max(this.#tail, item.last);
    const previous = this.#items.at(-1);
    // What lies between two pieces may have been merged into an earlier item: they are neighbours in the list, not in the session.
    const isNeighbour = previous !== undefined && previous.last + 1 === item.first;
    if (
      isNext &&
      isNeighbour &&
      isSameMessage(previous, item, this.#looseChars) &&
      isExact(previous) &&
      isExact(item)
    ) {
      this.#join(previous, item, item.run as TextRun);
    } else {
      this.#settle();
      const kept = item.run === undefined ? item : { ...item, run: { ...item.run, pieces: [...item.run.pieces] } };
      this.#items.push(kept);
      const bytes = (kept.run === undefined ? size : runBytes(kept.run)) + EVENT_OVERHEAD_BYTES;
      if (kept.run === undefined) this.#sizes.set(kept, bytes);
      this.#bytes += bytes;
    }
    if (this.#bytes > this.#shrinkAt) this.#shrink();
  }

  #join(previous: JournalItem & { readonly run: TextRun }, item: JournalItem, { text, pieces }: TextRun): void {
    this.#loose.push(text);
    this.#looseChars += text.length;
    for (const length of pieces) previous.run.pieces.push(length);
    previous.last = item.last;
    previous.ts = item.ts;
    this.#bytes += text.length + 4 * pieces.length;
    if (this.#looseChars >= LOOSE_CHARS_MAX) this.#settle();
  }

  /** Puts what is loose into its run. Whoever reads the items does this first. */
  #settle(): void {
    if (this.#looseChars === 0) return;
    const run = this.#items.at(-1)?.run;
    if (run !== undefined) run.text += this.#loose.join("");
    this.#loose = [];
    this.#looseChars = 0;
  }

  /** The events after `seq`, exact, not coalesced: what a mirror copies. The last text is a copy, later appends do not change it. */
  itemsAfter(seq: number): Since {
    if (seq > this.#tail) return { ok: false, reason: "ahead" };
    if (seq < this.#exactAfter) return { ok: false, reason: this.#isWhole ? "coalesced" : "trimmed" };
    this.#settle();
    const from = this.#indexAfter(seq);
    const items = this.#items.slice(from).map((item, index) => (index === 0 ? itemAfter(item, seq) : item));
    return { ok: true, items: freezeLast(items) };
  }

  /** Exact events after `seq` up to `upTo`, about `maxBytes` of them; undefined where `itemsAfter` cannot say either. */
  pageAfter(
    seq: number,
    upTo: number,
    maxBytes: number,
  ): { readonly items: readonly JournalItem[]; readonly last: number } | undefined {
    if (seq > this.#tail || seq < this.#exactAfter) return undefined;
    this.#settle();
    const items: JournalItem[] = [];
    let bytes = 0;
    let last = seq;
    for (let at = this.#indexAfter(seq); at < this.#items.length && bytes < maxBytes; at += 1) {
      const item = this.#items[at];
      if (item === undefined || item.first > upTo) break;
      const part = itemUntil(itemAfter(item, seq), upTo);
      items.push(part);
      bytes += this.#sizeOf(item);
      last = part.last;
    }
    return { items: freezeLast(items), last };
  }

  /** The events after `seq` up to `upTo`, coalesced. */
  between(seq: number, upTo: number): Since {
    const exact = this.exactBetween(seq, upTo);
    return exact.ok ? { ok: true, items: coalesce(exact.items) } : exact;
  }

  /** The events after `seq` up to `upTo`, one by one; only text that follows itself is joined. */
  exactBetween(seq: number, upTo: number): Since {
    const exact = this.itemsAfter(seq);
    if (!exact.ok) return exact;
    const items = exact.items.filter((item) => item.first <= upTo).map((item) => itemUntil(item, upTo));
    return { ok: true, items };
  }

  /** What a reader with cursor `seq` missed, coalesced (S3). */
  since(seq: number): Since {
    const exact = this.itemsAfter(seq);
    return exact.ok ? { ok: true, items: coalesce(exact.items) } : exact;
  }

  /** Everything held, coalesced (S4). */
  replay(): readonly JournalItem[] {
    return coalesce(this.everything());
  }

  /** Everything held up to event `upTo`, coalesced: what a loader gets, whatever the bound has taken. */
  replayUntil(upTo: number): readonly JournalItem[] {
    const items = this.everything().filter((item) => item.first <= upTo);
    return coalesce(items.map((item) => (item.last > this.#exactAfter ? itemUntil(item, upTo) : item)));
  }

  /** Everything held as it is held, for a mirror that has nothing. */
  everything(): readonly JournalItem[] {
    this.#settle();
    return freezeLast(this.#items.slice());
  }

  /** Items from the one with event `seq` on backwards, newest first; none where that is gone. Looked for from the end. */
  *backFrom(seq: number): Iterable<JournalItem> {
    this.#settle();
    let isReached = false;
    for (let at = this.#items.length - 1; at >= 0; at -= 1) {
      const item = this.#items[at];
      if (item === undefined) return;
      isReached ||= item.first <= seq && seq <= item.last;
      if (isReached) yield item;
    }
  }

  /** Marks cursors before `seq` as not exact: what was copied from a journal that had shrunk. */
  limitExactness(seq: number, isWhole: boolean): void {
    this.#exactAfter = Math.max(this.#exactAfter, seq);
    if (!isWhole) this.#isWhole = false;
  }

  /** Index of the first item that reaches past `seq`. The exact part of the list is sorted. */
  #indexAfter(seq: number): number {
    let low = 0;
    let high = this.#items.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const item = this.#items[middle];
      if (item !== undefined && item.last <= seq && item.first <= seq) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Events up to `seq` are safe elsewhere: they are coalesced before others (S3). */
  acknowledge(seq: number): void {
    this.#acked = Math.max(this.#acked, Math.min(seq, this.#tail));
    // J5: what was kept for a reader that has caught up goes now, and not with the next event, which may be long in coming.
    if (this.#bytes > this.#maxBytes && !this.#isReadFrom()) this.#shrink();
  }

  /** Whether a reader without another source still has something to read. */
  #isReadFrom(): boolean {
    const at = this.#readerAt();
    return at !== undefined && at < this.#tail;
  }

  /** J3, J5: coalesces what is acknowledged, then the older half; drops from the front what still does not fit. */
  #shrink(): void {
    this.#settle();
    // A quarter is freed each time, so that the cost of shrinking is a constant per event.
    const target = this.#maxBytes * 0.75;
    const acked = this.#acked > this.#exactAfter ? this.#indexAfter(this.#acked) : 0;
    if (acked > 0 && acked < this.#items.length >> 1) this.#coalesceFirst(Math.min(acked, this.#readCount()));
    if (this.#bytes > target) this.#coalesceFirst(Math.min(this.#items.length >> 1, this.#readCount()));
    this.#dropFirst(target, Math.min(this.#items.length - 1, this.#readCount()));
    this.#shrinkAt = Math.max(this.#maxBytes, this.#bytes + this.#maxBytes / 8);
  }

  /** How many items the reader without another source has; all of them where there is none, or it lags too far. */
  #readCount(): number {
    const at = this.#readerAt();
    // One that has lost its place starts over with what there is then.
    const isPlaced = at !== undefined && at >= this.#exactAfter && at < this.#tail;
    if (!isPlaced || this.#bytes > this.#maxBytes * UNREAD_BOUNDS) return this.#items.length;
    return this.#indexAfter(at);
  }

  #dropFirst(target: number, countMax: number): void {
    let dropped = 0;
    while (this.#bytes > target && dropped < countMax) {
      const item = this.#items[dropped];
      if (item === undefined) break;
      this.#bytes -= this.#sizeOf(item);
      this.#exactAfter = Math.max(this.#exactAfter, item.last);
      dropped += 1;
    }
    if (dropped === 0) return;
    this.#items = this.#items.slice(dropped);
    this.#isWhole = false;
  }

  #coalesceFirst(count: number): void {
    if (count <= 0) return;
    const older = this.#items.slice(0, count);
    this.#exactAfter = older.reduce((last, item) => Math.max(last, item.last), this.#exactAfter);
    this.#items = [...coalesce(older), ...this.#items.slice(count)];
    this.#bytes = this.#items.reduce((sum, item) => sum + this.#sizeOf(item), 0);
  }

  #sizeOf(item: JournalItem): number {
    if (item.run !== undefined) return runBytes(item.run) + EVENT_OVERHEAD_BYTES;
    const known = this.#sizes.get(item) ?? JSON.stringify(item.params).length + EVENT_OVERHEAD_BYTES;
    this.#sizes.set(item, known);
    return known;
  }
}

const runBytes = (run: TextRun): number => run.text.length + 4 * run.pieces.length;

/** True when every event of the item can be told apart: a single one, or text with all its piece lengths. */
const isExact = (item: JournalItem): boolean =>
  item.first === item.last || item.run?.pieces.length === item.last - item.first + 1;

function freezeLast(items: JournalItem[]): JournalItem[] {
  const last = items.at(-1);
  if (last?.run !== undefined)
    items[items.length - 1] = { ...last, run: { ...last.run, pieces: [...last.run.pieces] } };
  return items;
}
