/**
 * Coalesces a stretch of a journal for a reader (S4): chunks of one message become one, a tool call and its updates become its
 * latest state where it was first seen, state kinds only their last. Pure; order is kept.
 */
import { ACP, STATE_KINDS } from "../../protocol/acp.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { isObject, type JsonObject } from "../../protocol/json.ts";
import type { JournalItem, TextRun } from "./item.ts";
import { isToolKind, mergeToolCard } from "./tool-card.ts";

/** Joined text stops growing here, so that a phone can paint the first part early. */
export const RUN_CHARS_MAX = 65_536;

function updateOf(item: JournalItem): JsonObject | undefined {
  if (item.method !== ACP.sessionUpdate || item.run !== undefined) return undefined;
  const update = item.params["update"];
  return isObject(update) ? update : undefined;
}

/** The key under which only the last item counts; undefined for items that all count. */
function lastOnlyKey(item: JournalItem): string | undefined {
  if (item.method === HUB.turn)
    return item.params["stopReason"] === undefined && item.params["error"] === undefined ? HUB.turn : undefined;
  const update = updateOf(item);
  const kind = update?.["sessionUpdate"];
  if (update === undefined || typeof kind !== "string" || !STATE_KINDS.has(kind)) return undefined;
  return kind;
}

function withUpdate(item: JournalItem, update: JsonObject, last: JournalItem): JournalItem {
  return { ...item, last: Math.max(item.last, last.last), ts: last.ts, params: { ...item.params, update } };
}

/** A patch kind: what a later one leaves out keeps its value. */
function mergeState(before: JournalItem, after: JournalItem): JournalItem {
  const old = updateOf(before);
  const update = updateOf(after);
  if (old?.["sessionUpdate"] !== "session_info_update" || update === undefined) return after;
  return { ...after, params: { ...after.params, update: { ...old, ...update } } };
}

/** True when both are text of the same message by the same author, and not too long together, with `between` characters more. */
export function isSameMessage(
  previous: JournalItem | undefined,
  item: JournalItem,
  between = 0,
): previous is JournalItem & { run: TextRun } {
  const a = previous?.run;
  const b = item.run;
  if (previous === undefined || a === undefined || b === undefined) return false;
  if (a.kind !== b.kind || a.messageId !== b.messageId || previous.promptId !== item.promptId) return false;
  return (
    previous.by?.connectionId === item.by?.connectionId && a.text.length + between + b.text.length <= RUN_CHARS_MAX
  );
}

/** The coalesced form of `items`. A tool call whose creation is not among them stays a `tool_call_update`. */
export function coalesce(items: readonly JournalItem[]): JournalItem[] {
  const out: (JournalItem | undefined)[] = [];
  const cards = new Map<string, number>();
  const states = new Map<string, number>();
  for (const item of items) {
    const update = updateOf(item);
    const toolCallId = update?.["toolCallId"];
    if (update !== undefined && isToolKind(update["sessionUpdate"]) && typeof toolCallId === "string") {
      const at = cards.get(toolCallId);
      const card = at === undefined ? undefined : out[at];
      if (at !== undefined && card !== undefined) {
        out[at] = withUpdate(card, mergeToolCard(updateOf(card) ?? {}, update), item);
        continue;
      }
      cards.set(toolCallId, out.length);
    }
    const key = lastOnlyKey(item);
    if (key !== undefined) {
      const at = states.get(key);
      const before = at === undefined ? undefined : out[at];
      if (at !== undefined) out[at] = undefined;
      states.set(key, out.length);
      out.push(before === undefined ? item : mergeState(before, item));
      continue;
    }
    out.push(item);
  }
  return joinNeighbours(out);
}

/** Text that stood apart only because of items now gone is joined. Its piece lengths are given up: such a run is never cut. */
function joinNeighbours(items: readonly (JournalItem | undefined)[]): JournalItem[] {
  const out: JournalItem[] = [];
  for (const item of items) {
    if (item === undefined) continue;
    const previous = out.at(-1);
    if (item.run !== undefined && isSameMessage(previous, item)) {
      const run = { ...previous.run, text: previous.run.text + item.run.text, pieces: [] };
      out[out.length - 1] = { ...previous, last: item.last, ts: item.ts, run };
    } else out.push(item);
  }
  return out;
}
