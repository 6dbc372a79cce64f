/** Merges a tool call with its updates into its latest state (S4). Pure. */
import { isObject, type Json, type JsonObject, put } from "../../protocol/json.ts";

export const isToolKind = (kind: unknown): boolean => kind === "tool_call" || kind === "tool_call_update";

/** `_meta.terminal_output.data` is a stream: pieces of one terminal add up, everything else replaces. */
function mergeTerminal(before: Json | undefined, after: Json | undefined): Json | undefined {
  if (!isObject(before) || !isObject(after)) return after ?? before;
  if (before["terminal_id"] !== after["terminal_id"]) return after;
  if (typeof before["data"] !== "string" || typeof after["data"] !== "string") return after;
  return { ...before, ...after, data: before["data"] + after["data"] };
}

function mergeMeta(before: JsonObject, after: JsonObject): JsonObject {
  const merged: JsonObject = { ...before, ...after };
  const output = mergeTerminal(before["terminal_output"], after["terminal_output"]);
  if (output !== undefined) merged["terminal_output"] = output;
  return merged;
}

/** The card after `update`. Members left out or null keep their value; content, locations and raw output replace. */
export function mergeToolCard(card: JsonObject, update: JsonObject): JsonObject {
  const merged: JsonObject = { ...card };
  for (const [key, value] of Object.entries(update)) {
    if (value === null || value === undefined || key === "sessionUpdate") continue;
    const before = merged[key];
    put(merged, key, key === "_meta" && isObject(before) && isObject(value) ? mergeMeta(before, value) : value);
  }
  if (update["sessionUpdate"] === "tool_call") merged["sessionUpdate"] = "tool_call";
  return merged;
}
