/** What of a session's history a load or resume gives, and the verdict on a cursor (S1, S3, S4). Pure. */
import { ACP, STATE_KINDS } from "../../protocol/acp.ts";
import type { LoadVerdict } from "../../protocol/hub-methods.ts";
import { type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { hubMeta, readCursor } from "../../protocol/meta.ts";
import { isExtendedOnly } from "../journal/frames.ts";
import type { JournalItem } from "../journal/item.ts";
import type { MirrorSession } from "./session.ts";

export interface HistoryPlan {
  /** Events after this one are sent. */
  readonly after: number;
  readonly verdict: LoadVerdict;
  readonly reason?: string;
  /** Only the last ones of the history: they are given one by one instead. */
  readonly tailItems?: readonly JournalItem[];
  readonly hasMore: boolean;
  /** The reader knows what came up to here: cards older than that need not be shown again. */
  readonly knownAfter: number;
}

/** How far a tail goes back beyond its limit to start with a prompt. */
const ALIGN_MAX = 500;

function kindOf(item: JournalItem | undefined): string | undefined {
  if (item?.method !== ACP.sessionUpdate) return undefined;
  return item.run?.kind ?? stringAt(objectAt(item.params, "update"), "sessionUpdate");
}

/** An item a client shows as a message or card of its own. */
export const isMessage = (item: JournalItem): boolean => !isExtendedOnly(item) && !STATE_KINDS.has(kindOf(item) ?? "");

const isPrompt = (item: JournalItem | undefined): boolean => kindOf(item) === "user_message_chunk";

/** Where the last `limit` messages start, taken back to the prompt of their turn where one is near. */
export function tailStart(items: readonly JournalItem[], limit: number): number {
  let start = items.length;
  for (let left = limit; start > 0 && left > 0; start -= 1) {
    const item = items[start - 1];
    if (item !== undefined && isMessage(item)) left -= 1;
  }
  const least = Math.max(0, start - ALIGN_MAX);
  let turn = start;
  while (turn > least && !(isPrompt(items[turn]) && !isPrompt(items[turn - 1]))) turn -= 1;
  return limit > 0 && isPrompt(items[turn]) ? turn : start;
}

/** The items of a load that asks only for the last ones; undefined for all of them. */
function tailOf(items: readonly JournalItem[], params: JsonObject): readonly JournalItem[] | undefined {
  const ours = numberAt(hubMeta(params), "limit");
  const theirs = numberAt(objectAt(objectAt(params, "_meta"), "zcode"), "limit");
  const limit = ours ?? theirs;
  if (limit === undefined) return undefined;
  const count = Math.max(0, Math.floor(limit));
  if (ours === undefined) return items.slice(tailStart(items, count));
  return count === 0 ? [] : items.slice(-count);
}

/** `hasOlder`: the session goes on from epochs that are kept (S1). */
export function planHistory<E>(
  session: MirrorSession<E>,
  params: JsonObject,
  isResume: boolean,
  hasOlder: boolean,
): HistoryPlan {
  const ours = hubMeta(params);
  const { journal } = session;
  const wanted = ours?.["cursor"];
  if (wanted !== undefined) return planFromCursor(session, wanted, hasOlder);
  const history = stringAt(ours, "history") ?? (isResume ? "none" : "full");
  const { tail } = journal;
  if (history !== "full") return { after: tail, verdict: "ok", hasMore: tail > 0 || hasOlder, knownAfter: tail };
  const whole: Pick<HistoryPlan, "verdict" | "reason"> = journal.isWhole
    ? { verdict: "ok" }
    : { verdict: "gap", reason: (session.info.continues === true ? session.info.reason : undefined) ?? "trimmed" };
  const items = journal.replay();
  const tailItems = tailOf(items, params);
  if (tailItems === undefined) return { after: 0, ...whole, hasMore: hasOlder, knownAfter: 0 };
  const before = items.slice(0, items.length - tailItems.length);
  const earlier = before.filter(isMessage).length;
  const knownAfter = (tailItems[0]?.first ?? tail + 1) - 1;
  return { after: tail, ...whole, tailItems, hasMore: earlier > 0 || hasOlder, knownAfter };
}

function planFromCursor<E>(session: MirrorSession<E>, wanted: Json, hasOlder: boolean): HistoryPlan {
  const cursor = readCursor(wanted);
  const { journal } = session;
  const fully = { after: 0, hasMore: hasOlder, knownAfter: 0 };
  if (cursor === undefined) return { ...fully, verdict: "reset", reason: "malformed-cursor" };
  if (cursor.epoch !== session.epoch) return { ...fully, verdict: "reset", reason: "epoch-changed" };
  const found = journal.itemsAfter(cursor.seq);
  if (found.ok) return { after: cursor.seq, verdict: "ok", hasMore: false, knownAfter: 0 };
  return { ...fully, verdict: "gap", reason: found.reason };
}
