/** `acp-hub sessions`: sessions of now and before, searched by their words. */
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import { ANY_WORDS, readArgs, readNumber, readOneOf } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";
import { homePaths } from "./home.ts";
import { callHubOk } from "./local-api.ts";
import { ago, oneLine } from "./words.ts";

const USAGE =
  "acp-hub sessions [words…] [--workspace DIR] [--state live|idle|running|waiting|closed] [--limit N] [--json] [--home DIR]";
const OPTIONS = {
  workspace: { type: "string" },
  state: { type: "string" },
  limit: { type: "string" },
  json: { type: "boolean" },
  home: { type: "string" },
} as const;
const LIMIT = 50;
const STATES = ["live", "idle", "running", "waiting", "closed"] as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, ANY_WORDS);
    const limit = readNumber("--limit", values.limit, 1, 10_000) ?? LIMIT;
    const state = readOneOf("--state", values.state, STATES);
    const paths = homePaths(values.home);
    const query = { q: positionals.join(" "), workspace: values.workspace, state };
    const found: JsonObject[] = [];
    let cursor: string | undefined;
    do {
      const page = await callHubOk(paths, "GET", `/api/sessions?${search({ ...query, cursor }, limit - found.length)}`);
      const result = isObject(page) ? page : {};
      found.push(...(arrayAt(result, "sessions") ?? []).filter(isObject));
      cursor = stringAt(result, "nextCursor");
    } while (cursor !== undefined && found.length < limit);
    if (values.json === true) process.stdout.write(`${JSON.stringify(found, null, 2)}\n`);
    else if (found.length > 0) process.stdout.write(`${found.map(describe).join("\n")}\n`);
    else process.stderr.write("No session was found.\n");
    return EXIT.ok;
  },
};

function search(query: Readonly<Record<string, string | undefined>>, limit: number): string {
  const words = Object.entries(query).filter(
    (pair): pair is [string, string] => pair[1] !== undefined && pair[1] !== "",
  );
  return new URLSearchParams([...words, ["limit", String(Math.min(limit, 200))]]).toString();
}

function describe(session: JsonObject): string {
  const title = oneLine(stringAt(session, "title") ?? "(no title)", 80);
  const head = `${stringAt(session, "sessionId") ?? ""}  ${title}  ${stringAt(session, "state") ?? ""}`;
  const where = `${stringAt(session, "cwd") ?? ""}, ${ago(numberAt(session, "updatedAt") ?? 0)}`;
  const snippet = stringAt(objectAt(session, "snippet"), "text");
  return `${head}, ${where}${snippet === undefined ? "" : `\n  ${oneLine(snippet, 200)}`}`;
}
