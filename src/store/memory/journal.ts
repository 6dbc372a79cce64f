/** The journal in memory: for tests, and for a hub that is told to keep nothing. */
import type { Epoch } from "../../protocol/ids.ts";
import { coalesceItems, joinRule } from "../core-items.ts";
import { EpochBuffer } from "../epoch-buffer.ts";
import { StoreError } from "../errors.ts";
import { PageBuilder } from "../journal-page.ts";
import type {
  Coalesce,
  DurableMark,
  EpochInfo,
  JournalItem,
  JournalPage,
  JournalRange,
  JournalStore,
} from "../ports.ts";
import type { SessionKey } from "../session-key.ts";

const PAGE_BYTES = 1_048_576;
/** The newest part is left exact, as on disk. */
const EXACT_SHARE = 0.25;

interface MemoryEpoch {
  readonly buffer: EpochBuffer;
  /** Last event that was coalesced. */
  coalescedUpTo: number;
}

export interface MemoryJournalOptions {
  readonly sessionBytesMax: number;
  onError(error: StoreError): void;
  onDurable(marks: readonly DurableMark[]): void;
}

export class MemoryJournal implements JournalStore {
  readonly #options: MemoryJournalOptions;
  readonly #sessions = new Map<SessionKey, Map<Epoch, MemoryEpoch>>();
  readonly #told = new Map<EpochBuffer, number>();

  constructor(options: MemoryJournalOptions) {
    this.#options = options;
  }

  append(key: SessionKey, epoch: Epoch, items: readonly JournalItem[]): void {
    const { buffer } = this.#ensure(key, epoch);
    for (const item of items) {
      if (item.last <= buffer.tail) continue;
      if (item.first > buffer.tail && item.last >= item.first) buffer.push(item);
      else this.#options.onError(new StoreError("out-of-order", "a journal item overlaps the ones before it"));
    }
    this.#told.set(buffer, buffer.tail);
    if (this.bytesOf(key) > this.#options.sessionBytesMax) this.trim(key, this.#options.sessionBytesMax, coalesceItems);
  }

  flush(): boolean {
    const marks = [...this.#told.keys()].map(({ key, epoch, tail }) => ({ key, epoch, last: tail }));
    this.#told.clear();
    if (marks.length > 0) this.#options.onDurable(marks);
    return true;
  }

  read(key: SessionKey, epoch: Epoch, range: JournalRange): JournalPage {
    const page = new PageBuilder(range.limitBytes ?? PAGE_BYTES);
    const upTo = range.upTo ?? Number.MAX_SAFE_INTEGER;
    const buffer = this.#find(key, epoch)?.buffer;
    for (const entry of buffer?.entries ?? []) {
      const isWanted = entry.last > range.after && entry.first <= upTo;
      if (isWanted && buffer !== undefined && !page.add(buffer.itemOf(entry), entry.bytes)) break;
    }
    return page.done();
  }

  readBack(key: SessionKey, epoch: Epoch, before: number, limitBytes: number): JournalPage {
    const page = new PageBuilder(limitBytes);
    const buffer = this.#find(key, epoch)?.buffer;
    for (const entry of [...(buffer?.entries ?? [])].reverse()) {
      if (entry.first < before && buffer !== undefined && !page.add(buffer.itemOf(entry), entry.bytes)) break;
    }
    return page.done(true);
  }

  epoch(key: SessionKey, epoch: Epoch): EpochInfo | undefined {
    const found = this.#find(key, epoch);
    if (found === undefined || found.buffer.tail === 0) return undefined;
    const { buffer, coalescedUpTo } = found;
    const head = buffer.first ?? buffer.tail + 1;
    return {
      epoch,
      head,
      tail: buffer.tail,
      exactAfter: Math.max(head - 1, coalescedUpTo, buffer.holeUpTo),
      isWhole: head === 1 && buffer.holeUpTo === 0,
      bytes: buffer.bytes,
    };
  }

  epochs(key: SessionKey): readonly EpochInfo[] {
    return [...(this.#sessions.get(key)?.keys() ?? [])].flatMap((name) => this.epoch(key, name) ?? []);
  }

  trim(key: SessionKey, maxBytes: number, coalesce?: Coalesce): number {
    const before = this.bytesOf(key);
    const epochs = [...(this.#sessions.get(key)?.values() ?? [])];
    for (const epoch of coalesce === undefined ? [] : epochs) {
      const budget = this.bytesOf(key) - maxBytes * EXACT_SHARE;
      if (this.bytesOf(key) > maxBytes && coalesce !== undefined) coalesceFront(epoch, budget, coalesce);
    }
    for (const { buffer } of epochs) {
      while (this.bytesOf(key) > maxBytes && !buffer.isEmpty) buffer.drop(1);
    }
    return before - this.bytesOf(key);
  }

  remove(key: SessionKey): boolean {
    for (const { buffer } of this.#sessions.get(key)?.values() ?? []) this.#told.delete(buffer);
    this.#sessions.delete(key);
    return true;
  }

  bytesOf(key: SessionKey): number {
    return [...(this.#sessions.get(key)?.values() ?? [])].reduce((sum, { buffer }) => sum + buffer.bytes, 0);
  }

  #find(key: SessionKey, epoch: Epoch): MemoryEpoch | undefined {
    return this.#sessions.get(key)?.get(epoch);
  }

  #ensure(key: SessionKey, epoch: Epoch): MemoryEpoch {
    const found = this.#find(key, epoch);
    if (found !== undefined) return found;
    const made = { buffer: new EpochBuffer({ key, epoch, join: joinRule }, undefined, 0), coalescedUpTo: 0 };
    const epochs = this.#sessions.get(key) ?? new Map<Epoch, MemoryEpoch>();
    this.#sessions.set(key, epochs.set(epoch, made));
    return made;
  }
}

/** Coalesces the exact entries that lie within `budget` bytes of the front. */
function coalesceFront(epoch: MemoryEpoch, budget: number, coalesce: Coalesce): void {
  const { buffer } = epoch;
  let bytes = 0;
  const front = buffer.entries.filter((entry) => {
    bytes += entry.bytes;
    return bytes <= budget;
  });
  const last = front.at(-1)?.last;
  if (last === undefined) return;
  const items = coalesce(front.map((entry) => buffer.itemOf(entry)));
  buffer.replace(front.length, items);
  epoch.coalescedUpTo = Math.max(epoch.coalescedUpTo, last);
}
