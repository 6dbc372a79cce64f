/** `acp-hub devices`: paired devices and tokens; rename, revoke. Works with and without a running hub. */
import type { JsonObject } from "../protocol/json.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";
import { ownerApi } from "./owner-api.ts";
import { describeDevice } from "./token.ts";

const USAGE = `acp-hub devices [list] [--json] [--home DIR]
       acp-hub devices rename <id> <name> [--home DIR]
       acp-hub devices revoke <id> [--home DIR]`;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(
      argv,
      { json: { type: "boolean" }, home: { type: "string" } } as const,
      USAGE,
      { list: 1, rename: 3, revoke: 2 },
    );
    const [action = "list", id, name] = positionals;
    const api = await ownerApi(homePaths(values.home));
    try {
      if (action === "list") {
        const records = (await api.call("GET", "/api/devices")) as JsonObject[];
        if (values.json === true) process.stdout.write(`${JSON.stringify(records, null, 2)}\n`);
        else for (const record of records) process.stdout.write(`${describeDevice(record)}\n`);
        return EXIT.ok;
      }
      if (id === undefined) throw new UsageError(`Name the device's id (acp-hub devices)\nUsage: ${USAGE}`);
      const path = `/api/devices/${encodeURIComponent(id)}`;
      if (action === "revoke") await api.call("DELETE", path);
      else if (action === "rename" && name !== undefined) await api.call("PATCH", path, { name });
      else throw new UsageError(`Say list, rename or revoke\nUsage: ${USAGE}`);
      return EXIT.ok;
    } finally {
      await api.close();
    }
  },
};
