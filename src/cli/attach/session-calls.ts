/** What the editor's requests mean for the sessions it has: before they go out, and when they are answered. */
import { ACP } from "../../protocol/acp.ts";
import type { RpcResponse } from "../../protocol/envelope.ts";
import { isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { HUB_META, hubMeta, withHubMeta } from "../../protocol/meta.ts";
import type { EditorCall } from "./calls.ts";
import type { AttachContext } from "./context.ts";
import type { SharedSession } from "./shared-session.ts";

/** The editor asks. From here on what the hub tells of the session is for the editor. */
export function onAsked(context: AttachContext, call: EditorCall): void {
  const id = stringAt(call.params, "sessionId");
  const pinned = context.options.pinnedSession;
  if (call.method === ACP.sessionNew && pinned !== undefined) context.meet(pinned, "whole", call.params).onLoadAsked();
  if (call.method === ACP.sessionFork) context.forks += 1;
  if (id === undefined) return;
  if (call.method === ACP.sessionLoad) context.meet(id, "whole", call.params).onLoadAsked();
  if (call.method === ACP.sessionResume) context.meet(id, "onward", call.params);
  if (call.method === ACP.sessionPrompt) onPromptAsked(context, call, id);
}

/** A prompt has an id of its own: sent again after a loss, it joins the first (P3). */
function onPromptAsked(context: AttachContext, call: EditorCall, sessionId: string): void {
  const ours = hubMeta(call.params);
  const promptId = stringAt(ours, "promptId") ?? context.options.newId();
  call.params = withHubMeta(call.params, { ...ours, promptId });
  context.meet(sessionId, "onward", call.params).onPrompt(promptId);
  context.dialogs.reveal(sessionId);
}

/** The hub answers; the editor gets it right after. */
export function onAnswered(context: AttachContext, call: EditorCall, response: RpcResponse): void {
  const result = "result" in response && isObject(response.result) ? response.result : undefined;
  switch (call.method) {
    case ACP.sessionFork:
      context.forks = Math.max(0, context.forks - 1);
      return onOpened(context, call, result);
    case ACP.sessionNew:
      return onOpened(context, call, result);
    case ACP.sessionLoad:
    case ACP.sessionResume:
      return onLoaded(context.shown(stringAt(call.params, "sessionId")), result);
    case ACP.sessionClose: {
      const session = context.shown(stringAt(call.params, "sessionId"));
      if (session !== undefined && result !== undefined) session.isOver = true;
      return undefined;
    }
    default:
      return undefined;
  }
}

function onOpened(context: AttachContext, call: EditorCall, result: JsonObject | undefined): void {
  const id = stringAt(result, "sessionId");
  if (id !== undefined) return context.meet(id, "whole", call.params).onLoadAnswered(result);
  return onLoaded(context.shown(context.options.pinnedSession), undefined);
}

/** Refused before anything came: the editor has nothing of it. */
function onLoaded(session: SharedSession | undefined, result: JsonObject | undefined): void {
  session?.onLoadAnswered(result);
  if (session !== undefined && result === undefined && session.cursor === undefined) session.isOver = true;
}

/** What goes to the hub: with our own capability, and with the place where a load was cut off. */
export function paramsToSend(context: AttachContext, call: EditorCall): JsonObject {
  if (call.method === ACP.initialize) return hubInitialize(call.params);
  const session = call.wasSent ? context.shown(stringAt(call.params, "sessionId")) : undefined;
  if (call.method !== ACP.sessionLoad || session?.cursor === undefined) return call.params;
  return withHubMeta(call.params, { ...hubMeta(call.params), cursor: { ...session.cursor } });
}

/** The editor's own words; the hub's notices are for us, whether the editor knows them or not. */
export function hubInitialize(params: JsonObject): JsonObject {
  const capabilities = objectAt(params, "clientCapabilities") ?? {};
  const meta = objectAt(capabilities, "_meta") ?? {};
  return {
    ...params,
    clientCapabilities: { ...capabilities, _meta: { ...meta, [HUB_META]: objectAt(meta, HUB_META) ?? {} } },
  };
}

export const isExtended = (initialize: JsonObject): boolean =>
  objectAt(objectAt(objectAt(initialize, "clientCapabilities"), "_meta"), HUB_META) !== undefined;
