/** The configuration a command runs with; what is wrong with it becomes a usage error that names the place (exit 2). */
import type { Config } from "../config/config.ts";
import { ConfigError, type LoadedConfig, loadConfig } from "../config/load.ts";
import type { Paths } from "../config/paths.ts";
import type { Json } from "../protocol/json.ts";
import { UsageError } from "./exit.ts";

export function loadedConfig(paths: Paths, flags: Readonly<Record<string, Json | undefined>> = {}): LoadedConfig {
  try {
    return loadConfig({ file: paths.configFile, env: process.env, flags });
  } catch (error) {
    if (error instanceof ConfigError) throw new UsageError(error.problems.join("\n"), { cause: error });
    throw error;
  }
}

/** Warnings are said once, on stderr. */
export function effectiveConfig(paths: Paths, flags: Readonly<Record<string, Json | undefined>> = {}): Config {
  const { config, warnings } = loadedConfig(paths, flags);
  for (const warning of warnings) process.stderr.write(`acp-hub: ${warning}\n`);
  return config;
}
