/** What the hub tells, on its way to the editor: only of sessions the editor has, and nothing twice. */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, paramsOf } from "../../protocol/envelope.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { readStamp, type Stamp } from "../../protocol/meta.ts";
import type { AttachContext } from "./context.ts";
import type { SharedSession } from "./shared-session.ts";

type Notification = Frame & { readonly kind: "notification" };

export interface HubEventHandlers {
  /** The hub lost the editor's place in that session: it has to be attached anew. */
  onLost(session: SharedSession): void;
  /** The session has ended: `instance-gone`, `closed`, `superseded`. */
  onGone(session: SharedSession, reason: string): void;
}

export function onHubNotification(context: AttachContext, frame: Notification, handlers: HubEventHandlers): void {
  const { method } = frame.msg;
  const params = paramsOf(frame.msg) ?? {};
  if (method === ACP.cancelRequest) return withdraw(context, params);
  noteDialogs(context, method, params);
  const id = stringAt(params, "sessionId");
  const session = context.shown(id);
  if (id !== undefined && session === undefined && !(context.forks > 0 && method === ACP.sessionUpdate))
    return undefined;
  const stamp = readStamp(params);
  if (session !== undefined && stamp !== undefined) return onEvent(context, session, frame, params, stamp);
  if (session !== undefined) onNotice(session, method, params, handlers);
  return pass(context, method, frame.text);
}

function withdraw(context: AttachContext, params: JsonObject): void {
  const id = params["requestId"];
  if (typeof id === "number" || typeof id === "string") context.dialogs.withdraw(id);
}

/** Settled is settled, whether the editor has the session or the notice is news to it. */
function noteDialogs(context: AttachContext, method: string, params: JsonObject): void {
  const interactionId = stringAt(params, "interactionId");
  if (interactionId === undefined) return;
  if (method === HUB.interactionSettled) context.dialogs.settle(interactionId);
  if (method === HUB.interactionRejected) context.dialogs.reject(interactionId);
}

function onEvent(
  context: AttachContext,
  session: SharedSession,
  frame: Notification,
  params: JsonObject,
  stamp: Stamp,
): void {
  const { method } = frame.msg;
  const admission = session.admit(stamp, objectAt(params, "update"));
  if (admission === "known") return;
  pass(context, method, admission === "show" ? frame.text : cutText(frame, params, admission.cut));
}

/** The last `cut` characters of a chunk whose beginning the editor has. */
function cutText(frame: Notification, params: JsonObject, cut: number): string {
  const update = objectAt(params, "update") ?? {};
  const content = objectAt(update, "content") ?? {};
  const text = (stringAt(content, "text") ?? "").slice(-cut);
  return JSON.stringify({ ...frame.msg, params: { ...params, update: { ...update, content: { ...content, text } } } });
}

function onNotice(session: SharedSession, method: string, params: JsonObject, handlers: HubEventHandlers): void {
  if (method === HUB.detached) {
    session.isOver = true;
    handlers.onGone(session, stringAt(params, "reason") ?? "closed");
  }
  // Other resets move the reader along by themselves.
  if (method === HUB.reset && params["reason"] === "journal-trimmed") handlers.onLost(session);
}

function pass(context: AttachContext, method: string, text: string): void {
  if (!method.startsWith("_acp-hub/") || context.isEditorExtended) context.toEditor(text);
}
