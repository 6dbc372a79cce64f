/** Whether the hub's database can be opened and read. */
import { checkDatabase } from "../../../hub/database-check.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, fail, ok } from "../finding.ts";

export const database: Check<DoctorContext> = {
  id: "database",
  run: ({ paths }) => {
    const result = checkDatabase(paths.database);
    switch (result.kind) {
      case "absent":
        return Promise.resolve([ok("there is no database yet: the hub makes it")]);
      case "ok":
        return Promise.resolve([
          ok(`the database opens (${result.driver}, ${Math.ceil(result.bytes / 1_048_576)} MiB)`),
        ]);
      case "newer":
        return Promise.resolve([
          fail(
            `the database is of a newer acp-hub (format ${result.version})`,
            "update acp-hub, or use another --home",
          ),
        ]);
      case "failed":
        return Promise.resolve([fail(`the database cannot be opened: ${result.reason}`, fixOf(result.reason))]);
    }
  },
};

function fixOf(reason: string): string {
  if (/no-driver|better-sqlite3/.test(reason)) return "use Node 22.13 or later, or npm install -g better-sqlite3";
  if (/malformed|not a database/.test(reason))
    return "stop the hub and start it: it moves a damaged file aside and begins a new one";
  return "look at the file's permissions and the free space of its disk";
}
