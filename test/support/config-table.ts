/** The configuration as a table for people, made from its schema. */
import { envName } from "../../src/config/env-layer.ts";
import { jsonSchema, LEAVES } from "../../src/config/schema.ts";
import { isObject, type Json, type JsonObject } from "../../src/protocol/json.ts";

/** Markdown; one row per key. */
export function configTable(): string {
  const schema: unknown = JSON.parse(JSON.stringify(jsonSchema()));
  const rows = LEAVES.map(({ path }) => {
    const node = isObject(schema) ? nodeAt(schema, path) : {};
    const value = node["default"];
    const shown = value === undefined ? "" : `\`${JSON.stringify(value)}\``;
    const text = typeof node["description"] === "string" ? node["description"].replace(/ Default \d+\.$/, "") : "";
    return `| \`${path.join(".")}\` | ${shown} | ${text.replaceAll(/[|<]/g, "\\$&")} | \`${envName(path)}\` |`;
  });
  return ["| key | default | what it is | environment |", "|---|---|---|---|", ...rows].join("\n");
}

function nodeAt(schema: JsonObject, path: readonly string[]): JsonObject {
  return path.reduce<JsonObject>((node, part) => {
    const properties: Json | undefined = node["properties"];
    const next = isObject(properties) ? properties[part] : undefined;
    return isObject(next) ? next : {};
  }, schema);
}
