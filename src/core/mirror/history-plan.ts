/** What of a session's history a load or resume gives, and the verdict on a cursor (S1, S3, S4). Pure. */
import type { LoadVerdict } from "../../protocol/hub-methods.ts";
import { type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { hubMeta, readCursor } from "../../protocol/meta.ts";
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
  /** Items before the given ones, where that was counted. */
  readonly earlier?: number;
  /** The reader knows what came up to here: cards older than that need not be shown again. */
  readonly knownAfter: number;
}

/** How many items a load asks for; undefined for all of them. */
export function limitOf(params: JsonObject): number | undefined {
  const limit = numberAt(hubMeta(params), "limit") ?? numberAt(objectAt(objectAt(params, "_meta"), "zcode"), "limit");
  return limit === undefined ? undefined : Math.max(0, Math.floor(limit));
}

export function planHistory<E>(session: MirrorSession<E>, params: JsonObject, isResume: boolean): HistoryPlan {
  const ours = hubMeta(params);
  const { journal } = session;
  const wanted = ours?.["cursor"];
  if (wanted !== undefined) return planFromCursor(session, wanted);
  const history = stringAt(ours, "history") ?? (isResume ? "none" : "full");
  const { tail } = journal;
  if (history !== "full") return { after: tail, verdict: "ok", hasMore: tail > 0, knownAfter: tail };
  const limit = limitOf(params);
  const whole: Pick<HistoryPlan, "verdict" | "reason"> = journal.isWhole
    ? { verdict: "ok" }
    : { verdict: "gap", reason: "trimmed" };
  if (limit === undefined) return { after: 0, ...whole, hasMore: false, knownAfter: 0 };
  const items = journal.replay();
  const tailItems = limit === 0 ? [] : items.slice(-limit);
  const earlier = items.length - tailItems.length;
  const knownAfter = (tailItems[0]?.first ?? tail + 1) - 1;
  return { after: tail, ...whole, tailItems, hasMore: earlier > 0, earlier, knownAfter };
}

function planFromCursor<E>(session: MirrorSession<E>, wanted: Json): HistoryPlan {
  const cursor = readCursor(wanted);
  const { journal } = session;
  const fully = { after: 0, hasMore: false, knownAfter: 0 };
  if (cursor === undefined) return { ...fully, verdict: "reset", reason: "malformed-cursor" };
  if (cursor.epoch !== session.epoch) return { ...fully, verdict: "reset", reason: "epoch-changed" };
  const found = journal.itemsAfter(cursor.seq);
  if (found.ok) return { after: cursor.seq, verdict: "ok", hasMore: false, knownAfter: 0 };
  return { ...fully, verdict: "gap", reason: found.reason };
}
