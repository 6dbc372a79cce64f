/** The keys of the configuration that are a bridge's own. Read while the agent starts; the schema would cost more than the start. */
import { type Json, type JsonObject, objectAt } from "../protocol/json.ts";
import { readRawConfig } from "./raw-file.ts";

export interface BridgeConfig {
  /** `capabilities.forms`: whose forms a spawned agent may count on (I3). */
  readonly forms: "any" | "primary";
  /** `autostart`: it starts a hub when none runs. */
  readonly isAutostart: boolean;
  /** What is wrong, in words that name the key: the default holds instead, because an editor must get its agent. */
  readonly problems: readonly string[];
}

const BOOLEANS: ReadonlyMap<Json | undefined, boolean> = new Map<Json | undefined, boolean>([
  [undefined, true],
  ...[true, "1", "true", "yes", "on"].map((word) => [word, true] as const),
  ...[false, "0", "false", "no", "off"].map((word) => [word, false] as const),
]);

export async function readBridgeConfig(home: string | undefined, env: NodeJS.ProcessEnv): Promise<BridgeConfig> {
  return bridgeConfigOf(await readRawConfig(home), env);
}

/** The environment is over the file, as everywhere. */
export function bridgeConfigOf(file: JsonObject, env: NodeJS.ProcessEnv): BridgeConfig {
  const problems: string[] = [];
  const wrong = (key: string, value: Json | undefined, expected: string): void =>
    void problems.push(`${key}: ${JSON.stringify(value)} must be ${expected}; the default holds`);
  const forms = env["ACP_HUB_CAPABILITIES_FORMS"] ?? objectAt(file, "capabilities")?.["forms"] ?? "any";
  if (forms !== "any" && forms !== "primary") wrong("capabilities.forms", forms, '"any" or "primary"');
  const said = env["ACP_HUB_AUTOSTART"]?.toLowerCase() ?? file["autostart"];
  const isAutostart = BOOLEANS.get(said);
  if (isAutostart === undefined) wrong("autostart", said, "true or false");
  return { forms: forms === "primary" ? "primary" : "any", isAutostart: isAutostart ?? true, problems };
}
