/** Items an epoch was given, with text still growing: what waits for the disk, or all there is in memory. Bounded by its owner. */
import type { Epoch } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";
import { encodeItem, encodeRun, mayStandBare } from "./journal-body.ts";
import type { JoinRule, JournalItem } from "./ports.ts";
import type { SessionKey } from "./session-key.ts";

/** What a line weighs besides its text, roughly. */
const LINE_OVERHEAD_BYTES = 160;
/** Rows stay below this, so that a page reads little more than it gives. */
const ROW_BYTES_MAX = 65_536;
/** Joined text stops growing here, so that a phone can paint the first part early. */
const RUN_CHARS_MAX = 65_536;

export interface JournalRow {
  readonly first: number;
  readonly last: number;
  readonly body: string;
}

/** Text that may still grow. It is written once, at the commit, and measured by its pieces until then. */
interface Run {
  readonly message: JsonObject;
  lastMessage: JsonObject;
  text: string;
  readonly pieces: number[];
}

/** One item-to-be: a run, or an item with its line. */
export interface Entry {
  readonly first: number;
  last: number;
  bytes: number;
  readonly run?: Run;
  readonly whole?: { readonly item: JournalItem; readonly line: string };
}

export interface EpochName {
  readonly key: SessionKey;
  readonly epoch: Epoch;
  readonly join: JoinRule;
}

export class EpochBuffer {
  readonly key: SessionKey;
  readonly epoch: Epoch;
  /** The row in `epochs`; undefined until the first commit. */
  rowId: number | undefined;
  /** Last event taken. */
  tail: number;
  bytes = 0;
  /** Set where events are missing between two items: cursors before it are not served exactly. */
  holeUpTo = 0;
  readonly #join: JoinRule;
  #entries: Entry[] = [];

  constructor({ key, epoch, join }: EpochName, rowId: number | undefined, tail: number) {
    this.key = key;
    this.epoch = epoch;
    this.#join = join;
    this.rowId = rowId;
    this.tail = tail;
  }

  get isEmpty(): boolean {
    return this.#entries.length === 0;
  }

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  get first(): number | undefined {
    return this.#entries[0]?.first;
  }

  push(item: JournalItem): void {
    const text = item.pieces === undefined ? undefined : this.#join.textOf(item);
    if (this.tail > 0 && item.first > this.tail + 1) this.holeUpTo = item.first - 1;
    this.tail = item.last;
    if (text === undefined || item.pieces === undefined) {
      const entry = wholeEntry(item);
      this.#entries.push(entry);
      this.bytes += entry.bytes;
      return;
    }
    const size = text.length + 4 * item.pieces.length;
    this.bytes += size;
    const previous = this.#entries.at(-1);
    if (previous?.run !== undefined && this.#continues(previous, previous.run, item, text)) {
      previous.run.text += text;
      for (const length of item.pieces) previous.run.pieces.push(length);
      previous.run.lastMessage = item.message;
      previous.last = item.last;
      previous.bytes += size;
      return;
    }
    const run = { message: item.message, lastMessage: item.message, text, pieces: [...item.pieces] };
    this.#entries.push({ first: item.first, last: item.last, bytes: size + LINE_OVERHEAD_BYTES, run });
    this.bytes += LINE_OVERHEAD_BYTES;
  }

  itemOf({ first, last, run, whole }: Entry): JournalItem {
    if (whole !== undefined) return whole.item;
    if (run === undefined) throw new TypeError("an entry is a run or whole");
    const message =
      run.lastMessage === run.message ? run.message : this.#join.joined(run.message, run.lastMessage, run.text);
    return { first, last, pieces: [...run.pieces], message };
  }

  /** The rows a commit writes, or smaller ones: each is full at `rowBytesMax`. */
  rows(rowBytesMax: number = ROW_BYTES_MAX): JournalRow[] {
    const rows: JournalRow[] = [];
    let lines: string[] = [];
    let size = 0;
    let first = 0;
    this.#entries.forEach((entry, index) => {
      if (lines.length === 0) first = entry.first;
      const line = entry.whole?.line ?? this.#lineOf(entry);
      lines.push(line);
      size += line.length;
      if (size < rowBytesMax && index < this.#entries.length - 1) return;
      rows.push({ first, last: entry.last, body: lines.join("\n") });
      lines = [];
      size = 0;
    });
    return rows;
  }

  /** After a commit. */
  clear(): void {
    this.#entries = [];
    this.bytes = 0;
  }

  /** Gives up the older half, and gives how many events that were. */
  dropOlder(): number {
    const count = Math.ceil(this.#entries.length / 2);
    const events = this.#entries.slice(0, count).reduce((sum, entry) => sum + entry.last - entry.first + 1, 0);
    this.drop(count);
    this.holeUpTo = this.first === undefined ? this.tail : this.first - 1;
    return events;
  }

  /** Gives up the oldest entries. */
  drop(count: number): void {
    const dropped = this.#entries.splice(0, count);
    this.bytes -= dropped.reduce((sum, entry) => sum + entry.bytes, 0);
  }

  /** Puts whole items in the place of the oldest entries. */
  replace(count: number, items: readonly JournalItem[]): void {
    this.drop(count);
    const entries = items.map((item) => wholeEntry(item));
    this.#entries.unshift(...entries);
    this.bytes += entries.reduce((sum, entry) => sum + entry.bytes, 0);
  }

  #lineOf(entry: Entry): string {
    const { first, last, run } = entry;
    if (run === undefined || !mayStandBare(run.text)) return encodeItem(this.itemOf(entry));
    const message = this.#join.joined(run.message, run.lastMessage, "");
    return encodeRun({ first, last, pieces: run.pieces, message, text: run.text });
  }

  #continues(previous: Entry, run: Run, item: JournalItem, text: string): boolean {
    if (previous.last + 1 !== item.first || run.text.length + text.length > RUN_CHARS_MAX) return false;
    return this.#join.isSameMessage(run.message, item.message);
  }
}

function wholeEntry(item: JournalItem): Entry {
  const line = encodeItem(item);
  return { first: item.first, last: item.last, bytes: line.length, whole: { item, line } };
}
