/**
 * Picks the moments for what would stall the live path: checkpoints 250 ms after the last commit, the digest after 2 s
 * (a message is still growing before), trimming in between, and pages go back to the disk when all else is done: until then
 * they are written again. While there is no quiet moment, valves let small steps through: a log of 4 MiB is checkpointed, a
 * digest 4 MiB behind moves on once a second.
 */

import type { Database, Statement } from "../driver.ts";
import type { Scheduler } from "../scheduler.ts";
import type { SessionKey } from "../session-key.ts";
import { numberAt } from "./columns.ts";
import { attempt, type StoreContext } from "./guard.ts";

const CHECKPOINT_AFTER_MS = 250;
const DIGEST_AFTER_MS = 2_000;
/** More than this takes longer than 15 ms. */
const CHECKPOINT_BYTES = 4_194_304;
/** Steps in quiet moments share a checkpoint of this much, about 5 ms. */
const CHECKPOINT_STEP_BYTES = 1_048_576;
const DIGEST_BEHIND_BYTES = 4_194_304;
/** About 5 ms, packing included. */
const DIGEST_STEP_BYTES = 65_536;
const DIGEST_VALVE_MS = 1_000;
/** A search waits for at most this much to be digested, about 15 ms of work. */
const DIGEST_SEARCH_BYTES = 262_144;
/** What a commit writes besides its rows: pages of the tables it touches. */
const COMMIT_OVERHEAD_BYTES = 16_384;
/** What each session in it adds: its place in the index is on a page of its own. */
const SESSION_OVERHEAD_BYTES = 4_096;
/** About 5 ms. */
const VACUUM_PAGES = 128;
const PAGE_BYTES = 4_096;
/** A session is trimmed when it is this much over, so that each trim is worth its work. */
const TRIM_SLACK = 1.0625;
/** What a step of trimming writes, roughly. */
const TRIM_LOG_BYTES = 131_072;

export interface MaintenanceSteps {
  /** Digests about so many bytes; true when nothing is left. */
  digest(bytes: number): boolean;
  bytesOf(key: SessionKey): number;
  /** Trims one step; true when the session fits. */
  trim(key: SessionKey, maxBytes: number): boolean;
}

export class Maintenance {
  readonly #context: StoreContext;
  readonly #database: Database;
  readonly #scheduler: Scheduler;
  readonly #steps: MaintenanceSteps;
  readonly #sessionBytesMax: number;
  readonly #freePages: Statement;
  readonly #toTrim = new Set<SessionKey>();
  #cancelTimer: (() => void) | undefined;
  #lastCommitAt = Number.NEGATIVE_INFINITY;
  #lastValveAt = Number.NEGATIVE_INFINITY;
  #logBytes = 0;
  #behindBytes = 0;
  #isDigestDue = true;

  constructor(context: StoreContext, scheduler: Scheduler, steps: MaintenanceSteps, sessionBytesMax: number) {
    this.#context = context;
    this.#database = context.database;
    this.#scheduler = scheduler;
    this.#steps = steps;
    this.#sessionBytesMax = sessionBytesMax;
    this.#freePages = context.database.prepare("PRAGMA freelist_count");
    this.#wakeAfter(CHECKPOINT_AFTER_MS);
  }

  onCommit(keys: ReadonlySet<SessionKey>, bytes: number): void {
    this.#lastCommitAt = this.#scheduler.monotonic();
    this.#logBytes += bytes + COMMIT_OVERHEAD_BYTES + keys.size * SESSION_OVERHEAD_BYTES;
    this.#behindBytes += bytes;
    this.#isDigestDue = true;
    for (const key of keys) this.#noteTrim(key);
    // One of them: together they would hold the loop for longer than each may.
    if (this.#logBytes > CHECKPOINT_BYTES) this.#checkpoint();
    else if (!this.#digestValve()) this.#trim();
    this.#wakeAfter(CHECKPOINT_AFTER_MS);
  }

  /** Before a search. */
  refresh(): void {
    if (this.#isDigestDue) this.#digest(DIGEST_SEARCH_BYTES);
  }

  /** Leaves the file alone and small: the log is written back whole. */
  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    attempt(this.#context, "closing the log", undefined, () => this.#database.exec("PRAGMA wal_checkpoint(TRUNCATE)"));
  }

  #wakeAfter(ms: number): void {
    this.#cancelTimer ??= this.#scheduler.after(ms, () => {
      this.#cancelTimer = undefined;
      this.#wake();
    });
  }

  /** One step of whatever is due; the next follows in a turn of its own. */
  #wake(): void {
    const quietMs = this.#scheduler.monotonic() - this.#lastCommitAt;
    if (quietMs < CHECKPOINT_AFTER_MS) this.#wakeAfter(CHECKPOINT_AFTER_MS - quietMs);
    else if (this.#logBytes >= CHECKPOINT_STEP_BYTES) this.#checkpoint();
    else if (this.#toTrim.size > 0) this.#trim();
    else if (this.#isDigestDue && quietMs >= DIGEST_AFTER_MS) this.#digest(DIGEST_STEP_BYTES);
    else if (this.#logBytes > 0) this.#checkpoint();
    else if (this.#isDigestDue) this.#wakeAfter(DIGEST_AFTER_MS - quietMs);
    else if (!this.#vacuum()) return;
    this.#wakeAfter(1);
  }

  #checkpoint(): void {
    this.#logBytes = 0;
    attempt(this.#context, "checkpointing", undefined, () => this.#database.exec("PRAGMA wal_checkpoint(PASSIVE)"));
  }

  /** False when no page is free, or none can be given back. */
  #vacuum(): boolean {
    return attempt(this.#context, "giving pages back", false, () => {
      const before = this.#freeCount();
      if (before === 0) return false;
      this.#database.exec(`PRAGMA incremental_vacuum(${VACUUM_PAGES})`);
      const given = before - this.#freeCount();
      this.#logBytes += given * PAGE_BYTES;
      return given > 0;
    });
  }

  #freeCount(): number {
    const row = this.#freePages.get();
    return row === undefined ? 0 : numberAt(row, "freelist_count");
  }

  /** True when it let a step through. */
  #digestValve(): boolean {
    const now = this.#scheduler.monotonic();
    if (this.#behindBytes <= DIGEST_BEHIND_BYTES || now - this.#lastValveAt < DIGEST_VALVE_MS) return false;
    this.#lastValveAt = now;
    this.#digest(DIGEST_STEP_BYTES);
    return true;
  }

  #digest(bytes: number): void {
    // After a fault it rests until the next commit.
    const isDone = attempt(this.#context, "digesting the journal", true, () => this.#steps.digest(bytes));
    this.#logBytes += bytes;
    this.#behindBytes = isDone ? 0 : Math.max(0, this.#behindBytes - bytes);
    this.#isDigestDue = !isDone;
  }

  #noteTrim(key: SessionKey): void {
    const bytes = attempt(this.#context, "measuring a journal", 0, () => this.#steps.bytesOf(key));
    if (bytes > this.#sessionBytesMax * TRIM_SLACK) this.#toTrim.add(key);
  }

  #trim(): void {
    const [key] = this.#toTrim;
    if (key === undefined) return;
    const isDone = attempt(this.#context, "trimming the journal", true, () =>
      this.#steps.trim(key, this.#sessionBytesMax),
    );
    this.#logBytes += TRIM_LOG_BYTES;
    if (isDone) this.#toTrim.delete(key);
  }
}
