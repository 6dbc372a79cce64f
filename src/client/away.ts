/** What happened while nobody looked, in numbers. Pure. */
import { ACP } from "../protocol/acp.ts";
import { HUB } from "../protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import type { AwayDigest, TranscriptInput } from "./transcript/item.ts";

/** Shorter absences are a tunnel or a lift: nobody needs a report. */
export const AWAY_MS = 300_000;

/** Undefined when nothing worth a line happened. */
export function awayDigest(news: readonly TranscriptInput[], before: JsonObject | undefined): AwayDigest | undefined {
  const files = new Set<string>();
  const failed = new Set<string>();
  let decisions = 0;
  let turns = 0;
  let failedTurns = 0;
  let usage = before;
  for (const input of news) {
    if (input.kind !== "event") continue;
    const { method, params } = input;
    if (method === HUB.interactionSettled) decisions += 1;
    else if (method === HUB.turn && params["error"] !== undefined) failedTurns += 1;
    else if (method === HUB.turn && params["stopReason"] !== undefined) turns += 1;
    else if (method === ACP.sessionUpdate) {
      const update = objectAt(params, "update");
      if (stringAt(update, "sessionUpdate") === "usage_update") usage = update;
      if (stringAt(update, "status") === "failed") failed.add(stringAt(update, "toolCallId") ?? "");
      for (const part of (arrayAt(update, "content") ?? []).filter(isObject)) {
        if (part["type"] === "diff") files.add(stringAt(part, "path") ?? "");
      }
    }
  }
  const cost = costBetween(before, usage);
  const counts = { decisions, turns, failedTurns, files: files.size, failures: failed.size };
  if (cost === undefined && Object.values(counts).every((count) => count === 0)) return undefined;
  return { ...counts, ...(cost !== undefined && { cost }) };
}

/** What the agent reported to have spent: it counts from the beginning of the session. */
function costBetween(before: JsonObject | undefined, after: JsonObject | undefined): AwayDigest["cost"] {
  const [earlier, later] = [objectAt(before, "cost"), objectAt(after, "cost")];
  const amount = (numberAt(later, "amount") ?? 0) - (numberAt(earlier, "amount") ?? 0);
  const currency = stringAt(later, "currency");
  const isSame = earlier === undefined || stringAt(earlier, "currency") === currency;
  return amount > 0 && currency !== undefined && isSame ? { amount, currency } : undefined;
}
