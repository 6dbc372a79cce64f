/** A permission request as a client gets it: nobody approves blind (X10, X6). Pure. */
import { ACP } from "../../protocol/acp.ts";
import { notification } from "../../protocol/envelope.ts";
import { isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { HUB_META } from "../../protocol/meta.ts";
import { withoutRecipe } from "./downgrade-view.ts";

/** The request's params with title and raw input filled in from the known card, and nothing of the recipe. */
export function permissionParams(params: JsonObject, card: JsonObject | undefined): JsonObject {
  const clean = withoutRecipe(params);
  const toolCall = objectAt(params, "toolCall");
  if (toolCall === undefined || card === undefined) return clean;
  const title = stringAt(toolCall, "title") ?? stringAt(card, "title");
  const rawInput = toolCall["rawInput"] ?? card["rawInput"];
  return {
    ...clean,
    toolCall: { ...toolCall, ...(title !== undefined && { title }), ...(rawInput !== undefined && { rawInput }) },
  };
}

/** The `tool_call` a client needs to see before a request whose card it cannot know: made for it alone. */
export function precedingCard(params: JsonObject, known: JsonObject | undefined): string | undefined {
  const toolCall = objectAt(params, "toolCall");
  const toolCallId = stringAt(toolCall, "toolCallId");
  const sessionId = stringAt(params, "sessionId");
  if (!isObject(toolCall) || toolCallId === undefined || sessionId === undefined) return undefined;
  const merged = { ...known, ...toolCall };
  const update: JsonObject = {
    ...merged,
    sessionUpdate: "tool_call",
    toolCallId,
    title: stringAt(merged, "title") ?? toolCallId,
  };
  const params_ = { sessionId, update, _meta: { [HUB_META]: { synthetic: "local" } } };
  return JSON.stringify(notification(ACP.sessionUpdate, params_));
}
