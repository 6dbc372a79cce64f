/** What every store over the database shares: the connection, the way faults are told, and the answer of a failed write. */
import type { Database } from "../driver.ts";
import { asStoreError, type StoreError } from "../errors.ts";

export type OnStoreError = (error: StoreError) => void;

export interface StoreContext {
  readonly database: Database;
  readonly onError: OnStoreError;
  /** The file turned out to be damaged: the next start has to look at all of it. */
  readonly onDamaged: () => void;
  /** Something will never be written. */
  readonly onLost?: (what: "events" | "records", count: number) => void;
}

function faultOf(context: StoreContext, cause: unknown, doing: string): StoreError {
  const error = asStoreError(cause, doing);
  if (error.code === "damaged") context.onDamaged();
  return error;
}

/** Runs a write of the live path: a fault is told, never thrown. */
export function attempt<T, F>(context: StoreContext, doing: string, fallback: F, work: () => T): T | F {
  try {
    return work();
  } catch (cause) {
    context.onError(faultOf(context, cause, doing));
    return fallback;
  }
}

/** Runs a write that nobody tries again: where it fails, the record is lost. */
export function attemptRecord(context: StoreContext, doing: string, work: () => boolean): boolean {
  const isWritten = attempt(context, doing, undefined, work);
  if (isWritten === undefined) context.onLost?.("records", 1);
  return isWritten ?? false;
}

/** Runs a read, or a write whose caller has to know: faults are `StoreError`s. */
export function orThrow<T>(context: StoreContext, doing: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw faultOf(context, cause, doing);
  }
}
