/** Agent profiles of the configuration: `agents: {name: {command, args, env}}` (contract §1). */
import { resolvePaths } from "../config/paths.ts";
import { readRawConfig } from "../config/raw-file.ts";
import { arrayAt, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { UsageError } from "./exit.ts";

export interface AgentProfile {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** Settings of the zcode profile: `zcode: {…}` of the configuration. */
export async function zcodeConfig(home: string | undefined): Promise<JsonObject> {
  const config = await readRawConfig(home);
  return objectAt(config, "zcode") ?? {};
}

/** The profile, or a usage error that names the ones there are. */
export async function findProfile(name: string, home: string | undefined): Promise<AgentProfile> {
  const { configFile } = resolvePaths(home);
  const agents = objectAt(await readRawConfig(home), "agents");
  const profile = agents !== undefined && Object.hasOwn(agents, name) ? objectAt(agents, name) : undefined;
  const command = stringAt(profile, "command");
  if (command === undefined) {
    const known = ["demo", "zcode", ...Object.keys(agents ?? {})].join(", ");
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
