/** Puts the store together over one database file. */
import { LIMITS } from "../protocol/limits.ts";
import { coalesceItems, joinRule } from "./core-items.ts";
import { markSuspect, openHubDatabase, type StoreNotice } from "./database.ts";
import type { StoreError } from "./errors.ts";
import { HealthWatch, type StoreHealth } from "./health.ts";
import { SCHEMA_VERSION } from "./migrations.ts";
import type { DurableMark, Store } from "./ports.ts";
import { type Scheduler, systemScheduler } from "./scheduler.ts";
import type { SessionKey } from "./session-key.ts";
import { SqliteAudit } from "./sqlite/audit.ts";
import { SqliteDevices } from "./sqlite/devices.ts";
import { Digest } from "./sqlite/digest.ts";
import { attempt, type StoreContext } from "./sqlite/guard.ts";
import { SqliteInteractions } from "./sqlite/interactions.ts";
import { SqliteJournal } from "./sqlite/journal.ts";
import { JournalTables } from "./sqlite/journal-tables.ts";
import { JournalTrim } from "./sqlite/journal-trim.ts";
import { Maintenance } from "./sqlite/maintenance.ts";
import { SqlitePrompts } from "./sqlite/prompts.ts";
import { SearchTables } from "./sqlite/search-tables.ts";
import { SessionIds } from "./sqlite/session-ids.ts";
import { SessionSearch } from "./sqlite/session-search.ts";
import { SqliteSessions } from "./sqlite/sessions.ts";

const WAITING_BYTES_MAX = 33_554_432;

export interface StoreOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** Faults of writes on the live path, and of background work. Told as often as they happen: log them sparingly. */
  onError(error: StoreError): void;
  /** Events that are on disk now: what may be acknowledged to a bridge. */
  onDurable?(marks: readonly DurableMark[]): void;
  readonly scheduler?: Scheduler;
  /** Journal on disk per session; the oldest is coalesced, then removed. */
  readonly sessionBytesMax?: number;
  /** Journal in memory while the disk takes nothing. */
  readonly waitingBytesMax?: number;
}

export interface OpenedStore {
  readonly store: Store;
  readonly driver: "node:sqlite" | "better-sqlite3";
  readonly notices: readonly StoreNotice[];
  /** Looks now: where a fault stood, something small is written to see whether it is over. */
  health(): StoreHealth;
}

type AssemblyOptions = Omit<StoreOptions, "path" | "onError">;

interface Assembled {
  readonly store: Store;
  readonly journal: SqliteJournal;
}

/** Opens the store. Throws `StoreError`: with any code but "damaged", which is handled, see the notices. */
export function openStore(options: StoreOptions): OpenedStore {
  const scheduler = options.scheduler ?? systemScheduler;
  const { database, notices } = openHubDatabase(options.path, scheduler.now());
  const watch = new HealthWatch(() => scheduler.now());
  const context: StoreContext = {
    database,
    onError: (error) => {
      watch.onError(error);
      options.onError(error);
    },
    onDamaged: () => markSuspect(options.path),
    onLost: (what, count) => watch.onLost(what, count),
  };
  const { store, journal } = assemble(context, scheduler, {
    ...options,
    onDurable: (marks) => {
      watch.onWritten();
      options.onDurable?.(marks);
    },
  });
  const probe = (): boolean => canWrite(context, journal);
  return { store, driver: database.driver, notices, health: () => watch.view(journal.waitingBytes, probe) };
}

/** The version is written again as it is: the least that has to go to the disk. */
function canWrite(context: StoreContext, journal: SqliteJournal): boolean {
  return attempt(context, "looking whether the disk takes something", false, () => {
    context.database.transaction(() => context.database.exec(`PRAGMA user_version = ${SCHEMA_VERSION}`));
    return journal.flush();
  });
}

/** The stores over a database that is open already. Closing the store closes it. */
export function assembleStore(context: StoreContext, scheduler: Scheduler, options: AssemblyOptions): Store {
  return assemble(context, scheduler, options).store;
}

function assemble(context: StoreContext, scheduler: Scheduler, options: AssemblyOptions): Assembled {
  const { database } = context;
  const ids = new SessionIds(database);
  const searchTables = new SearchTables(database);
  const tables = new JournalTables(database, ids, searchTables);
  const trim = new JournalTrim(database, ids, searchTables, joinRule);
  const digest = new Digest(database, searchTables, joinRule);
  const steps = {
    digest: (bytes: number) => digest.step(bytes),
    bytesOf: (key: SessionKey) => tables.bytesOf(key),
    trim: (key: SessionKey, maxBytes: number) => trim.step(key, maxBytes, coalesceItems),
  };
  const maintenance = new Maintenance(context, scheduler, steps, options.sessionBytesMax ?? LIMITS.journalBytes);
  const journal = new SqliteJournal(context, tables, trim, {
    scheduler,
    join: joinRule,
    waitingBytesMax: options.waitingBytesMax ?? WAITING_BYTES_MAX,
    onDurable: (marks) => options.onDurable?.(marks),
    onCommit: (keys, bytes) => maintenance.onCommit(keys, bytes),
  });
  const refresh = (): void => {
    journal.flush();
    maintenance.refresh();
  };
  const forget = (key: SessionKey): void => journal.forget(key);
  const search = new SessionSearch(database, searchTables, joinRule);
  const store = {
    journal,
    sessions: new SqliteSessions(context, { ids, index: searchTables, search, refresh, forget }),
    prompts: new SqlitePrompts(context),
    interactions: new SqliteInteractions(context),
    devices: new SqliteDevices(context),
    audit: new SqliteAudit(context),
    close: closing([() => journal.close(), () => maintenance.close(), () => database.close()]),
  };
  return { store, journal };
}

function closing(steps: readonly (() => void)[]): () => void {
  let isOpen = true;
  return () => {
    if (!isOpen) return;
    isOpen = false;
    for (const step of steps) step();
  };
}
