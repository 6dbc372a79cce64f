/** The context meter and the token counts. `totalTokenCount` is lifetime consumption and never a meter. */
import { type JsonObject, numberAt, objectAt } from "../../../protocol/json.ts";
import type { Update } from "./event.ts";

/** `used` tokens of a window of `size`; nothing when the size is unknown, because a meter without a scale is a lie. */
export function usageUpdate(used: number | undefined, size: number | undefined): Update | undefined {
  if (used === undefined || size === undefined || size <= 0) return undefined;
  return { sessionUpdate: "usage_update", used, size };
}

/** From a `session.updated` event; `fallbackSize` is the model's window, for a backend that says 0. */
export function usageOfEvent(payload: JsonObject, fallbackSize: number | undefined): Update | undefined {
  const used = numberAt(objectAt(payload, "usage"), "inputTokens");
  return usageUpdate(used, positive(numberAt(payload, "contextWindow")) ?? fallbackSize);
}

/** From a snapshot's projection. Zero is a real value: it is what a compaction leaves. */
export function usageOfProjection(
  projection: JsonObject | undefined,
  fallbackSize: number | undefined,
): Update | undefined {
  return usageUpdate(
    numberAt(projection, "contextUsed"),
    positive(numberAt(projection, "contextWindow")) ?? fallbackSize,
  );
}

const positive = (value: number | undefined): number | undefined =>
  value !== undefined && value > 0 ? value : undefined;

const NAMES = {
  inputTokens: "inputTokens",
  outputTokens: "outputTokens",
  totalTokens: "totalTokens",
  reasoningTokens: "thoughtTokens",
  cacheReadTokens: "cachedReadTokens",
  cacheWriteTokens: "cachedWriteTokens",
} as const;

/** The `usage` of a prompt response; undefined when the turn reported none. */
export function promptUsage(usage: JsonObject | undefined): JsonObject | undefined {
  const result: JsonObject = {};
  for (const [theirs, ours] of Object.entries(NAMES)) {
    const value = numberAt(usage, theirs);
    if (value !== undefined) result[ours] = value;
  }
  if (Object.keys(result).length === 0) return undefined;
  result["inputTokens"] ??= 0;
  result["outputTokens"] ??= 0;
  result["totalTokens"] ??= Number(result["inputTokens"]) + Number(result["outputTokens"]);
  return result;
}
