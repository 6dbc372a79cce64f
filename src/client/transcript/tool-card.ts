/** Merges a tool call with its updates. The same rules as the journal's, so that a replayed card equals the live one (S4). */
import { isObject, type Json, type JsonObject } from "../../protocol/json.ts";

/** Terminal output held per card. Older output is cut from the front, and `isCut` says so. */
const TERMINAL_CHARS_MAX = 1024 * 1024;

/** What is left then: cut seldom, since every cut moves all that is shown of it. */
const TERMINAL_CHARS_KEPT = TERMINAL_CHARS_MAX * 0.75;

/** Pieces of one terminal add up; of another terminal, the later one stands. */
function mergeTerminal(before: Json | undefined, after: Json | undefined): Json | undefined {
  if (!isObject(before) || !isObject(after)) return after ?? before;
  if (before["terminal_id"] !== after["terminal_id"]) return after;
  if (typeof before["data"] !== "string" || typeof after["data"] !== "string") return after;
  return { ...before, ...after, ...bounded(before["data"] + after["data"]) };
}

function bounded(data: string): JsonObject {
  if (data.length <= TERMINAL_CHARS_MAX) return { data };
  const from = data.length - TERMINAL_CHARS_KEPT;
  const lineEnd = data.indexOf("\n", from);
  // In the middle of a line half a colour could be left.
  return { data: data.slice(lineEnd < 0 || lineEnd > from + LINE_CHARS_MAX ? from : lineEnd + 1), isCut: true };
}

const LINE_CHARS_MAX = 10_000;

function mergeMeta(before: JsonObject, after: JsonObject): JsonObject {
  const output = mergeTerminal(before["terminal_output"], after["terminal_output"]);
  return { ...before, ...after, ...(output !== undefined && { terminal_output: output }) };
}

/** The card after `update`: members left out or null keep their value, everything else replaces. */
export function mergeCard(card: JsonObject, update: JsonObject): JsonObject {
  const merged: JsonObject = { ...card };
  for (const [key, value] of Object.entries(update)) {
    if (value === null || value === undefined || key === "sessionUpdate") continue;
    const before = merged[key];
    merged[key] = key === "_meta" && isObject(before) && isObject(value) ? mergeMeta(before, value) : value;
  }
  return merged;
}
