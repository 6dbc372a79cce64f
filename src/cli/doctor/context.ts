/** What all checks look at, read once. */
import { homedir } from "node:os";
import type { Config } from "../../config/config.ts";
import { DEFAULT_CONFIG } from "../../config/config.ts";
import { ConfigError, loadConfig } from "../../config/load.ts";
import type { Paths } from "../../config/paths.ts";
import type { DiscoveryState } from "../../hub/discovery.ts";
import type { StorageState } from "../../hub/storage-state.ts";
import { VERSION } from "../../protocol/version.ts";
import { type HubInfo, readHubInfo } from "../local-api.ts";
import { askLocal, type LocalAnswer } from "./ask-local.ts";

export interface ConfigReport {
  /** The effective one; the defaults where it cannot be used. */
  readonly config: Config;
  readonly warnings: readonly string[];
  readonly problems: readonly string[];
}

export interface DoctorContext {
  readonly paths: Paths;
  readonly env: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  readonly version: string;
  readonly nodeVersion: string;
  readonly now: () => number;
  readonly configuration: ConfigReport;
  /** What `run/hub.json` says; it may be left from a hub that died. */
  readonly info: HubInfo | undefined;
  /** The hub's answer on its local socket; undefined when none answers. */
  readonly hub: LocalAnswer | undefined;
  /** Undefined when no hub runs. */
  readonly discovery: DiscoveryState | undefined;
  /** Whether the hub writes what happens; undefined when none runs, or one that does not say. */
  readonly storage: StorageState | undefined;
}

export interface ContextInput {
  readonly paths: Paths;
  readonly env: NodeJS.ProcessEnv;
  /** In the hub's own process: its state. Otherwise it is asked for. */
  readonly discovery?: DiscoveryState | undefined;
  readonly storage?: StorageState | undefined;
}

export async function doctorContext({ paths, env, discovery, storage }: ContextInput): Promise<DoctorContext> {
  const [info, hub] = await Promise.all([readHubInfo(paths), askLocal(paths.apiSocket, "/readyz")]);
  const isInside = discovery !== undefined;
  const told = hub === undefined || isInside ? undefined : await askState(paths);
  return {
    paths,
    env,
    platform: process.platform,
    home: env["HOME"] || homedir(),
    version: VERSION,
    nodeVersion: process.versions.node,
    now: Date.now,
    configuration: readConfiguration(paths, env),
    info,
    hub,
    discovery: discovery ?? told?.discovery,
    storage: storage ?? told?.storage,
  };
}

function readConfiguration(paths: Paths, env: NodeJS.ProcessEnv): ConfigReport {
  try {
    const { config, warnings } = loadConfig({ file: paths.configFile, env });
    return { config, warnings, problems: [] };
  } catch (error) {
    const problems =
      error instanceof ConfigError ? error.problems : [error instanceof Error ? error.message : "unreadable"];
    return { config: DEFAULT_CONFIG, warnings: [], problems };
  }
}

interface HubState {
  readonly discovery?: DiscoveryState;
  readonly storage?: StorageState;
}

/** What the running hub says of itself; undefined when it does not. */
export async function askState(paths: Paths): Promise<HubState | undefined> {
  const answer = await askLocal(paths.apiSocket, "/api/diagnostics?only=none");
  if (answer?.status !== 200) return undefined;
  try {
    return JSON.parse(answer.text) as HubState;
  } catch {
    return undefined;
  }
}
