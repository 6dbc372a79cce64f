/** What happened while nobody looked, in numbers. Pure. */
import { ACP } from "../protocol/acp.ts";
import { HUB } from "../protocol/hub-methods.ts";
import { arrayAt, isObject, objectAt, stringAt } from "../protocol/json.ts";
import type { AwayDigest, TranscriptInput } from "./transcript/item.ts";

/** Shorter absences are a tunnel or a lift: nobody needs a report. */
export const AWAY_MS = 300_000;

/** Undefined when nothing worth a line happened. */
export function awayDigest(news: readonly TranscriptInput[]): AwayDigest | undefined {
  const files = new Set<string>();
  const failed = new Set<string>();
  let decisions = 0;
  let turns = 0;
  for (const input of news) {
    if (input.kind !== "event") continue;
    const { method, params } = input;
    if (method === HUB.interactionSettled) decisions += 1;
    else if (method === HUB.turn && (params["stopReason"] !== undefined || params["error"] !== undefined)) turns += 1;
    else if (method === ACP.sessionUpdate) {
      const update = objectAt(params, "update");
      if (stringAt(update, "status") === "failed") failed.add(stringAt(update, "toolCallId") ?? "");
      for (const part of (arrayAt(update, "content") ?? []).filter(isObject)) {
        if (part["type"] === "diff") files.add(stringAt(part, "path") ?? "");
      }
    }
  }
  const digest: AwayDigest = { decisions, turns, files: files.size, failures: failed.size };
  return Object.values(digest).some((count) => count > 0) ? digest : undefined;
}
