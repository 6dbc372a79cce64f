/** `acp-hub token create/list/revoke`: long-lived credentials for scripts. Works with and without a running hub. */
import { isObject, type JsonObject, stringAt } from "../protocol/json.ts";
import { readArgs, readDuration } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";
import { readScope } from "./hub-args.ts";
import { ownerApi } from "./owner-api.ts";
import { ago } from "./words.ts";

const USAGE = `acp-hub token create --scope viewer|approver|driver|owner --name NAME [--ttl 30d] [--query] [--home DIR]
       acp-hub token list [--json] [--home DIR]
       acp-hub token revoke <id> [--home DIR]`;

const OPTIONS = {
  scope: { type: "string" },
  name: { type: "string" },
  ttl: { type: "string" },
  query: { type: "boolean" },
  json: { type: "boolean" },
  home: { type: "string" },
} as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, { create: 1, list: 1, revoke: 2 });
    const [action, target] = positionals;
    const scope = readScope(values.scope);
    const ttlSeconds = readDuration("--ttl", values.ttl);
    const paths = homePaths(values.home);
    const api = await ownerApi(paths);
    try {
      switch (action) {
        case "create": {
          if (scope === undefined || values.name === undefined)
            throw new UsageError(`create needs --scope and --name\nUsage: ${USAGE}`);
          const wanted = {
            scope,
            name: values.name,
            query: values.query === true,
            ...(ttlSeconds !== undefined && { ttlSeconds }),
          };
          const made = await api.call("POST", "/api/tokens", wanted);
          process.stdout.write(`${stringAt(isObject(made) ? made : {}, "token") ?? ""}\n`);
          return EXIT.ok;
        }
        case "list":
          return list((await api.call("GET", "/api/devices")) as JsonObject[], values.json === true);
        case "revoke":
          if (target === undefined) throw new UsageError(`Name the token's id (acp-hub token list)\nUsage: ${USAGE}`);
          await api.call("DELETE", `/api/devices/${encodeURIComponent(target)}`);
          process.stderr.write(`Revoked ${target}.\n`);
          return EXIT.ok;
        default:
          throw new UsageError(`Say create, list or revoke\nUsage: ${USAGE}`);
      }
    } finally {
      await api.close();
    }
  },
};

function list(records: readonly JsonObject[], isJson: boolean): number {
  const tokens = records.filter((record) => record["kind"] === "script");
  if (isJson) process.stdout.write(`${JSON.stringify(tokens, null, 2)}\n`);
  else for (const token of tokens) process.stdout.write(`${describeDevice(token)}\n`);
  return EXIT.ok;
}

/** One line about a device or token. */
export function describeDevice(record: JsonObject): string {
  const seen = typeof record["lastSeenAt"] === "number" ? `, seen ${ago(record["lastSeenAt"])}` : ", never seen";
  const from = typeof record["lastAddress"] === "string" ? ` from ${record["lastAddress"]}` : "";
  return `${String(record["deviceId"])}  ${String(record["name"])}  ${String(record["scope"])}  ${String(record["kind"])}${seen}${from}`;
}
