/** Looks at the database without the hub's opening of it, which repairs, migrates and moves damaged files aside. */
import { statSync } from "node:fs";
import { openDatabase } from "../store/driver.ts";
import { asStoreError } from "../store/errors.ts";
import { SCHEMA_VERSION } from "../store/migrations.ts";
import { NoDriverError } from "../store/no-driver.ts";
import type { StorageFault } from "./storage-state.ts";

export type DatabaseCheck =
  | { readonly kind: "absent"; readonly driver: string }
  | { readonly kind: "ok"; readonly driver: string; readonly bytes: number }
  | { readonly kind: "newer"; readonly version: number }
  | { readonly kind: "no-driver"; readonly what: string; readonly fix: string }
  | { readonly kind: "failed"; readonly code: StorageFault; readonly reason: string };

/** Reads the catalogue and the format alone: a whole check of a large file would hold up a hub that runs. Never throws. */
export function checkDatabase(path: string): DatabaseCheck {
  try {
    return look(path);
  } catch (error) {
    if (error instanceof NoDriverError) return { kind: "no-driver", what: error.what, fix: error.fix };
    const code = error instanceof Error && "code" in error ? `${String(error.code)}: ` : "";
    const reason = `${code}${error instanceof Error ? error.message : String(error)}`;
    return { kind: "failed", code: asStoreError(error, "opening the database").code, reason };
  }
}

function look(path: string): DatabaseCheck {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  // A hub that is yet to make its database needs an SQLite that works, too.
  const database = openDatabase(size === undefined ? ":memory:" : path);
  try {
    const { driver } = database;
    if (size === undefined) return { kind: "absent", driver };
    database.prepare("SELECT count(*) AS count FROM sqlite_master").get();
    const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
    return version > SCHEMA_VERSION ? { kind: "newer", version } : { kind: "ok", driver, bytes: size };
  } finally {
    database.close();
  }
}
