/** A database in memory whose writes a test can make fail, and whose statements it can watch. */
import { type OpenedDatabase, openHubDatabase } from "../../src/store/database.ts";
import type { Database } from "../../src/store/driver.ts";

export interface FragileDatabase extends Database {
  /** Thrown by every transaction while it is set. */
  fault: Error | undefined;
  readonly executed: string[];
}

/** What a driver throws for a result code of SQLite. */
export function sqliteError(code: string): Error {
  return Object.assign(new Error(`synthetic ${code}`), { code });
}

export function fragileDatabase(opened: OpenedDatabase = openHubDatabase(":memory:", 0)): FragileDatabase {
  const { database } = opened;
  const executed: string[] = [];
  const fragile: FragileDatabase = {
    driver: database.driver,
    fault: undefined,
    executed,
    prepare: (sql) => database.prepare(sql),
    exec(sql) {
      executed.push(sql);
      database.exec(sql);
    },
    transaction(work) {
      return database.transaction(() => {
        const value = work();
        // At the end, as a full disk would: what was done so far has to be undone.
        if (fragile.fault !== undefined) throw fragile.fault;
        return value;
      });
    },
    close: () => database.close(),
  };
  return fragile;
}
