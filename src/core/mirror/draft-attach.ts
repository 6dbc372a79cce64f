/**
 * The public *Multi-Client Session Attach* draft (contract §4): `session/attach`, `session/detach`, and for who attached so the
 * update kinds prompt_received, turn_complete, permission_resolved and client_disconnected. They are made from the numbered events
 * for these clients alone, and carry no number.
 */
import { ACP } from "../../protocol/acp.ts";
import { notification } from "../../protocol/envelope.ts";
import type { SettledNotice } from "../../protocol/hub-methods.ts";
import { type Json, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { type By, HUB_META, withHubMeta } from "../../protocol/meta.ts";
import type { Connection } from "./connection.ts";
import type { MirrorSession } from "./session.ts";

export const DRAFT = { attach: "session/attach", detach: "session/detach" } as const;

const POLICIES: ReadonlySet<string> = new Set(["full", "pending_only", "none"]);

export interface DraftAttach {
  readonly clientId: string;
  /** The policy that was taken: `after_message` falls back to `full`, which contains what it asks for. */
  readonly historyPolicy: string;
  /** The load it comes down to. */
  readonly params: JsonObject;
}

export function readAttach<E>(connection: Connection<E>, params: JsonObject): DraftAttach {
  const wanted = stringAt(params, "historyPolicy") ?? "full";
  const historyPolicy = POLICIES.has(wanted) ? wanted : "full";
  const sessionId = stringAt(params, "sessionId") ?? "";
  return {
    clientId: stringAt(params, "clientId") ?? connection.id,
    historyPolicy,
    params: withHubMeta({ sessionId }, { history: historyPolicy }),
  };
}

/** The result of `session/attach`: the load's own members stand beside the draft's. */
export function attachResult<E>(session: MirrorSession<E>, attach: DraftAttach, loaded: JsonObject): JsonObject {
  const connectedClients: Json = [...session.attached].map((each) => ({
    clientId: each.draftClients.get(session) ?? each.id,
    name: each.name,
  }));
  const { clientId, historyPolicy } = attach;
  return { ...loaded, sessionId: session.id, clientId, connectedClients, historyPolicy };
}

/** Tells an update of the draft's kinds to who attached by it. `except`: the connection that caused it. */
function tell<E>(session: MirrorSession<E>, update: JsonObject, except?: string): void {
  let text: string | undefined;
  for (const connection of session.attached) {
    if (!connection.draftClients.has(session) || connection.id === except) continue;
    const params = { sessionId: session.id, update, _meta: { [HUB_META]: { synthetic: "local" } } };
    text ??= JSON.stringify(notification(ACP.sessionUpdate, params));
    connection.outbox.send(text, session.feed);
  }
}

const hasDraftClients = <E>(session: MirrorSession<E>): boolean => {
  for (const connection of session.attached) if (connection.draftClients.has(session)) return true;
  return false;
};

const person = (by: By): JsonObject => ({ clientId: by.connectionId, name: by.name });

/** One block of a prompt that starts: the echo says who sent what. */
export function tellPromptReceived<E>(session: MirrorSession<E>, params: JsonObject, by: By): void {
  if (!hasDraftClients(session)) return;
  const update = objectAt(params, "update");
  const messageId = stringAt(update, "messageId");
  const received: JsonObject = {
    sessionUpdate: "prompt_received",
    prompt: [update?.["content"] ?? null],
    sentBy: person(by),
    ...(messageId !== undefined && { messageId }),
  };
  tell(session, received, by.connectionId);
}

/** A turn has ended: to everyone but its author, who has the response. */
export function tellTurnComplete<E>(session: MirrorSession<E>, stopReason: string, author: string | undefined): void {
  if (hasDraftClients(session)) tell(session, { sessionUpdate: "turn_complete", stopReason }, author);
}

export function tellResolved<E>(session: MirrorSession<E>, notice: SettledNotice): void {
  if (!hasDraftClients(session)) return;
  tell(session, {
    sessionUpdate: "permission_resolved",
    toolCallId: notice.toolCallId ?? null,
    chosenOptionId: notice.outcome.optionId ?? null,
    resolvedBy: person(notice.by),
  });
}

export function tellDisconnected<E>(session: MirrorSession<E>, gone: Connection<E>, now: number): void {
  if (!hasDraftClients(session)) return;
  const client = { clientId: gone.draftClients.get(session) ?? gone.id, name: gone.name };
  tell(session, { sessionUpdate: "client_disconnected", client, timestamp: new Date(now).toISOString() }, gone.id);
}
