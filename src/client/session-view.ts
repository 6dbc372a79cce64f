/** What a screen shows of one session, and how the hub's answers to load and presence are read. */

import type { LoadVerdict, TurnNotice } from "../protocol/hub-methods.ts";
import type { Cursor, SessionId } from "../protocol/ids.ts";
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META, readCursor } from "../protocol/meta.ts";
import { readTurnNotice } from "../protocol/notices.ts";
import { EMPTY_TRANSCRIPT, type Transcript } from "./transcript/item.ts";

export type AttachState =
  | { readonly kind: "detached" }
  | { readonly kind: "attaching"; readonly received: number }
  | { readonly kind: "live" }
  /** The hub let go of it: its bridge ended, it was closed, or another instance took it over. */
  | { readonly kind: "ended"; readonly reason: string }
  | { readonly kind: "failed"; readonly message: string; readonly hubCode: string | undefined };

/** Someone attached to the session. */
export interface Attendant {
  readonly connectionId: string;
  readonly name: string;
  readonly device: string | undefined;
  /** True for the stdio editor. */
  readonly isPrimary: boolean;
}

export interface SessionView {
  readonly sessionId: SessionId;
  readonly attach: AttachState;
  readonly transcript: Transcript;
  readonly cursor: Cursor | undefined;
  /** Set while events that were dropped for us come again. */
  readonly isCatchingUp: boolean;
  readonly hasEarlier: boolean;
  readonly isLoadingEarlier: boolean;
  /** History only: no live session behind it, prompts are refused. */
  readonly isReadOnly: boolean;
  readonly attendants: readonly Attendant[];
  /** {instance, agentInfo, agentCapabilities}, as the hub describes the agent. */
  readonly agent: JsonObject | undefined;
  /** When something of this session last came from the hub, epoch milliseconds. */
  readonly heardAt: number | undefined;
}

/** What is kept on the device to show a session offline and to resume it by cursor. */
export interface SavedSession {
  readonly version: 1;
  readonly transcript: Transcript;
  readonly cursor: Cursor | undefined;
  readonly hasEarlier: boolean;
  readonly savedAt: number;
}

export const emptyView = (sessionId: SessionId): SessionView => ({
  sessionId,
  attach: { kind: "detached" },
  transcript: EMPTY_TRANSCRIPT,
  cursor: undefined,
  isCatchingUp: false,
  hasEarlier: false,
  isLoadingEarlier: false,
  isReadOnly: false,
  attendants: [],
  agent: undefined,
  heardAt: undefined,
});

export interface LoadOutcome {
  /** Undefined when the answer is not the hub's (a plain agent): then everything that came is the whole history. */
  readonly verdict: LoadVerdict | undefined;
  readonly reason: string;
  readonly cursor: Cursor | undefined;
  readonly turn: TurnNotice | undefined;
  readonly hasMore: boolean | undefined;
  /** Where the next page of older events ends, where the hub says so. */
  readonly before: number | undefined;
  readonly isReadOnly: boolean;
  readonly agent: JsonObject | undefined;
  readonly result: JsonObject;
}

export function readLoadResult(answer: Json): LoadOutcome {
  const result = isObject(answer) ? answer : {};
  const meta = objectAt(objectAt(result, "_meta"), HUB_META);
  const verdict = stringAt(meta, "verdict");
  return {
    verdict: verdict === "ok" || verdict === "gap" || verdict === "reset" ? verdict : undefined,
    reason: stringAt(meta, "reason") ?? "",
    cursor: readCursor(meta?.["cursor"]),
    turn: readTurn(meta?.["turn"]),
    hasMore: typeof meta?.["hasMore"] === "boolean" ? meta["hasMore"] : undefined,
    before: numberAt(meta, "before"),
    isReadOnly: meta?.["readOnly"] === true || result["readOnly"] === true,
    agent: objectAt(meta, "agent"),
    result,
  };
}

/** The turn in a load result: a whole notice, or its state alone. */
function readTurn(value: Json | undefined): TurnNotice | undefined {
  if (isObject(value)) return readTurnNotice(value);
  if (value !== "running" && value !== "idle" && value !== "waiting") return undefined;
  return { sessionId: "", state: value, queue: [] };
}

/** `_acp-hub/presence`: the list may be called clients or connections. */
export function readAttendants(params: JsonObject): readonly Attendant[] {
  const list = arrayAt(params, "clients") ?? arrayAt(params, "connections") ?? [];
  return list.filter(isObject).map((entry) => ({
    connectionId: stringAt(entry, "connectionId") ?? "",
    name: stringAt(entry, "name") ?? stringAt(entry, "device") ?? "unknown client",
    device: stringAt(entry, "device"),
    isPrimary: entry["primary"] === true || stringAt(entry, "kind") === "primary",
  }));
}
