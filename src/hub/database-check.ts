/** Looks at the database without the hub's opening of it, which repairs, migrates and moves damaged files aside. */
import { statSync } from "node:fs";
import { openDatabase } from "../store/driver.ts";
import { SCHEMA_VERSION } from "../store/migrations.ts";

export type DatabaseCheck =
  | { readonly kind: "absent" }
  | { readonly kind: "ok"; readonly driver: string; readonly bytes: number }
  | { readonly kind: "newer"; readonly version: number }
  | { readonly kind: "failed"; readonly reason: string };

/** Reads the catalogue and the format alone: a whole check of a large file would hold up a hub that runs. Never throws. */
export function checkDatabase(path: string): DatabaseCheck {
  const size = statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return { kind: "absent" };
  try {
    const database = openDatabase(path);
    try {
      database.prepare("SELECT count(*) AS count FROM sqlite_master").get();
      const version = Number(database.prepare("PRAGMA user_version").get()?.["user_version"] ?? 0);
      if (version > SCHEMA_VERSION) return { kind: "newer", version };
      return { kind: "ok", driver: database.driver, bytes: size };
    } finally {
      database.close();
    }
  } catch (error) {
    const code = error instanceof Error && "code" in error ? `${String(error.code)}: ` : "";
    return { kind: "failed", reason: `${code}${error instanceof Error ? error.message : String(error)}` };
  }
}
