/** The environment as a layer of the configuration: `http.origins` is `ACP_HUB_HTTP_ORIGINS`. */
import type { Json } from "../protocol/json.ts";
import { LEAVES, type Leaf } from "./schema.ts";

const PREFIX = "ACP_HUB_";

/** Read elsewhere: by bridges and commands, not part of the configuration. */
const OTHERS: ReadonlySet<string> = new Set([
  "ACP_HUB_HOME",
  "ACP_HUB_INSTANCE_ID",
  "ACP_HUB_NO_AUTOSTART",
  "ACP_HUB_NO_SHARE",
  "ACP_HUB_TOKEN",
  "ACP_HUB_URL",
]);

export interface LayerValue {
  readonly path: readonly string[];
  readonly value: Json;
  /** What a person calls it: the variable, the flag. */
  readonly from: string;
}

export interface EnvLayer {
  readonly values: readonly LayerValue[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

export const envName = (path: readonly string[]): string =>
  PREFIX + path.map((part) => part.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toUpperCase()).join("_");

const WORDS: ReadonlyMap<string, boolean> = new Map([
  ["1", true],
  ["true", true],
  ["yes", true],
  ["on", true],
  ["0", false],
  ["false", false],
  ["no", false],
  ["off", false],
]);

type Read = { readonly value: Json } | { readonly problem: string };

/** The value a text stands for. What cannot be one stays text or is a problem; the schema has the last word. */
export function readText(leaf: Leaf, text: string): Read {
  switch (leaf.type) {
    case "string":
      return { value: text };
    case "number":
      return /^-?\d+$/.test(text) ? { value: Number(text) } : { problem: "must be a whole number" };
    case "boolean": {
      const value = WORDS.get(text.toLowerCase());
      return value === undefined ? { problem: "must be true or false" } : { value };
    }
    case "strings":
      return { value: text.split(",").flatMap((part) => part.trim() || []) };
    case "json":
      try {
        return { value: JSON.parse(text) as Json };
      } catch {
        return { problem: "must be JSON" };
      }
  }
}

/** An empty variable counts as none: that is how a person unsets one in a unit file. */
export function envLayer(env: Readonly<Record<string, string | undefined>>): EnvLayer {
  const values: LayerValue[] = [];
  const problems: string[] = [];
  const known = new Set(OTHERS);
  for (const leaf of LEAVES) {
    const name = envName(leaf.path);
    known.add(name);
    const text = env[name];
    if (text === undefined || text === "") continue;
    const read = readText(leaf, text);
    if ("problem" in read) problems.push(`${name} ${read.problem}`);
    else values.push({ path: leaf.path, value: read.value, from: name });
  }
  const unknown = Object.keys(env).filter((name) => name.startsWith(PREFIX) && !known.has(name));
  return { values, problems, warnings: unknown.sort().map((name) => `${name} is not known and is ignored`) };
}
