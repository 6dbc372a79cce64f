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
  /** This runtime has no SQLite that works. */
  | "no-driver"
  /** A rule of the schema refused the write: our own fault. */
  | "constraint"
  /** An event that does not follow the ones before it. */
  | "out-of-order"
  /** Too much waited for a disk that does not take it: the oldest of it is lost. */
  | "overflow"
  | "closed"
  /** The file, or the way to it, may not be opened. */
  | "cannot-open"
  /** The disk reported a fault. */
  | "io"
  /** None of the above: our own fault, until the log says otherwise. */
  | "unexpected";

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
  [3, "cannot-open"],
  [5, "locked"],
  [6, "locked"],
  [8, "read-only"],
  [10, "io"],
  [11, "damaged"],
  [13, "disk-full"],
  [14, "cannot-open"],
  [15, "locked"],
  [19, "constraint"],
  [26, "damaged"],
]);

const BY_NAME: ReadonlyMap<string, StoreErrorCode> = new Map([
  ["PERM", "cannot-open"],
  ["BUSY", "locked"],
  ["LOCKED", "locked"],
  ["READONLY", "read-only"],
  ["IOERR", "io"],
  ["CORRUPT", "damaged"],
  ["FULL", "disk-full"],
  ["CANTOPEN", "cannot-open"],
  ["PROTOCOL", "locked"],
  ["CONSTRAINT", "constraint"],
  ["NOTADB", "damaged"],
]);

const BY_ERRNO: ReadonlyMap<string, StoreErrorCode> = new Map([
  ["ENOSPC", "disk-full"],
  ["EDQUOT", "disk-full"],
  ["EROFS", "read-only"],
  ["EIO", "io"],
  ...["EACCES", "EPERM", "ENOENT", "ENOTDIR", "EISDIR", "EEXIST", "ELOOP", "ENAMETOOLONG", "EMFILE", "ENFILE"].map(
    (errno) => [errno, "cannot-open"] as const,
  ),
]);

/** Both drivers say it in words alone. */
const NOT_OPEN = /^(the )?database (connection )?is not open$/i;

/** `node:sqlite` carries a number in `errcode`, `better-sqlite3` a name in `code`, the file system an errno in `code`. */
function codeOf(cause: unknown): StoreErrorCode {
  const { errcode, code } = codesOf(cause);
  // The low byte is the primary code; the rest says where it happened.
  if (errcode !== undefined) return BY_NUMBER.get(errcode & 0xff) ?? "unexpected";
  if (cause instanceof Error && NOT_OPEN.test(cause.message)) return "closed";
  if (code === undefined) return "unexpected";
  return BY_ERRNO.get(code) ?? BY_NAME.get(/^SQLITE_([A-Z]+)/.exec(code)?.[1] ?? "") ?? "unexpected";
}

function codesOf(cause: unknown): { readonly errcode?: number; readonly code?: string } {
  if (typeof cause !== "object" || cause === null) return {};
  const { errcode, code } = cause as { readonly errcode?: unknown; readonly code?: unknown };
  return { ...(typeof errcode === "number" && { errcode }), ...(typeof code === "string" && { code }) };
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
  "cannot-open": "the database file or its directory cannot be opened",
  io: "the disk reported a fault: it may be full or failing",
  unexpected: "an error acp-hub does not expect",
};

/** The cause's own code, else its class. Never its message, which may quote what was to be written. */
function labelOf(cause: unknown): string {
  const { errcode, code } = codesOf(cause);
  if (errcode !== undefined) return `SQLite result ${errcode}`;
  return code ?? (cause instanceof Error ? cause.name : typeof cause);
}

/** These cover more than one thing: the cause's own code tells which. */
const LABELLED: ReadonlySet<StoreErrorCode> = new Set(["cannot-open", "io", "unexpected"]);

/** Wraps whatever a driver or the file system threw. `doing` names the step, and never what was to be written. */
export function asStoreError(cause: unknown, doing: string): StoreError {
  if (cause instanceof StoreError) return cause;
  const code = codeOf(cause);
  const label = LABELLED.has(code) ? ` (${labelOf(cause)})` : "";
  return new StoreError(code, `${doing}: ${WORDS[code]}${label}`, { cause });
}
