/** What can go wrong with the store, as a closed set: the hub decides by code and shows the message to a person. */

export type StoreErrorCode =
  /** The disk or a quota is full: writes wait in memory, within their bound. */
  | "disk-full"
  /** Another process holds the database. */
  | "locked"
  | "read-only"
  /** The file is not a sound database. */
  | "damaged"
  /** The file was written by a newer acp-hub and is left alone. */
  | "newer-version"
  /** This runtime has no SQLite at all. */
  | "no-driver"
  /** A rule of the schema refused the write: our own fault. */
  | "constraint"
  /** An event that does not follow the ones before it. */
  | "out-of-order"
  /** Too much waited for a disk that does not take it: the oldest of it is lost. */
  | "overflow"
  | "closed"
  | "io";

export class StoreError extends Error {
  override readonly name = "StoreError";
  readonly code: StoreErrorCode;

  constructor(code: StoreErrorCode, message: string, options?: { readonly cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** Primary result codes of SQLite that have a case of their own. */
const BY_NUMBER: ReadonlyMap<number, StoreErrorCode> = new Map([
  [5, "locked"],
  [6, "locked"],
  [8, "read-only"],
  [11, "damaged"],
  [13, "disk-full"],
  [19, "constraint"],
  [26, "damaged"],
]);

const BY_NAME: ReadonlyMap<string, StoreErrorCode> = new Map([
  ["BUSY", "locked"],
  ["LOCKED", "locked"],
  ["READONLY", "read-only"],
  ["CORRUPT", "damaged"],
  ["FULL", "disk-full"],
  ["CONSTRAINT", "constraint"],
  ["NOTADB", "damaged"],
]);

const BY_ERRNO: ReadonlyMap<string, StoreErrorCode> = new Map([
  ["ENOSPC", "disk-full"],
  ["EDQUOT", "disk-full"],
  ["EROFS", "read-only"],
]);

/** `node:sqlite` carries a number in `errcode`, `better-sqlite3` a name in `code`, the file system an errno in `code`. */
function codeOf(cause: unknown): StoreErrorCode {
  if (typeof cause !== "object" || cause === null) return "io";
  const { errcode, code } = cause as { readonly errcode?: unknown; readonly code?: unknown };
  // The low byte is the primary code; the rest says where it happened.
  if (typeof errcode === "number") return BY_NUMBER.get(errcode & 0xff) ?? "io";
  if (typeof code !== "string") return "io";
  return BY_ERRNO.get(code) ?? BY_NAME.get(/^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? "") ?? "io";
}

const WORDS: Readonly<Record<StoreErrorCode, string>> = {
  "disk-full": "the disk is full",
  locked: "another process holds the database",
  "read-only": "the database cannot be written",
  damaged: "the database file is damaged",
  "newer-version": "the database belongs to a newer acp-hub",
  "no-driver": "there is no SQLite",
  constraint: "the database refused the record",
  "out-of-order": "the event does not follow the last one",
  overflow: "too much waits for the disk",
  closed: "the store is closed",
  io: "the database file could not be read or written: the disk may be full or failing",
};

/** Wraps whatever a driver or the file system threw. `doing` names the step: constant words, never data. */
export function asStoreError(cause: unknown, doing: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = codeOf(cause);
  return new StoreError(code, `${doing}: ${WORDS[code]}`, { cause });
}
