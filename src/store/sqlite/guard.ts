/** What every store over the database shares: the connection, the way faults are told, and the answer of a failed write. */
import type { Database } from "../driver.ts";
import { asStoreError, type StoreError } from "../errors.ts";

export type OnStoreError = (error: StoreError) => void;

export interface StoreContext {
  readonly database: Database;
  readonly onError: OnStoreError;
}

/** Runs a write of the live path: a fault is told, never thrown. */
export function attempt<T>(context: StoreContext, doing: string, fallback: T, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    context.onError(asStoreError(cause, doing));
    return fallback;
  }
}

/** Runs a read, or a write whose caller has to know: faults are `StoreError`s. */
export function orThrow<T>(doing: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw asStoreError(cause, doing);
  }
}
