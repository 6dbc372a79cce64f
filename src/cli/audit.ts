/** `acp-hub audit tail/export`: who prompted, answered, cancelled, paired and revoked, from which device. */
import { isObject, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { readArgs, readNumber } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";
import { callHubOk } from "./local-api.ts";

const USAGE = `acp-hub audit tail [--limit N] [--json] [--home DIR]
       acp-hub audit export [--home DIR]      all entries, one JSON object a line`;

const OPTIONS = { limit: { type: "string" }, json: { type: "boolean" }, home: { type: "string" } } as const;
const PAGE = 500;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, 1);
    const paths = homePaths(values.home);
    const [action = "tail"] = positionals;
    if (action === "tail") {
      const limit = readNumber("--limit", values.limit, 1, 1000) ?? 50;
      const entries = entriesOf(await callHubOk(paths, "GET", `/api/audit?limit=${limit}`));
      for (const entry of entries)
        process.stdout.write(`${values.json === true ? JSON.stringify(entry) : words(entry)}\n`);
      return EXIT.ok;
    }
    if (action !== "export") throw new UsageError(`Say tail or export\nUsage: ${USAGE}`);
    let after = 0;
    for (;;) {
      const entries = entriesOf(await callHubOk(paths, "GET", `/api/audit?after=${after}&limit=${PAGE}`));
      for (const entry of entries) process.stdout.write(`${JSON.stringify(entry)}\n`);
      const last = entries.at(-1)?.["id"];
      if (entries.length < PAGE || typeof last !== "number") return EXIT.ok;
      after = last;
    }
  },
};

function entriesOf(answer: unknown): JsonObject[] {
  const entries = isObject(answer) ? answer["entries"] : undefined;
  return Array.isArray(entries) ? entries.filter(isObject) : [];
}

function words(entry: JsonObject): string {
  const actor = objectAt(entry, "actor");
  const at = typeof entry["at"] === "number" ? new Date(entry["at"]).toISOString() : "";
  const from = stringAt(actor, "address");
  const who = `${stringAt(actor, "name") ?? "?"}${from === undefined ? "" : ` (${from})`}`;
  return `${at}  ${who}  ${stringAt(entry, "action") ?? ""}  ${stringAt(entry, "target") ?? ""}`;
}
