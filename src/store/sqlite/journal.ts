/**
 * The journal over SQLite: group commit, and reads that see what waits.
 *
 * A commit is due 40 ms after the first item, or at once at 512 KiB: small transactions cost more than all the rest, and
 * an update has to be on disk 60 ms after it is delivered. A commit that fails keeps everything and tries again, ever
 * more rarely; over the bound the oldest of what waits is given up and said so.
 */
import type { Epoch } from "../../protocol/ids.ts";
import { EpochBuffer } from "../epoch-buffer.ts";
import { StoreError } from "../errors.ts";
import { decodeBody } from "../journal-body.ts";
import { PageBuilder } from "../journal-page.ts";
import { bodyAt } from "../packed-body.ts";
import type {
  Coalesce,
  DurableMark,
  EpochInfo,
  JoinRule,
  JournalItem,
  JournalPage,
  JournalRange,
  JournalStore,
} from "../ports.ts";
import type { Scheduler } from "../scheduler.ts";
import type { SessionKey } from "../session-key.ts";
import { numberAt } from "./columns.ts";
import { attempt, orThrow, type StoreContext } from "./guard.ts";
import type { JournalTables } from "./journal-tables.ts";
import type { JournalTrim } from "./journal-trim.ts";

const COMMIT_MS = 40;
/** In a paced stream the moment right behind an event is the furthest from the next: a commit there delays nobody. */
const COMMIT_BEHIND_MS = 32;
const COMMIT_BYTES = 524_288;
const RETRY_MS_MIN = 250;
const RETRY_MS_MAX = 5_000;
/** Epochs whose tail is remembered. One that is forgotten is read again. */
const EPOCHS_KNOWN_MAX = 1024;
const PAGE_BYTES = 1_048_576;

export interface JournalOptions {
  readonly scheduler: Scheduler;
  readonly join: JoinRule;
  /** What may wait for a disk that takes nothing. */
  readonly waitingBytesMax: number;
  onDurable(marks: readonly DurableMark[]): void;
  /** A commit is done; `bytes` is what it wrote. */
  onCommit(keys: ReadonlySet<SessionKey>, bytes: number): void;
}

export class SqliteJournal implements JournalStore {
  readonly #context: StoreContext;
  readonly #options: JournalOptions;
  readonly #tables: JournalTables;
  readonly #trim: JournalTrim;
  readonly #known = new Map<string, EpochBuffer>();
  readonly #dirty = new Set<EpochBuffer>();
  #waitingBytes = 0;
  #retryMs = 0;
  /** Since when the timer runs. */
  #waitingSince = 0;
  #cancelTimer: (() => void) | undefined;

  constructor(context: StoreContext, tables: JournalTables, trim: JournalTrim, options: JournalOptions) {
    this.#context = context;
    this.#tables = tables;
    this.#trim = trim;
    this.#options = options;
  }

  get waitingBytes(): number {
    return this.#waitingBytes;
  }

