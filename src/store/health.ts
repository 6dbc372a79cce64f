/**
 * Whether what happens is being written. A fault stands until something was written again: the journal tries by itself while
 * it waits, and `probe` tries when nothing does. Damage stands until the next start looks at the file. What is lost for good is counted for the life of the process.
 */
import type { StoreError, StoreErrorCode } from "./errors.ts";

export interface StoreHealth {
  /** Absent when all is well. */
  readonly fault?: { readonly code: StoreErrorCode; readonly since: number };
  /** Journal that waits for the disk. */
  readonly waitingBytes: number;
  /** Given up for ever: events of the journal, and records of interactions, prompts, sessions and the audit. */
  readonly lost: { readonly events: number; readonly records: number };
}

/** These keep what follows from being written, too; the others are of one record. */
const STANDING: ReadonlySet<StoreErrorCode> = new Set([
  "disk-full",
  "locked",
  "read-only",
  "damaged",
  "cannot-open",
  "io",
  "unexpected",
]);

export class HealthWatch {
  readonly #now: () => number;
  #fault: StoreHealth["fault"];
  #lostEvents = 0;
  #lostRecords = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  onError(error: StoreError): void {
    if (!STANDING.has(error.code)) return;
    if (this.#fault?.code === "damaged") return;
    this.#fault = { code: error.code, since: this.#fault?.since ?? this.#now() };
  }

  onLost(what: "events" | "records", count: number): void {
    if (what === "events") this.#lostEvents += count;
    else this.#lostRecords += count;
  }

  onWritten(): void {
    if (this.#fault?.code !== "damaged") this.#fault = undefined;
  }

  /** `probe` writes something small; it is asked only while a fault stands. True when that was written. */
  view(waitingBytes: number, probe: () => boolean): StoreHealth {
    if (this.#fault !== undefined && probe()) this.onWritten();
    const fault = this.#fault;
    return {
      ...(fault !== undefined && { fault }),
      waitingBytes,
      lost: { events: this.#lostEvents, records: this.#lostRecords },
    };
  }
}
