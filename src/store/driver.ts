/**
 * The one place that knows which SQLite this runtime has: `node:sqlite` (Node 22.13 and later), else the optional
 * dependency `better-sqlite3`. Both are synchronous and equally fast; everything else sees `Database`.
 */
import { createRequire } from "node:module";
import type * as nodeSqlite from "node:sqlite";
import type betterSqlite3 from "better-sqlite3";
import { noDriver } from "./no-driver.ts";

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Changes {
  readonly changes: number;
  readonly lastId: number;
}

export interface Statement {
  run(...params: SqlValue[]): Changes;
  get(...params: SqlValue[]): SqlRow | undefined;
  all(...params: SqlValue[]): SqlRow[];
  /** Rows one by one; leaving the loop early releases the statement. Do not write while it runs. */
  iterate(...params: SqlValue[]): IterableIterator<SqlRow>;
}

export type DriverName = "node:sqlite" | "better-sqlite3";

export interface Database {
  readonly driver: DriverName;
  prepare(sql: string): Statement;
  exec(sql: string): void;
  /** Runs `work` as one write transaction: all of it or, when it throws, nothing. Inside another one it is part of that. */
  transaction<T>(work: () => T): T;
  /** Safe to call twice. */
  close(): void;
}

/** How to reach each SQLite. Tests hand in their own. */
export interface DriverLoaders {
  /** Undefined where this runtime has none. */
  nodeSqlite(): typeof nodeSqlite | undefined;
  /** Throws whatever keeps the package from loading. */
  betterSqlite3(): typeof betterSqlite3;
}

/** Node 22 warns that its SQLite is experimental; what we use of it is stable, and stderr is for people. */
function withoutWarnings<T>(work: () => T): T {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => undefined;
  try {
    return work();
  } finally {
    process.emitWarning = emitWarning;
  }
}

const LOADERS: DriverLoaders = {
  nodeSqlite() {
    const found = withoutWarnings(() => process.getBuiltinModule?.("node:sqlite"));
    // Earlier versions had no iterate(): those are the ones behind a flag.
    return typeof found?.StatementSync.prototype.iterate === "function" ? found : undefined;
  },
  betterSqlite3: () => createRequire(import.meta.url)("better-sqlite3") as typeof betterSqlite3,
};

interface Connection {
  readonly driver: DriverName;
  prepare(sql: string): Statement;
  exec(sql: string): void;
  close(): void;
}

function openNodeSqlite(module: typeof nodeSqlite, path: string): Connection {
  const database = new module.DatabaseSync(path);
  return {
    driver: "node:sqlite",
    exec: (sql) => database.exec(sql),
    close: () => database.close(),
    prepare(sql) {
      const statement = database.prepare(sql);
      // Big integers are off, so rows hold SqlValue only.
      return {
        run(...params) {
          const { changes, lastInsertRowid } = statement.run(...params);
          return { changes: Number(changes), lastId: Number(lastInsertRowid) };
        },
        get: (...params) => statement.get(...params) as SqlRow | undefined,
        all: (...params) => statement.all(...params) as SqlRow[],
        iterate: (...params) => statement.iterate(...params) as IterableIterator<SqlRow>,
      };
    },
  };
}

function openBetterSqlite3(Constructor: typeof betterSqlite3, path: string): Connection {
  const database = new Constructor(path);
  return {
    driver: "better-sqlite3",
    exec: (sql) => {
      database.exec(sql);
    },
    close: () => {
      database.close();
    },
    prepare(sql) {
      const statement = database.prepare<SqlValue[], SqlRow>(sql);
      return {
        run(...params) {
          const { changes, lastInsertRowid } = statement.run(...params);
          return { changes, lastId: Number(lastInsertRowid) };
        },
        get: (...params) => statement.get(...params),
        all: (...params) => statement.all(...params),
        iterate: (...params) => statement.iterate(...params),
      };
    },
  };
}

/**
 * The package loads its native part with the first database, so one is opened in memory: what fails here is the package, what
 * fails later is the file.
 */
function provenBetterSqlite3(loaders: DriverLoaders): typeof betterSqlite3 {
  try {
    const Constructor = loaders.betterSqlite3();
    new Constructor(":memory:").close();
    return Constructor;
  } catch (cause) {
    throw noDriver(cause);
  }
}

function connect(path: string, loaders: DriverLoaders): Connection {
  const builtIn = loaders.nodeSqlite();
  return builtIn === undefined ? openBetterSqlite3(provenBetterSqlite3(loaders), path) : openNodeSqlite(builtIn, path);
}

/**
 * Opens `path`, or `:memory:`. Throws `StoreError` "no-driver", or what the driver throws for a file it cannot open.
 * Sets nothing: pragmas, rights and migrations are `database.ts`.
 */
export function openDatabase(path: string, loaders: DriverLoaders = LOADERS): Database {
  const connection = connect(path, loaders);
  let isOpen = true;
  let depth = 0;
  return {
    driver: connection.driver,
    prepare: connection.prepare,
    exec: connection.exec,
    transaction<T>(work: () => T): T {
      if (depth > 0) return work();
      // IMMEDIATE takes the write lock now: a reader that turns writer in the middle could not wait for it.
      connection.exec("BEGIN IMMEDIATE");
      depth++;
      try {
        const value = work();
        connection.exec("COMMIT");
        return value;
      } catch (error) {
        rollBack(connection);
        throw error;
      } finally {
        depth--;
      }
    },
    close() {
      if (!isOpen) return;
      isOpen = false;
      connection.close();
    },
  };
}

/** A full disk makes SQLite roll back by itself; a second ROLLBACK must not hide the first error. */
function rollBack(connection: Connection): void {
  try {
    connection.exec("ROLLBACK");
  } catch {
    // There is no transaction any more.
  }
}
