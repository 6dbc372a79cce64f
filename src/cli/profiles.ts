/** What a bridge runs, of the configuration: `agents: {name: {command, args, env}}` and `zcode: {…}` (contract §1). */
import { resolvePaths } from "../config/paths.ts";
import { profileNames } from "../config/profiles.ts";
import { readRawConfig } from "../config/raw-file.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { UsageError } from "./exit.ts";

export interface AgentProfile {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A part of the configuration: the environment's whole, or else the file's. What cannot be read there is told, and the file holds. */
async function partOf(key: "agents" | "zcode", home: string | undefined): Promise<JsonObject> {
  const name = `ACP_HUB_${key.toUpperCase()}`;
  const text = process.env[name] ?? "";
  const said = text === "" ? undefined : parsed(text);
  if (said !== undefined) return said;
  if (text !== "") process.stderr.write(`acp-hub: ${name} must be a JSON object; what the file says holds\n`);
  return objectAt(await readRawConfig(home), key) ?? {};
}

function parsed(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Settings of the zcode profile. */
export const zcodeConfig = (home: string | undefined): Promise<JsonObject> => partOf("zcode", home);

/** The profile, or a usage error that names the ones there are. */
export async function findProfile(name: string, home: string | undefined): Promise<AgentProfile> {
  const { configFile } = resolvePaths(home);
  const agents = await partOf("agents", home);
  const profile = Object.hasOwn(agents, name) ? objectAt(agents, name) : undefined;
  const command = stringAt(profile, "command");
  if (command === undefined) {
    const known = profileNames(agents).join(", ");
    throw new UsageError(
      `There is no agent profile "${name}" (known: ${known}). Add it to ${configFile} under "agents", or give the command after --`,
    );
  }
  const args = (arrayAt(profile, "args") ?? []).filter((arg) => typeof arg === "string");
  const env = Object.entries(objectAt(profile, "env") ?? {}).filter(
    (entry): entry is [string, string] => typeof entry[1] === "string",
  );
  return { command, args, ...(env.length > 0 && { env: Object.fromEntries(env) }) };
}
