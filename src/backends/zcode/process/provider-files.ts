/**
 * The two provider files an app-server of App >= 3.12.3 needs when it is started by anyone but the app. It gets both or
 * neither: with the built-in one alone it copies the table elsewhere and later ignores what the account pushes.
 */
import { chmodSync, mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { JsonObject } from "../../../protocol/json.ts";
import type { ConfiguredProvider } from "./user-config.ts";

export const BUILTIN_VAR = "ZCODE_BUILTIN_PROVIDER_CONFIG_FILE";
export const PERSONAL_VAR = "ZCODE_PERSONAL_PROVIDER_CONFIG_FILE";

const isFile = (path: string): boolean => {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
};

/** The built-in table beside a script, or undefined. `script` is the real path, symlinks resolved. */
export function builtinProviderFile(script: string, exists: (path: string) => boolean = isFile): string | undefined {
  const dir = dirname(script);
  const places = [join(dir, "provider"), join(dir, "..", "config", "provider")];
  return places.map((place) => join(place, "zcode-builtin.json")).find(exists);
}

function providerRule(provider: ConfiguredProvider): JsonObject {
  const models = provider.models.map((model) => model.modelId);
  return {
    providerId: provider.providerId,
    providerName: provider.name,
    config: {
      group: "standard-personal",
      access: { type: "api-key", apiKey: provider.apiKey ?? "" },
      api: { type: "anthropic-messages", ...(provider.baseUrl === undefined ? {} : { baseUrl: provider.baseUrl }) },
      personalModelIds: models,
      modelOrder: models,
    },
  };
}

/** The personal table built from the user's providers that have a key and speak the Anthropic dialect. */
export function personalProviderTable(providers: readonly ConfiguredProvider[]): JsonObject {
  const usable = providers.filter((p) => p.isEnabled && p.apiKey !== undefined && p.kind.startsWith("anthropic"));
  return {
    schemaVersion: 1,
    config: {
      providerConfigRules: { providerRules: usable.map(providerRule) },
      modelConfigRules: { providerModelRules: [], manualProviderModelRules: [] },
    },
  };
}

function writeOwnFile(path: string, table: JsonObject): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const temporary = `${path}.tmp-${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify(table)}\n`, { mode: 0o600 });
  chmodSync(temporary, 0o600);
  renameSync(temporary, path);
}

export interface ProviderFilesInput {
  /** Real path of ZCode's script or binary. */
  readonly script: string;
  readonly zcodeHome: string;
  /** Where our own personal file goes when the user has none. */
  readonly ownFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly providers: readonly ConfiguredProvider[];
}

/**
 * Both variables, or an empty object. What is derived beats what is inherited: inherited paths go stale when the app
 * updates. The user's own file is used where it exists and never written.
 */
export function providerFileEnv(input: ProviderFilesInput): Record<string, string> {
  const builtin = builtinProviderFile(input.script);
  if (builtin === undefined) {
    const inherited = [input.env[BUILTIN_VAR], input.env[PERSONAL_VAR]] as const;
    const [old, personal] = inherited;
    if (old === undefined || personal === undefined || !isFile(old) || !isFile(personal)) return {};
    return { [BUILTIN_VAR]: old, [PERSONAL_VAR]: personal };
  }
  const users = join(input.zcodeHome, "v2", "provider_config.json");
  if (isFile(users)) return { [BUILTIN_VAR]: builtin, [PERSONAL_VAR]: users };
  writeOwnFile(input.ownFile, personalProviderTable(input.providers));
  return { [BUILTIN_VAR]: builtin, [PERSONAL_VAR]: input.ownFile };
}
