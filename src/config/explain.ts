/** Each value with where it came from, for `config explain` and `config get`. Values that may be secret are left out. */
import { isObject, type Json, put } from "../protocol/json.ts";
import type { Config } from "./config.ts";
import type { ConfigFile } from "./config-file.ts";
import type { LayerValue } from "./env-layer.ts";
import { LEAVES } from "./schema.ts";

export type ConfigSource = "flag" | "environment" | "file" | "default";

export interface ExplainedValue {
  /** Dotted. */
  readonly key: string;
  /** Undefined when it is not set and has no default. */
  readonly value: Json | undefined;
  readonly source: ConfigSource;
  /** The flag, the variable, or the file's line. */
  readonly from?: string;
}

const HIDDEN = "(hidden)";
const SECRET_NAME = /token|secret|password|authorization|api_?key|cookie/i;
/** Objects whose values are secrets as often as not. */
const SECRET_PARENT = /^(env|headers)$/i;

/** A copy for showing: what stands in an environment or under a telling name is hidden. */
export function withoutSecrets(value: Json, isSecret = false): Json {
  if (Array.isArray(value)) return value.map((item) => withoutSecrets(item, isSecret));
  if (!isObject(value)) return isSecret ? HIDDEN : value;
  const copy = {};
  for (const [key, member] of Object.entries(value)) {
    if (member !== undefined)
      put(copy, key, withoutSecrets(member, isSecret || SECRET_NAME.test(key) || SECRET_PARENT.test(key)));
  }
  return copy;
}

function valueAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  return path.reduce<Json | undefined>((inner, part) => (isObject(inner) ? inner[part] : undefined), value);
}

const isAt =
  (path: readonly string[]) =>
  (layer: LayerValue): boolean =>
    layer.path.join(".") === path.join(".");

function originOf(
  path: readonly string[],
  file: ConfigFile,
  env: readonly LayerValue[],
  flags: readonly LayerValue[],
): Omit<ExplainedValue, "key" | "value"> {
  const flag = flags.find(isAt(path));
  if (flag !== undefined) return { source: "flag", from: flag.from };
  const variable = env.find(isAt(path));
  if (variable !== undefined) return { source: "environment", from: variable.from };
  if (valueAt(file.value, path) !== undefined) return { source: "file", from: file.placeOf(path) };
  return { source: "default" };
}

export function explain(
  config: Config,
  file: ConfigFile,
  env: readonly LayerValue[],
  flags: readonly LayerValue[],
): readonly ExplainedValue[] {
  const plain = JSON.parse(JSON.stringify(config)) as Json;
  return LEAVES.map(({ path }) => {
    const value = valueAt(plain, path);
    const shown = value === undefined ? undefined : withoutSecrets(value);
    return { key: path.join("."), value: shown, ...originOf(path, file, env, flags) };
  });
}
