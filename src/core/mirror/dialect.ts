/**
 * The dialect of the predecessor's clients (contract §4), served for every agent to a connection whose load carries
 * `_meta.zcode`: `replayMeta` in the result of a load, `session/load_earlier` with a cursor that can expire, and
 * `$/zcode/turnState` at every change, before the prompt's response.
 */
import { notification, type RpcError } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import { type Json, type JsonObject, objectAt } from "../../protocol/json.ts";
import { isExtendedOnly } from "../journal/frames.ts";
import type { JournalItem } from "../journal/item.ts";
import type { Connection } from "./connection.ts";
import { type HistoryPlan, isMessage, tailStart } from "./history-plan.ts";
import type { MirrorSession } from "./session.ts";

export const LOAD_EARLIER = "session/load_earlier";
const TURN_STATE = "$/zcode/turnState";

/** A load with `_meta.zcode` says that this connection speaks the dialect. */
export function noteDialect<E>(connection: Connection<E>, params: JsonObject): void {
  if (objectAt(objectAt(params, "_meta"), "zcode") !== undefined) connection.speaksDialect = true;
}

/** A load as it goes up: what comes back is everybody's history, so it has to be all of it (B2). */
export function withoutLimit(params: JsonObject): JsonObject {
  const meta = objectAt(params, "_meta");
  const zcode = objectAt(meta, "zcode");
  if (zcode?.["limit"] === undefined) return params;
  const { limit: _limit, ...rest } = zcode;
  return { ...params, _meta: { ...meta, zcode: rest } };
}

/** What the page ends at: opaque to the client, read again by `readPosition`. */
interface Position {
  readonly epoch: string;
  /** First event of the oldest item given; the next page ends before it. */
  readonly before: number;
}

function cursorText(position: Position): string {
  return JSON.stringify([position.epoch, position.before]);
}

/** The position of a cursor in this session, or undefined when it is not valid here any more. */
export function readPosition<E>(session: MirrorSession<E>, cursor: Json | undefined): Position | undefined {
  let parsed: unknown;
  try {
    parsed = typeof cursor === "string" ? JSON.parse(cursor) : undefined;
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [epoch, before] = parsed as readonly unknown[];
  if (epoch !== session.epoch || typeof before !== "number") return undefined;
  return before > 0 && before <= session.journal.tail + 1 ? { epoch: session.epoch, before } : undefined;
}

/** Clients reload on an error whose message says so. */
export const cursorExpired: RpcError = hubError(
  RPC.invalidParams,
  "cursor-expired",
  "cursor expired: the history has changed, load the session again",
);

/** The items the dialect's clients see as messages. */
export const isShown = (item: JournalItem): boolean => !isExtendedOnly(item);

export interface DialectPage {
  readonly items: readonly JournalItem[];
  readonly replayMeta: JsonObject;
}

/** The `limit` items before `before`, oldest first. */
export function earlierPage<E>(session: MirrorSession<E>, before: number, limit: number): DialectPage {
  const older = session.journal.replay().filter((item) => isShown(item) && item.first < before);
  const start = tailStart(older, Math.max(1, limit));
  const items = older.slice(start);
  return { items, replayMeta: replayMeta(session, items, older.slice(0, start).some(isMessage), before) };
}

function replayMeta<E>(
  session: MirrorSession<E>,
  items: readonly JournalItem[],
  hasMore: boolean,
  before: number,
): JsonObject {
  const messages = items.filter((item) => item.run !== undefined);
  const last = messages.at(-1)?.run?.messageId;
  return {
    cursor: cursorText({ epoch: session.epoch, before: items[0]?.first ?? before }),
    hasMore,
    replayedMessages: items.filter(isMessage).length,
    turnActive: session.info.turn !== "idle",
    ...(last !== undefined && { lastMessageId: last }),
  };
}

/** The result of a load with the members such a client reads. */
export function dialectResult<E>(session: MirrorSession<E>, plan: HistoryPlan, result: JsonObject): JsonObject {
  const given = (plan.tailItems ?? session.journal.replay()).filter(isShown);
  const meta = replayMeta(session, given, plan.hasMore, session.journal.tail + 1);
  return { ...result, replayMeta: { ...meta, totalMessages: given.filter(isMessage).length + (plan.earlier ?? 0) } };
}

/** Tells the turn state to those who speak the dialect, in its place among the session's events. */
export function tellTurnState<E>(connections: Iterable<Connection<E>>, session: MirrorSession<E>): void {
  let text: string | undefined;
  for (const connection of connections) {
    if (!connection.speaksDialect || !connection.isInitialized) continue;
    text ??= JSON.stringify(notification(TURN_STATE, { sessionId: session.id, running: session.info.turn !== "idle" }));
    connection.outbox.send(text, session.feed);
  }
}
