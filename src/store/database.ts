/**
 * The database file: its rights, its pragmas, its soundness. A damaged file is moved aside, never repaired in place and
 * never deleted: the hub starts with a new one and says so.
 */
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { dirname } from "node:path";
import { type Database, openDatabase } from "./driver.ts";
import { USUAL_SYNC } from "./durable.ts";
import { asStoreError, StoreError } from "./errors.ts";
import { migrate, refuseNewer } from "./migrations.ts";

/** Something a person should read once: the store goes on. */
export interface StoreNotice {
  readonly kind: "damaged-moved-aside";
  readonly movedTo: string;
  readonly message: string;
}

export interface OpenedDatabase {
  readonly database: Database;
  readonly notices: readonly StoreNotice[];
}

/** Up to here a whole check at start costs well under 0.2 s. */
const CHECK_ALWAYS_BYTES = 33_554_432;
/** Over this a whole check would keep the hub from starting for seconds; damage then shows when it is met. */
const CHECK_NEVER_BYTES = 536_870_912;

/**
 * wal_autocheckpoint=0: a checkpoint stalls the loop for 10 ms and more, so `maintenance.ts` picks the moment.
 * busy_timeout is short because waiting blocks everything; the journal keeps what it could not write.
 */
const PRAGMAS = `
PRAGMA auto_vacuum = INCREMENTAL;
PRAGMA journal_mode = WAL;
${USUAL_SYNC}
PRAGMA wal_autocheckpoint = 0;
PRAGMA journal_size_limit = 8388608;
PRAGMA busy_timeout = 20;
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA trusted_schema = OFF;
`;

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

const markOf = (path: string): string => `${path}.suspect`;

/** Leaves a mark beside the file: the next start checks it whole, whatever its size. */
export function markSuspect(path: string): void {
  if (path === ":memory:") return;
  try {
    writeFileSync(markOf(path), "", { mode: 0o600 });
  } catch {
    // A disk that takes no mark is in trouble enough; the error that led here is reported anyway.
  }
}

/**
 * The file must exist with the right mode before SQLite opens it: its companions copy that mode. A directory that is
 * already there keeps its mode: whether it is ours to tighten is the configuration's question.
 */
function prepareFile(path: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  closeSync(openSync(path, "a", 0o600));
  for (const file of [path, `${path}-wal`, `${path}-shm`]) if (existsSync(file)) chmodSync(file, 0o600);
}

/** A log left behind says the last run did not end well. */
function needsWholeCheck(path: string): boolean {
  const bytes = sizeOf(path);
  if (existsSync(markOf(path))) return true;
  if (bytes <= CHECK_ALWAYS_BYTES) return true;
  return sizeOf(`${path}-wal`) > 0 && bytes <= CHECK_NEVER_BYTES;
}

function checkSoundness(database: Database, isWhole: boolean): void {
  const answer = isWhole
    ? database.prepare("PRAGMA quick_check(1)").get()?.["quick_check"]
    : database.prepare("SELECT 'ok' AS quick_check FROM (SELECT count(*) FROM sqlite_schema)").get()?.["quick_check"];
  if (answer !== "ok") throw new StoreError("damaged", "the database file is damaged");
}

function openChecked(path: string): Database {
  const isFile = path !== ":memory:";
  const isWhole = isFile && needsWholeCheck(path);
  const database = openDatabase(path);
  try {
    // Before anything is written: a pragma may change the file.
    refuseNewer(database);
    database.exec(PRAGMAS);
    if (isFile) checkSoundness(database, isWhole);
    migrate(database);
  } catch (cause) {
    database.close();
    throw cause;
  }
  if (isFile) rmSync(markOf(path), { force: true });
  return database;
}

/** `20261130T130218Z`: sorts, and stands in a file name everywhere. */
const stampOf = (nowMs: number): string => new Date(nowMs).toISOString().replace(/[-:]|\.\d+/g, "");

function moveAside(path: string, nowMs: number): StoreNotice {
  const wanted = `${path}.damaged-${stampOf(nowMs)}`;
  let movedTo = wanted;
  for (let n = 2; existsSync(movedTo); n++) movedTo = `${wanted}-${n}`;
  renameSync(path, movedTo);
  for (const end of ["-wal", "-shm"]) if (existsSync(path + end)) renameSync(path + end, movedTo + end);
  rmSync(markOf(path), { force: true });
  return {
    kind: "damaged-moved-aside",
    movedTo,
    message:
      `The database was damaged and has been moved to ${movedTo}. The hub starts with a new, empty one: ` +
      "pair your devices again; sessions that are still running come back by themselves.",
  };
}

/**
 * Opens the hub's database and brings it up to date. Throws `StoreError`, with any code but "damaged", which is handled: see
 * the notices.
 */
export function openHubDatabase(path: string, nowMs: number): OpenedDatabase {
  const doing = `opening the database ${path}`;
  if (path === ":memory:") return { database: wrapped(doing, () => openChecked(path)), notices: [] };
  wrapped(`preparing the database ${path}`, () => prepareFile(path));
  try {
    return { database: wrapped(doing, () => openChecked(path)), notices: [] };
  } catch (error) {
    if (!(error instanceof StoreError && error.code === "damaged")) throw error;
  }
  const notice = wrapped(`moving the damaged database ${path} aside`, () => moveAside(path, nowMs));
  return wrapped(doing, () => {
    prepareFile(path);
    return { database: openChecked(path), notices: [notice] };
  });
}

function wrapped<T>(doing: string, work: () => T): T {
  try {
    return work();
  } catch (cause) {
    throw asStoreError(cause, doing);
  }
}
