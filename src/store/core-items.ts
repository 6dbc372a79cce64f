/**
 * The core's journal items as the store keeps them, and back. The stored message is {ts, method, params, by?, promptId?,
 * synthetic?}; joined text stands written out in its params, its piece lengths beside the message.
 */
import { coalesce } from "../core/journal/coalesce.ts";
import { type JournalItem as CoreItem, itemParams, joinableText, type TextRun } from "../core/journal/item.ts";
import { ACP } from "../protocol/acp.ts";
import { type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import { readBy } from "../protocol/meta.ts";
import type { Coalesce, JoinRule, JournalItem } from "./ports.ts";

export function toStored(item: CoreItem): JournalItem {
  const message: JsonObject = {
    ts: item.ts,
    method: item.method,
    params: itemParams(item),
    ...(item.by !== undefined && { by: { ...item.by } }),
    ...(item.promptId !== undefined && { promptId: item.promptId }),
    ...(item.synthetic !== undefined && { synthetic: item.synthetic }),
  };
  const pieces = item.run?.pieces;
  // A coalesced run has given its pieces up: no cursor inside it is served.
  if (pieces === undefined || pieces.length === 0) return { first: item.first, last: item.last, message };
  return { first: item.first, last: item.last, pieces: [...pieces], message };
}

function runOf(item: JournalItem, method: string, params: JsonObject): TextRun | undefined {
  const run = method === ACP.sessionUpdate ? joinableText(params) : undefined;
  if (run === undefined) return undefined;
  if (item.pieces !== undefined) return { ...run, pieces: [...item.pieces] };
  return item.first === item.last ? run : { ...run, pieces: [] };
}

export function fromStored(item: JournalItem): CoreItem {
  const { message } = item;
  const method = stringAt(message, "method") ?? "";
  const params = objectAt(message, "params") ?? {};
  const by = readBy(message["by"]);
  const promptId = stringAt(message, "promptId");
  const synthetic = stringAt(message, "synthetic");
  const run = runOf(item, method, params);
  return {
    first: item.first,
    last: item.last,
    ts: numberAt(message, "ts") ?? 0,
    method,
    // As the core keeps it: joined text holds nothing of its params but the session.
    params: run === undefined ? params : { sessionId: params["sessionId"] },
    ...(by !== undefined && { by }),
    ...(promptId !== undefined && { promptId }),
    ...((synthetic === "local" || synthetic === "root") && { synthetic }),
    ...(run !== undefined && { run }),
  };
}

const updateOf = (message: JsonObject): JsonObject | undefined => objectAt(objectAt(message, "params"), "update");

const authorOf = (message: JsonObject): string | undefined => stringAt(objectAt(message, "by"), "connectionId");

/** The same text rule as the core's own journal. */
export const joinRule: JoinRule = {
  textOf: (item) => stringAt(objectAt(updateOf(item.message), "content"), "text"),
  isSameMessage(earlier, later) {
    const [a, b] = [updateOf(earlier), updateOf(later)];
    if (a?.["sessionUpdate"] !== b?.["sessionUpdate"] || a?.["messageId"] !== b?.["messageId"]) return false;
    if (earlier["promptId"] !== later["promptId"] || earlier["synthetic"] !== later["synthetic"]) return false;
    return authorOf(earlier) === authorOf(later);
  },
  joined(earlier, later, text) {
    const params = objectAt(earlier, "params");
    const update = { ...objectAt(params, "update"), content: { type: "text", text } };
    return { ...earlier, ts: later["ts"] ?? earlier["ts"], params: { ...params, update } };
  },
};

export const coalesceItems: Coalesce = (items) => coalesce(items.map(fromStored)).map(toStored);
