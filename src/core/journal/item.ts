/** What a session's journal is made of. Items are shared by every reader and never changed once they are full. */

import { ACP, CHUNK_KINDS } from "../../protocol/acp.ts";
import { isObject, type JsonObject } from "../../protocol/json.ts";
import type { By } from "../../protocol/meta.ts";
import { HUB_META } from "../../protocol/meta.ts";

/** One numbered event, or several joined into one. `params` hold no stamp. */
export interface JournalItem {
  /** First and last event covered. Equal for a single event. */
  readonly first: number;
  last: number;
  /** Epoch milliseconds of the last event covered. */
  ts: number;
  readonly method: string;
  readonly params: JsonObject;
  readonly by?: By;
  readonly promptId?: string;
  readonly synthetic?: "local" | "root";
  /** Set on joined text: the text so far and the length of each piece, so that any cursor inside is served exactly. */
  readonly run?: TextRun;
}

export interface TextRun {
  text: string;
  readonly pieces: number[];
  readonly kind: string;
  readonly messageId: string | undefined;
}

/** What an event may say besides its method and params. */
export interface EventMarks {
  readonly by?: By;
  readonly promptId?: string;
  readonly synthetic?: "local" | "root";
}

/** How many members an object has, counted without making a list: this runs for every update. */
function memberCount(object: JsonObject): number {
  let count = 0;
  for (const _key in object) count += 1;
  return count;
}

const isTextContent = (content: unknown): content is JsonObject & { text: string } =>
  isObject(content) && content["type"] === "text" && typeof content["text"] === "string" && memberCount(content) === 2;

/** True when the params hold nothing but the session, the update and, at most, our own stamp. */
function holdsNothingElse(params: JsonObject): boolean {
  for (const key in params) {
    if (key === "sessionId" || key === "update") continue;
    const meta = params[key];
    if (key !== "_meta" || !isObject(meta) || meta[HUB_META] === undefined || memberCount(meta) !== 1) return false;
  }
  return true;
}

/**
 * The text of an update of exactly the shape that may be joined: a chunk kind, plain text content, an optional messageId,
 * nothing else. Anything with foreign members is stored as it came.
 */
export function joinableText(params: JsonObject): TextRun | undefined {
  const update = params["update"];
  if (!isObject(update)) return undefined;
  const kind = update["sessionUpdate"];
  const messageId = update["messageId"];
  if (typeof kind !== "string" || !CHUNK_KINDS.has(kind)) return undefined;
  if (messageId !== undefined && typeof messageId !== "string") return undefined;
  const content = update["content"];
  if (memberCount(update) !== (messageId === undefined ? 2 : 3) || !isTextContent(content)) return undefined;
  if (!holdsNothingElse(params)) return undefined;
  const { text } = content;
  return { kind, messageId, text, pieces: [text.length] };
}

/** The params of an item as a reader gets them: joined text written out. */
export function itemParams(item: JournalItem): JsonObject {
  if (item.run === undefined) return item.params;
  return runParams(item.params, item.run, item.run.text);
}

function runParams(params: JsonObject, run: TextRun, text: string): JsonObject {
  const update: JsonObject = { sessionUpdate: run.kind, content: { type: "text", text } };
  if (run.messageId !== undefined) update["messageId"] = run.messageId;
  return { ...params, update };
}

/** The part of a joined item after event `seq`; the item itself when all of it is. */
export function itemAfter(item: JournalItem, seq: number): JournalItem {
  if (item.first > seq || item.run === undefined) return item;
  const skipped = seq - item.first + 1;
  const pieces = item.run.pieces.slice(skipped);
  const offset = item.run.pieces.slice(0, skipped).reduce((sum, length) => sum + length, 0);
  return { ...item, first: seq + 1, run: { ...item.run, text: item.run.text.slice(offset), pieces } };
}

/** The part of a joined item up to event `seq`; the item itself when none of it is later. */
export function itemUntil(item: JournalItem, seq: number): JournalItem {
  if (item.last <= seq || item.run === undefined) return item;
  const pieces = item.run.pieces.slice(0, seq - item.first + 1);
  const length = pieces.reduce((sum, piece) => sum + piece, 0);
  return { ...item, last: seq, run: { ...item.run, text: item.run.text.slice(0, length), pieces } };
}

/** An item of one event. Joined text keeps of its params only what every piece shares. */
export function itemOf(
  seq: number,
  ts: number,
  method: string,
  params: JsonObject,
  marks: EventMarks = NO_MARKS,
): JournalItem {
  const run = method === ACP.sessionUpdate ? joinableText(params) : undefined;
  const kept = run === undefined ? params : { sessionId: params["sessionId"] };
  // Written out: spreads would be most of the cost, and this runs for every update.
  if (marks === NO_MARKS) {
    if (run === undefined) return { first: seq, last: seq, ts, method, params: kept };
    return { first: seq, last: seq, ts, method, params: kept, run };
  }
  const base: JournalItem = { first: seq, last: seq, ts, method, params: kept, ...marks };
  return run === undefined ? base : { ...base, run };
}

/** Most events: no author, no prompt, made by the agent itself. */
export const NO_MARKS: EventMarks = {};
