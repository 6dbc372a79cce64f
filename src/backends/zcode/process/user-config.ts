/** What the user's own `~/.zcode/v2/config.json` says about providers. Read only; unknown members are ignored. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";

export interface ConfiguredModel {
  readonly modelId: string;
  readonly name: string;
  /** Empty for a model without levels. */
  readonly levels: readonly string[];
  readonly defaultLevel?: string;
  /** Tokens; undefined when the file does not say. */
  readonly contextWindow?: number;
}

export interface ConfiguredProvider {
  readonly providerId: string;
  readonly name: string;
  readonly isEnabled: boolean;
  readonly kind: string;
  readonly apiKey?: string;
  readonly baseUrl?: string;
  readonly models: readonly ConfiguredModel[];
}

function readModel(modelId: string, entry: JsonObject): ConfiguredModel {
  const reasoning = objectAt(entry, "reasoning");
  const levels = (arrayAt(reasoning, "variants") ?? []).filter((level): level is string => typeof level === "string");
  const defaultLevel = stringAt(reasoning, "defaultVariant");
  const contextWindow = numberAt(objectAt(entry, "limit"), "context");
  return {
    modelId,
    name: stringAt(entry, "name") ?? modelId,
    levels,
    ...(defaultLevel === undefined ? {} : { defaultLevel }),
    ...(contextWindow === undefined ? {} : { contextWindow }),
  };
}

function readModels(value: Json | undefined): ConfiguredModel[] {
  if (Array.isArray(value)) {
    return value.flatMap((entry) => {
      if (typeof entry === "string") return [readModel(entry, {})];
      const id = isObject(entry) ? (stringAt(entry, "id") ?? stringAt(entry, "modelId")) : undefined;
      return id === undefined || !isObject(entry) ? [] : [readModel(id, entry)];
    });
  }
  if (!isObject(value)) return [];
  return Object.entries(value).map(([id, entry]) => readModel(id, isObject(entry) ? entry : {}));
}

function readProvider(providerId: string, entry: JsonObject): ConfiguredProvider {
  const options = objectAt(entry, "options") ?? entry;
  const apiKey = stringAt(options, "apiKey");
  const baseUrl = stringAt(options, "baseURL") ?? stringAt(options, "baseUrl");
  return {
    providerId,
    name: stringAt(entry, "name") ?? providerId,
    isEnabled: entry["enabled"] !== false,
    kind: stringAt(entry, "kind") ?? "anthropic",
    ...(apiKey === undefined || apiKey === "" ? {} : { apiKey }),
    ...(baseUrl === undefined ? {} : { baseUrl }),
    models: readModels(entry["models"]),
  };
}

/** Reads the parsed file. Providers keep the order of the file. */
export function readUserConfig(value: unknown): ConfiguredProvider[] {
  const table = isObject(value) ? (value["provider"] ?? value["providers"]) : undefined;
  if (Array.isArray(table)) {
    return table.flatMap((entry) => {
      const id = isObject(entry) ? (stringAt(entry, "id") ?? stringAt(entry, "providerId")) : undefined;
      return id === undefined || !isObject(entry) ? [] : [readProvider(id, entry)];
    });
  }
  if (!isObject(table)) return [];
  return Object.entries(table).flatMap(([id, entry]) => (isObject(entry) ? [readProvider(id, entry)] : []));
}

/** Reads the file under `zcodeHome`; an absent or broken one has no providers. */
export function loadUserConfig(zcodeHome: string): ConfiguredProvider[] {
  try {
    return readUserConfig(JSON.parse(readFileSync(join(zcodeHome, "v2", "config.json"), "utf8")));
  } catch {
    return [];
  }
}

/** The provider whose key is used: the pinned one, else the first enabled one with a key. */
export function credentialProvider(
  providers: readonly ConfiguredProvider[],
  pinned: string | undefined,
): ConfiguredProvider | undefined {
  const usable = providers.filter((provider) => provider.isEnabled && provider.apiKey !== undefined);
  return usable.find((provider) => provider.providerId === pinned) ?? usable[0];
}
