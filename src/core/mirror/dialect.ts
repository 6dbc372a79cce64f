/**
 * The dialect of the predecessor's clients (contract §4), served for every agent to a connection whose load carries
 * `_meta.zcode`: `replayMeta` in the result of a load, `session/load_earlier` with a cursor that can expire, and
 * `$/zcode/turnState` at every change, before the prompt's response.
 */
import { notification, type RpcError } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import { type Json, type JsonObject, objectAt } from "../../protocol/json.ts";
import { isExtendedOnly } from "../journal/frames.ts";
import {
  type HistoryItem,
  type HistoryPage,
  inEpoch,
  lastOf,
  type Position,
  pageBefore,
  type StartOf,
} from "../journal/history-page.ts";
import type { JournalItem } from "../journal/item.ts";
import type { Connection } from "./connection.ts";
import { type HistoryPlan, isMessage, tailStart } from "./history-plan.ts";
import type { MirrorSession } from "./session.ts";

export const LOAD_EARLIER = "session/load_earlier";
const TURN_STATE = "$/zcode/turnState";

/** A load with `_meta.zcode` says that this connection speaks the dialect. True the first time. */
export function noteDialect<E>(connection: Connection<E>, params: JsonObject): boolean {
  if (connection.speaksDialect || objectAt(objectAt(params, "_meta"), "zcode") === undefined) return false;
  connection.speaksDialect = true;
  return true;
}

/** A load as it goes up: what comes back is everybody's history, so it has to be all of it (B2). */
export function withoutLimit(params: JsonObject): JsonObject {
  const meta = objectAt(params, "_meta");
  const zcode = objectAt(meta, "zcode");
  if (zcode?.["limit"] === undefined) return params;
  const { limit: _limit, ...rest } = zcode;
  return { ...params, _meta: { ...meta, zcode: rest } };
}

/** Opaque to the client, read again by `readPosition`. */
const cursorText = ({ epoch, before }: Position): string => JSON.stringify([epoch, before]);

/** The position a cursor names; undefined when it is none of ours. Whether it is of this history is the caller's to judge. */
export function readPosition(cursor: Json | undefined): Position | undefined {
  let parsed: unknown;
  try {
    parsed = typeof cursor === "string" ? JSON.parse(cursor) : undefined;
  } catch {
    return undefined;
  }
  if (!Array.isArray(parsed)) return undefined;
  const [epoch, before] = parsed as readonly unknown[];
  if (typeof epoch !== "string" || typeof before !== "number" || !Number.isSafeInteger(before)) return undefined;
  return { epoch, before };
}

/** Clients reload on an error whose message says so. */
export const cursorExpired: RpcError = hubError(
  RPC.invalidParams,
  "cursor-expired",
  "cursor expired: the history has changed, load the session again",
);

/** The items the dialect's clients see as messages. */
export const isShown = (item: JournalItem): boolean => !isExtendedOnly(item);

/** A page has the last `limit` messages, back to the prompt of their turn. */
export const lastMessages =
  (limit: number): StartOf =>
  (older) =>
    tailStart(older, Math.max(0, Math.floor(limit)));

/** What a page is to the dialect's clients; `epoch` is the newest of the history. */
export function replayMeta(epoch: string, page: HistoryPage, isActive: boolean): JsonObject {
  const items = page.items.map(({ item }) => item);
  const last = items.filter((item) => item.run !== undefined).at(-1)?.run?.messageId;
  return {
    cursor: cursorText({ epoch, before: page.before }),
    hasMore: page.rest.some(({ item }) => isMessage(item)),
    replayedMessages: items.filter(isMessage).length,
    turnActive: isActive,
    ...(last !== undefined && { lastMessageId: last }),
  };
}

/** With the count of the whole history: `page` is its end. */
export function totalled(meta: JsonObject, { items, rest }: HistoryPage): JsonObject {
  return { ...meta, totalMessages: [...rest, ...items].filter(({ item }) => isMessage(item)).length };
}

/** The result of a load with the members such a client reads. `older`: what the epochs before this one hold. */
export function dialectResult<E>(
  session: MirrorSession<E>,
  plan: HistoryPlan,
  older: readonly HistoryItem[],
  result: JsonObject,
): JsonObject {
  const all = [...older, ...inEpoch(session.epoch, session.journal.replay())].filter(({ item }) => isShown(item));
  const given = (plan.tailItems ?? session.journal.replay()).filter(isShown).length;
  const end = { epoch: session.epoch, before: session.journal.tail + 1 };
  const page = pageBefore(all, end, lastOf(given));
  return { ...result, replayMeta: totalled(replayMeta(session.epoch, page, session.info.turn !== "idle"), page) };
}

/** Tells the turn state to those who speak the dialect, in its place among the session's events. */
export function tellTurnState<E>(connections: Iterable<Connection<E>>, session: MirrorSession<E>): void {
  let text: string | undefined;
  for (const connection of connections) {
    if (!connection.speaksDialect || !connection.isInitialized) continue;
    text ??= turnStateText(session);
    connection.outbox.send(text, session.feed);
  }
}

/** It has heard of no change so far: of what runs besides the session it has just loaded, which says so itself. */
export function tellRunning<E>(
  connection: Connection<E>,
  sessions: Iterable<MirrorSession<E>>,
  loaded: MirrorSession<E>,
): void {
  for (const session of sessions)
    if (session !== loaded && session.info.turn !== "idle")
      connection.outbox.send(turnStateText(session), session.feed);
}

function turnStateText<E>({ id, info }: MirrorSession<E>): string {
  return JSON.stringify(notification(TURN_STATE, { sessionId: id, running: info.turn !== "idle" }));
}
