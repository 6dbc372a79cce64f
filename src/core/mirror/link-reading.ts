/**
 * Reads what the bridge says at the edge: a broken or newer bridge must not be able to break the hub. Members we need have the
 * types we need or the message is refused; members we do not know are kept. Pure.
 */

import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import type { LinkSession } from "../../protocol/link.ts";
import { HUB_META, hubMeta, readBy, type Stamp, withHubMeta } from "../../protocol/meta.ts";
import { readQueue, readTurnState } from "../../protocol/notices.ts";
import { type EventMarks, itemOf, type JournalItem, NO_MARKS } from "../journal/item.ts";

const countAt = (object: JsonObject | undefined, key: string): number | undefined => {
  const value = numberAt(object, key);
  return value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
};

/** A session as the root describes it; undefined when it names none or has no place in a numbering. */
export function readLinkSession(params: JsonObject): LinkSession | undefined {
  const sessionId = stringAt(params, "sessionId");
  const epoch = stringAt(params, "epoch");
  const tail = countAt(params, "tail");
  if (sessionId === undefined || epoch === undefined || tail === undefined) return undefined;
  const { title: _title, turnBy: _by, promptId: _prompt, reason: _reason, ...rest } = params;
  const [title, promptId, reason] = [
    stringAt(params, "title"),
    stringAt(params, "promptId"),
    stringAt(params, "reason"),
  ];
  const turnBy = readBy(params["turnBy"]);
  return {
    ...rest,
    sessionId,
    epoch,
    tail,
    head: countAt(params, "head") ?? 0,
    whole: params["whole"] !== false,
    cwd: stringAt(params, "cwd") ?? "",
    updatedAt: numberAt(params, "updatedAt") ?? 0,
    openedBy: params["openedBy"] === "primary" ? "primary" : "remote",
    listed: params["listed"] === true,
    turn: readTurnState(params["turn"]),
    queue: readQueue(params),
    state: objectAt(params, "state") ?? {},
    loading: params["loading"] === true,
    continues: params["continues"] === true,
    primary: params["primary"] === true,
    ...(title !== undefined && { title }),
    ...(promptId !== undefined && { promptId }),
    ...(reason !== undefined && { reason }),
    ...(turnBy !== undefined && { turnBy }),
  };
}

/** Almost every stamp: nothing but its place and time. */
function isPlainStamp(meta: JsonObject): boolean {
  for (const key in meta) if (key !== "epoch" && key !== "seq" && key !== "ts") return false;
  return true;
}

/** The stamp of a numbered event; undefined when there is none we could place. */
export function readEventStamp(params: JsonObject | undefined): Stamp | undefined {
  const meta = hubMeta(params);
  const epoch = stringAt(meta, "epoch");
  const seq = countAt(meta, "seq");
  if (meta === undefined || epoch === undefined || seq === undefined || seq === 0) return undefined;
  if (isPlainStamp(meta)) return { epoch, seq, ts: numberAt(meta, "ts") ?? 0 };
  const from = countAt(meta, "from");
  const by = readBy(meta["by"]);
  const promptId = stringAt(meta, "promptId");
  const except = stringAt(meta, "except");
  const synthetic = meta["synthetic"];
  return {
    epoch,
    seq,
    ts: numberAt(meta, "ts") ?? 0,
    ...(from !== undefined && from > 0 && from < seq && { from }),
    ...(by !== undefined && { by }),
    ...(promptId !== undefined && { promptId }),
    ...(except !== undefined && { except }),
    ...(meta["replay"] === true && { replay: true as const }),
    ...((synthetic === "root" || synthetic === "local") && { synthetic }),
  };
}

/** The journal's item of an event of the link: joined text comes with its piece lengths (J4). */
function marksOf({ by, promptId, synthetic }: Stamp): EventMarks {
  if (by === undefined && promptId === undefined && synthetic === undefined) return NO_MARKS;
  return {
    ...(by !== undefined && { by }),
    ...(promptId !== undefined && { promptId }),
    ...(synthetic !== undefined && { synthetic }),
  };
}

export function readItem(method: string, params: JsonObject, stamp: Stamp): JournalItem {
  const marks = marksOf(stamp);
  // Joined text keeps nothing of its params but the session: no copy without the stamp is made for it.
  const plain = itemOf(stamp.seq, stamp.ts, method, params, marks);
  const item = plain.run === undefined ? { ...plain, params: withoutStamp(params) } : plain;
  if (stamp.from === undefined) return item;
  if (item.run === undefined) return { ...item, first: stamp.from };
  const pieces = (arrayAt(hubMeta(params), "pieces") ?? []).filter(isLength);
  const isExact =
    pieces.length === stamp.seq - stamp.from + 1 &&
    pieces.reduce((sum, piece) => sum + piece, 0) === item.run.text.length;
  return { ...item, first: stamp.from, run: { ...item.run, pieces: isExact ? pieces : [] } };
}

const isLength = (value: unknown): value is number =>
  typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** The params without our stamp. In almost all of them nothing else is in `_meta`. */
function withoutStamp(params: JsonObject): JsonObject {
  const meta = objectAt(params, "_meta");
  if (meta === undefined) return params;
  for (const key in meta) if (key !== HUB_META) return withHubMeta(params, undefined);
  const { _meta: _stamp, ...rest } = params;
  return rest;
}
