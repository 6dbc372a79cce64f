/** Everything about the command line and environment of the app-server, decided before the spawn. */
import { realpathSync, statSync } from "node:fs";
import { basename, delimiter, dirname, isAbsolute, join } from "node:path";
import { ZcodeError } from "../rpc/errors.ts";
import { isScript, resolveExecutable } from "./executable.ts";
import { chooseNode, nodeCandidates, nodeFlags } from "./node-choice.ts";
import { BUILTIN_VAR, PERSONAL_VAR, providerFileEnv } from "./provider-files.ts";
import { credentialProvider, loadUserConfig } from "./user-config.ts";

export type Env = Readonly<Record<string, string | undefined>>;

export interface LaunchSpec {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Env;
}

export interface LaunchInput {
  readonly env: Env;
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Whether a Node can run ZCode's script. Default: it opens an in-memory database. */
  readonly canRun?: (node: string) => Promise<boolean>;
}

/** These tools call back into a scheduler nobody serves here, and trap the model in it. */
const AUTOMATION_TOOLS = ["CronCreate", "CronList", "CronUpdate", "CronDelete"];

const isFile = (path: string): boolean => {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** The absolute path of a command on this PATH, or undefined. */
export function findOnPath(command: string, env: Env): string | undefined {
  for (const dir of (env["PATH"] ?? "").split(delimiter)) {
    const path = join(dir, command);
    if (dir !== "" && isAbsolute(path) && isFile(path)) return path;
  }
  return undefined;
}

/** The directory of ZCode's data: `ZCODE_HOME`, else `~/.zcode`. */
export const zcodeHomeOf = (env: Env, home: string): string => env["ZCODE_HOME"] ?? join(home, ".zcode");

/** Tools the app-server is told not to offer, as its argument wants them. */
export function disallowedTools(env: Env): string {
  const own = (env["ZCODE_DISALLOWED_TOOLS"] ?? "").split(/[\s,]+/).filter((tool) => tool !== "");
  const base = env["ZCODE_ENABLE_AUTOMATION_TOOLS"] === "1" ? [] : AUTOMATION_TOOLS;
  return [...new Set([...base, ...own])].join(" ");
}

const realpath = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};

/** The child's environment. Our own credentials never reach the agent. */
export function childEnv(input: LaunchInput, script: string): Env {
  const { env } = input;
  const zcodeHome = zcodeHomeOf(env, input.home);
  const providers = loadUserConfig(zcodeHome);
  const kept: Record<string, string | undefined> = {};
  for (const [name, value] of Object.entries(env)) {
    const isOurs = name.startsWith("ACP_HUB_") || name === "ZCODE_ACP_REMOTE_TOKEN";
    if (!isOurs && name !== BUILTIN_VAR && name !== PERSONAL_VAR) kept[name] = value;
  }
  const ownFile = join(zcodeHome, "v2", "acp-hub-provider_config.json");
  Object.assign(kept, providerFileEnv({ script: realpath(script), zcodeHome, ownFile, env, providers }));
  const credential = credentialProvider(providers, env["ZCODE_PROVIDER"]);
  if (credential?.apiKey !== undefined) kept["ANTHROPIC_API_KEY"] = credential.apiKey;
  if (credential?.baseUrl !== undefined) kept["ZCODE_BASE_URL"] = credential.baseUrl;
  // The CLI always appends `.zcode` itself, so only a home of that name can be passed on.
  if (env["ZCODE_HOME"] !== undefined && basename(zcodeHome) === ".zcode") {
    kept["ZCODE_DATA_BASE_DIR"] = dirname(zcodeHome);
  }
  return kept;
}

/** Arguments after the executable. */
export function appServerArgs(input: LaunchInput): string[] {
  const tools = disallowedTools(input.env);
  return ["app-server", "--stdio", ...(tools === "" ? [] : ["--disallowed-tools", tools])];
}

/**
 * Decides what to run. Rejects with ZcodeError `dead` when a script was found but no Node that can run it.
 */
export async function planLaunch(input: LaunchInput): Promise<LaunchSpec> {
  const onPath = (command: string): string | undefined => findOnPath(command, input.env);
  const executable = resolveExecutable({ env: input.env, platform: input.platform, home: input.home, isFile, onPath });
  const env = childEnv(input, executable);
  const args = appServerArgs(input);
  if (!isScript(executable)) return { command: executable, args, env };
  const node = await chooseNode(nodeCandidates(input.env, input.home, onPath), input.canRun);
  if (node === undefined) {
    throw new ZcodeError(
      "dead",
      `No Node with node:sqlite (22 or newer) was found to run ${executable}; set ZCODE_NODE`,
    );
  }
  return { command: node, args: [...nodeFlags(input.env), executable, ...args], env };
}
