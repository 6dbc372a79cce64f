/** What a client without forms sees of a form: a card of its own and one permission request per step (X8). Pure. */
import { ACP } from "../../protocol/acp.ts";
import { notification, type RpcNotification } from "../../protocol/envelope.ts";
import { type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { HUB_META, hubMeta, withHubMeta } from "../../protocol/meta.ts";
import type { DowngradeRun } from "./downgrade.ts";

/** The card the popups hang on: the form's own tool call, or one made for this client alone. */
function cardId(params: JsonObject): string {
  return (
    stringAt(params, "toolCallId") ??
    stringAt(objectAt(params, "toolCall"), "toolCallId") ??
    `acp-hub:form:${interactionIdOf(params)}`
  );
}

const interactionIdOf = (params: JsonObject): string => stringAt(hubMeta(params), "interactionId") ?? "";

const hasOwnCard = (params: JsonObject): boolean => cardId(params).startsWith("acp-hub:form:");

function cardUpdate(params: JsonObject, update: JsonObject): RpcNotification {
  const sessionId = stringAt(params, "sessionId") ?? "";
  return notification(ACP.sessionUpdate, { sessionId, update, _meta: { [HUB_META]: { synthetic: "local" } } });
}

/** Shows the card before the first popup. */
export function openCard(params: JsonObject): RpcNotification {
  const title = stringAt(params, "message") ?? "The agent asks for input";
  const toolCallId = cardId(params);
  const sessionUpdate = hasOwnCard(params) ? "tool_call" : "tool_call_update";
  return cardUpdate(params, {
    sessionUpdate,
    toolCallId,
    title,
    kind: "other",
    status: "pending",
    rawInput: { description: title },
  });
}

/** Brings the card to its end. A card of the agent's own is the agent's to end. */
export function closeCard(params: JsonObject): RpcNotification | undefined {
  if (!hasOwnCard(params)) return undefined;
  return cardUpdate(params, { sessionUpdate: "tool_call_update", toolCallId: cardId(params), status: "completed" });
}

/** The params a client is asked with: the backend's recipe is ours to follow, not a client's to see. */
export function withoutRecipe(params: JsonObject): JsonObject {
  const { downgrade, ...meta } = hubMeta(params) ?? {};
  return downgrade === undefined ? params : withHubMeta(params, meta);
}

/** The permission request of the current step. */
export function stepParams(params: JsonObject, run: DowngradeRun): JsonObject {
  const { step, index, of } = run.current;
  const message = stringAt(params, "message") ?? "";
  const title = step.title === "" ? message : step.title;
  const description = message === "" || message === title ? title : `${message}\n\n${title}`;
  return {
    sessionId: stringAt(params, "sessionId") ?? "",
    toolCall: { toolCallId: cardId(params), title, kind: "other", status: "pending", rawInput: { description } },
    options: step.options.map(({ optionId, name, kind }) => ({ optionId, name, kind })),
    _meta: {
      [HUB_META]: {
        interactionId: interactionIdOf(params),
        openedAt: hubMeta(params)?.["openedAt"],
        step: { index, of },
      },
    },
  };
}
