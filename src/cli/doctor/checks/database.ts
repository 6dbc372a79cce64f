/** Whether the hub's database can be opened and read. */
import { checkDatabase, type DatabaseCheck } from "../../../hub/database-check.ts";
import type { StorageFault } from "../../../hub/storage-state.ts";
import type { DoctorContext } from "../context.ts";
import { type Check, type Finding, fail, ok } from "../finding.ts";

export const database: Check<DoctorContext> = {
  id: "database",
  run: ({ paths }) => Promise.resolve([findingOf(checkDatabase(paths.database))]),
};

function findingOf(result: DatabaseCheck): Omit<Finding, "id"> {
  switch (result.kind) {
    case "absent":
      return ok(`there is no database yet: the hub makes it (${result.driver})`);
    case "ok":
      return ok(`the database opens (${result.driver}, ${Math.ceil(result.bytes / 1_048_576)} MiB)`);
    case "newer":
      return fail(
        `the database is of a newer acp-hub (format ${result.version})`,
        "update acp-hub, or use another --home",
      );
    case "no-driver":
      return fail(`no database can be opened: ${result.what}`, result.fix);
    case "failed":
      return fail(`the database cannot be opened: ${result.reason}`, FIXES[result.code] ?? OTHER_FIX);
  }
}

const RIGHTS = "make the file and its directory yours to read and write";
const FIXES: Partial<Record<StorageFault, string>> = {
  damaged: "stop the hub and start it: it moves a damaged file aside and begins a new one",
  "cannot-open": RIGHTS,
  "read-only": RIGHTS,
  "disk-full": "free some space on its disk",
  io: "look at its disk: it may be full or failing",
  locked: "another program holds the database: end it",
};
const OTHER_FIX = "this is no fault acp-hub knows: report it, with the end of hub.log (acp-hub logs)";