  append(key: SessionKey, epoch: Epoch, items: readonly JournalItem[]): void {
    const state = attempt(this.#context, "reading the journal's tail", undefined, () => this.#stateOf(key, epoch));
    if (state === undefined) return;
    const before = state.bytes;
    for (const item of items) this.#take(state, item);
    if (state.isEmpty) return;
    this.#dirty.add(state);
    this.#waitingBytes += state.bytes - before;
    if (this.#retryMs > 0) this.#keepBound();
    else if (this.#waitingBytes >= COMMIT_BYTES) this.flush();
    else this.#scheduleCommit();
  }

  flush(): boolean {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    if (this.#dirty.size === 0) return true;
    const states = [...this.#dirty];
    const bytes = attempt(this.#context, "writing the journal", undefined, () => this.#tables.commit(states));
    if (bytes === undefined) {
      this.#retryMs = Math.min(Math.max(this.#retryMs * 2, RETRY_MS_MIN), RETRY_MS_MAX);
      this.#schedule(this.#retryMs);
      return false;
    }
    this.#settle(states, bytes);
    return true;
  }

  read(key: SessionKey, epoch: Epoch, range: JournalRange): JournalPage {
    return orThrow(this.#context, "reading the journal", () => {
      const state = this.#stateOf(key, epoch);
      const upTo = range.upTo ?? Number.MAX_SAFE_INTEGER;
      const page = new PageBuilder(range.limitBytes ?? PAGE_BYTES);
      for (const row of this.#tables.rowsAfter(state.rowId, range.after)) {
        if (numberAt(row, "first") > upTo) break;
        for (const { item, size } of decodeBody(bodyAt(row), { from: range.after + 1, upTo }, this.#options.join)) {
          if (!page.add(item, size)) return page.done();
        }
      }
      for (const entry of state.entries) {
        const isWanted = entry.last > range.after && entry.first <= upTo;
        if (isWanted && !page.add(state.itemOf(entry), entry.bytes)) return page.done();
      }
      return page.done();
    });
  }

  readBack(key: SessionKey, epoch: Epoch, before: number, limitBytes: number): JournalPage {
    return orThrow(this.#context, "reading the journal backwards", () => {
      const state = this.#stateOf(key, epoch);
      const page = new PageBuilder(limitBytes);
      for (const entry of [...state.entries].reverse()) {
        if (entry.first < before && !page.add(state.itemOf(entry), entry.bytes)) return page.done(true);
      }
      for (const row of this.#tables.rowsBefore(state.rowId, before)) {
        const items = decodeBody(bodyAt(row), { from: 0, upTo: before - 1 }, this.#options.join);
        for (const { item, size } of [...items].reverse()) {
          if (!page.add(item, size)) return page.done(true);
        }
      }
      return page.done(true);
    });
  }

  epoch(key: SessionKey, epoch: Epoch): EpochInfo | undefined {
    return orThrow(this.#context, "reading an epoch", () => {
      const state = this.#stateOf(key, epoch);
      const stored = this.#tables.epoch(state.rowId);
      if (stored === undefined && state.isEmpty) return undefined;
      return withWaiting(stored ?? unwritten(state), state);
    });
  }

  epochs(key: SessionKey): readonly EpochInfo[] {
    return orThrow(this.#context, "reading the epochs", () => {
      const stored = this.#tables.epochs(key);
      const names = new Set(stored.map((info) => info.epoch));
      const waiting = [...this.#dirty].filter((state) => state.key === key && !names.has(state.epoch));
      return [...stored.map((info) => info.epoch), ...waiting.map((state) => state.epoch)].flatMap(
        (name) => this.epoch(key, name) ?? [],
      );
    });
  }

  trim(key: SessionKey, maxBytes: number, coalesce?: Coalesce): number {
    this.flush();
    return attempt(this.#context, "trimming the journal", 0, () => {
      const before = this.#tables.bytesOf(key);
      while (!this.#trim.step(key, maxBytes, coalesce));
      return before - this.#tables.bytesOf(key);
    });
  }

  remove(key: SessionKey): boolean {
    this.forget(key);
    return attempt(this.#context, "removing a journal", false, () => {
      this.#tables.remove(key);
      return true;
    });
  }

  /** Drops what is known and waits of a session whose rows go. */
  forget(key: SessionKey): void {
    for (const [name, state] of this.#known) {
      if (state.key !== key) continue;
      this.#known.delete(name);
      if (this.#dirty.delete(state)) this.#waitingBytes -= state.bytes;
    }
  }

  /** Commits what waits, once, and ends the timer. */
  close(): void {
    this.flush();
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #stateOf(key: SessionKey, epoch: Epoch): EpochBuffer {
    const name = `${epoch}\n${key}`;
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const stored = this.#tables.find(key, epoch);
    const state = new EpochBuffer({ key, epoch, join: this.#options.join }, stored?.rowId, stored?.tail ?? 0);
    if (this.#known.size >= EPOCHS_KNOWN_MAX) this.#forgetSettled();
    this.#known.set(name, state);
    return state;
  }

  /** Forgets the older half of the epochs that have nothing waiting: maps keep the order of insertion. */
  #forgetSettled(): void {
    let left = EPOCHS_KNOWN_MAX / 2;
    for (const [name, state] of this.#known) {
      if (left === 0) return;
      if (state.isEmpty) this.#known.delete(name);
      left--;
    }
  }

  #take(state: EpochBuffer, item: JournalItem): void {
    if (item.last <= state.tail) return;
    if (item.first <= state.tail || item.last < item.first) {
      this.#context.onError(new StoreError("out-of-order", "a journal item overlaps the ones before it"));
      return;
    }
    state.push(item);
  }

  #settle(states: readonly EpochBuffer[], bytes: number): void {
    this.#retryMs = 0;
    this.#dirty.clear();
    this.#waitingBytes = 0;
    for (const state of states) state.clear();
    this.#options.onDurable(states.map(({ key, epoch, tail }) => ({ key, epoch, last: tail })));
    this.#options.onCommit(new Set(states.map((state) => state.key)), bytes);
  }

  #scheduleCommit(): void {
    const now = this.#options.scheduler.monotonic();
    if (this.#cancelTimer === undefined) {
      this.#waitingSince = now;
      this.#schedule(COMMIT_MS);
    } else if (now - this.#waitingSince >= COMMIT_BEHIND_MS) {
      this.#cancelTimer();
      this.#cancelTimer = undefined;
      // Not at once: what this event is for has not gone out yet.
      this.#schedule(0);
      this.#waitingSince = now;
    }
  }

  #schedule(ms: number): void {
    this.#cancelTimer ??= this.#options.scheduler.after(ms, () => this.flush());
  }

  #keepBound(): void {
    while (this.#waitingBytes > this.#options.waitingBytesMax) {
      const fullest = [...this.#dirty].reduce((most, state) => (state.bytes > most.bytes ? state : most));
      const before = fullest.bytes;
      this.#context.onLost?.("events", fullest.dropOlder());
      this.#waitingBytes += fullest.bytes - before;
      if (fullest.isEmpty) this.#dirty.delete(fullest);
      this.#context.onError(new StoreError("overflow", "the oldest events that waited for the disk are lost"));
    }
  }
}

function unwritten(state: EpochBuffer): EpochInfo {
  const head = state.first ?? 1;
  return { epoch: state.epoch, head, tail: 0, exactAfter: head - 1, isWhole: head === 1, bytes: 0 };
}

function withWaiting(info: EpochInfo, state: EpochBuffer): EpochInfo {
  if (state.isEmpty) return info;
  const head = info.head > info.tail ? (state.first ?? info.head) : info.head;
  return {
    epoch: info.epoch,
    head,
    tail: state.tail,
    exactAfter: Math.max(info.exactAfter, head - 1, state.holeUpTo),
    isWhole: info.isWhole && head === 1 && state.holeUpTo === 0,
    bytes: info.bytes + state.bytes,
  };
}
