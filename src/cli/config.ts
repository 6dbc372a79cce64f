/** `acp-hub config`: the effective configuration, and where each value comes from (contract §1). */

import type { LoadedConfig } from "../config/load.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { loadedConfig } from "./effective-config.ts";
import { EXIT, UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";

const USAGE = `acp-hub config path [--home DIR]
       acp-hub config get [key] [--home DIR]
       acp-hub config explain [key] [--json] [--home DIR]`;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(
      argv,
      { json: { type: "boolean" }, home: { type: "string" } } as const,
      USAGE,
      { path: 1, get: 2, explain: 2 },
    );
    const [verb, key] = positionals;
    const paths = homePaths(values.home);
    if (verb === "path") process.stdout.write(`${paths.configFile}\n`);
    else if (verb === "get") process.stdout.write(textOf(loadedConfig(paths), key));
    else if (verb === "explain") process.stdout.write(explanation(loadedConfig(paths), key, values.json === true));
    else throw new UsageError(`Say what to show of the configuration\nUsage: ${USAGE}`);
    return EXIT.ok;
  },
};

type Explained = LoadedConfig["explained"];

/** The values of a key and of those below it. */
function below({ explained }: LoadedConfig, key: string | undefined): Explained {
  const found = explained.filter((each) => key === undefined || each.key === key || each.key.startsWith(`${key}.`));
  if (found.length > 0) return found;
  throw new UsageError(`There is no "${key}" in the configuration: acp-hub config explain lists every key`);
}

/** One value alone on its line, several as `key = value`. A text is printed as it is, for scripts. */
function textOf(loaded: LoadedConfig, key: string | undefined): string {
  const found = below(loaded, key);
  const [first] = found;
  if (found.length === 1 && first?.key === key)
    return first?.value === undefined
      ? ""
      : `${typeof first.value === "string" ? first.value : JSON.stringify(first.value)}\n`;
  return found.map((each) => `${each.key} = ${JSON.stringify(each.value ?? null)}\n`).join("");
}

function explanation(loaded: LoadedConfig, key: string | undefined, isJson: boolean): string {
  const found = below(loaded, key);
  if (isJson) return `${JSON.stringify(found, null, 2)}\n`;
  const width = Math.max(...found.map((each) => each.key.length));
  const file = loaded.file.exists ? loaded.file.path : `${loaded.file.path} (not there)`;
  const lines = found.map(({ key: name, value, source, from }) => {
    const where = from === undefined ? source : `${source}: ${from}`;
    return `${name.padEnd(width)}  ${JSON.stringify(value ?? null)}  (${where})`;
  });
  return `${file}\n${lines.join("\n")}\n`;
}
