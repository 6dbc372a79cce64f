/**
 * How much of a commit is on the disk when it returns (ADR 15). Usually it is in the system's hands: a crash of the hub loses
 * nothing, a power cut the last moments. What gives or takes rights has to outlive the power cut, too.
 */
import type { Database } from "./driver.ts";

/** `fullfsync` is for macOS, where a plain sync may stay in the drive's cache. */
export const USUAL_SYNC = "PRAGMA synchronous = NORMAL; PRAGMA fullfsync = OFF;";
const FULL_SYNC = "PRAGMA synchronous = FULL; PRAGMA fullfsync = ON;";

/**
 * Runs `work` as a write transaction of its own that is on the disk, with all that was committed before it, when this returns.
 * Throws inside another transaction: SQLite cannot change its mind there.
 */
export function durably<T>(database: Database, work: () => T): T {
  database.exec(FULL_SYNC);
  try {
    return database.transaction(work);
  } finally {
    database.exec(USUAL_SYNC);
  }
}
