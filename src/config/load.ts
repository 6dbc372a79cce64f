/**
 * The effective configuration: flag over environment over file over default (contract §1), checked whole before anything
 * listens. Unknown keys are named and left out; everything else that is wrong is an error with its place.
 */
import { isObject, type Json, type JsonObject, put } from "../protocol/json.ts";
import { checkConfig } from "./check.ts";
import type { Config } from "./config.ts";
import { type ConfigFile, readConfigFile } from "./config-file.ts";
import { envLayer, type LayerValue } from "./env-layer.ts";
import { type ExplainedValue, explain } from "./explain.ts";
import { parseConfig, type SchemaIssue } from "./schema.ts";

export interface LoadOptions {
  /** `paths.configFile`. */
  readonly file: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** By dotted key: `{ host: "0.0.0.0", "log.level": "debug" }`. An undefined one was not given. */
  readonly flags?: Readonly<Record<string, Json | undefined>>;
  /** For tests. */
  readonly readFile?: (path: string) => string | undefined;
}

export interface LoadedConfig {
  readonly config: Config;
  /** For people, once at the start. */
  readonly warnings: readonly string[];
  readonly explained: readonly ExplainedValue[];
  readonly file: { readonly path: string; readonly exists: boolean };
}

/** The configuration cannot be used. `problems` are sentences, each with its place; exit code 2. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join("\n"));
    this.problems = problems;
  }
}

const dotted = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );

function flagLayer(flags: NonNullable<LoadOptions["flags"]>): LayerValue[] {
  return Object.entries(flags).flatMap(([key, value]) =>
    value === undefined ? [] : [{ path: key.split("."), value, from: `--${key}` }],
  );
}

/** Sets a value in a copy. Something else than an object on the way stays: the schema then complains about it. */
function withValue(object: JsonObject, [head = "", ...rest]: readonly string[], value: Json): JsonObject {
  const copy = { ...object };
  if (rest.length === 0) put(copy, head, value);
  else {
    const inner = copy[head] ?? {};
    if (isObject(inner)) put(copy, head, withValue(inner, rest, value));
  }
  return copy;
}

function without(object: JsonObject, path: readonly (string | number)[], keys: readonly string[]): JsonObject {
  const [head, ...rest] = path;
  if (head === undefined) return Object.fromEntries(Object.entries(object).filter(([key]) => !keys.includes(key)));
  const inner = object[String(head)];
  if (Array.isArray(inner)) {
    const [index, ...deeper] = rest;
    return {
      ...object,
      [head]: inner.map((item, at) => (at === index && isObject(item) ? without(item, deeper, keys) : item)),
    };
  }
  return isObject(inner) ? { ...object, [head]: without(inner, rest, keys) } : object;
}

/** Where a value came from, for a person: the variable, the flag, or the line. */
function placeOf(path: SchemaIssue["path"], layers: readonly LayerValue[], file: ConfigFile): string {
  const layer = layers.findLast((entry) => entry.path.every((part, index) => path[index] === part));
  return layer?.from ?? `${file.placeOf(path)} ${dotted(path)}`.trim();
}

interface Parsed {
  readonly config: Config;
  readonly warnings: readonly string[];
}

function parse(
  merged: JsonObject,
  layers: readonly LayerValue[],
  file: ConfigFile,
  warnings: readonly string[] = [],
): Parsed {
  const result = parseConfig(merged);
  if (result.ok) return { config: result.config, warnings };
  const unknown = result.issues.filter((issue) => issue.unknownKeys !== undefined);
  const wrong = result.issues.filter((issue) => issue.unknownKeys === undefined);
  const unknownPlaces = unknown.flatMap(({ path, unknownKeys = [] }) =>
    unknownKeys.map((key) => placeOf([...path, key], layers, file)),
  );
  if (wrong.length > 0) {
    // A mistyped name is often why the right one is missing.
    throw new ConfigError([
      ...wrong.map((issue) => `${placeOf(issue.path, layers, file)} ${issue.message}`),
      ...unknownPlaces.map((place) => `${place} is not known`),
    ]);
  }
  const named = unknownPlaces.map((place) => `${place} is not known and is ignored`);
  const known = unknown.reduce((value, { path, unknownKeys = [] }) => without(value, path, unknownKeys), merged);
  return parse(known, layers, file, [...warnings, ...named]);
}

/** Throws `ConfigError` with everything that is wrong, or what reading the file threw. */
export function loadConfig(options: LoadOptions): LoadedConfig {
  const file = readConfigFile(options.file, options.readFile);
  const env = envLayer(options.env);
  const layers = [...env.values, ...flagLayer(options.flags ?? {})];
  const early = [...file.problems, ...env.problems];
  if (early.length > 0) throw new ConfigError(early);
  const merged = layers.reduce((value, layer) => withValue(value, layer.path, layer.value), file.value);
  const { config, warnings } = parse(merged, layers, file);
  const findings = checkConfig(config);
  if (findings.problems.length > 0) throw new ConfigError(findings.problems);
  return {
    config,
    warnings: [...file.warnings, ...env.warnings, ...warnings, ...findings.warnings],
    explained: explain(config, file, env.values, flagLayer(options.flags ?? {})),
    file: { path: file.path, exists: file.exists },
  };
}
