/** `config.json` as it stands, for those that need a word of it and must not pay for the schema. Absent or broken: empty. */
import { readFile } from "node:fs/promises";
import { isObject, type JsonObject } from "../protocol/json.ts";
import { resolvePaths } from "./paths.ts";

export async function readRawConfig(home: string | undefined): Promise<JsonObject> {
  const text = await readFile(resolvePaths(home).configFile, "utf8").catch(() => undefined);
  if (text === undefined) return {};
  const { parse } = await import("jsonc-parser");
  const config: unknown = parse(text);
  return isObject(config) ? config : {};
}
