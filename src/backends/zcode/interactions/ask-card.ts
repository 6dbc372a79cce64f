/** The tool card a question hangs on: the call's own where the backend names one, else one made for the question. */
import { type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";
import { textBlock, type Update } from "../translate/event.ts";
import { toolTitle } from "../translate/tool-look.ts";
import type { AskSession } from "./asks.ts";
import { attributed, originOf } from "./permission.ts";
import { isPlanApproval, planText } from "./plan-approval.ts";

export interface AskCard {
  readonly toolCallId: string;
  readonly title: string;
  readonly rawInput: JsonObject;
  /** Ends a card that was made for the question; the call's own card ends with its call. */
  close(status: "completed" | "failed"): void;
}

/** Announces the card where no client knows it yet. */
export function openCard(params: JsonObject, session: AskSession, turnId: string | undefined): AskCard {
  const own = stringAt(params, "toolCallId");
  const toolCallId = own ?? `ask_${stringAt(params, "requestId") ?? "question"}`;
  const implied = isPlanApproval(params)
    ? "ExitPlanMode"
    : params["questions"] === undefined
      ? undefined
      : "AskUserQuestion";
  const toolName = stringAt(params, "toolName") ?? implied;
  const rawInput = objectAt(params, "input") ?? {};
  const origin = originOf(params);
  const isPlan = isPlanApproval(params);
  const plain = isPlan ? "Ready to code?" : questionTitle(params, toolName, rawInput);
  const out: Update[] = [];
  const card = session.cards.forAsk(toolCallId, toolName, rawInput, session.turnKey(turnId), out);
  const title = attributed(plain, origin);
  const extra: JsonObject = {};
  if (isPlan && planText(params) !== "") extra["content"] = [textBlock(planText(params))];
  if (isPlan || origin !== undefined) extra["title"] = title;
  if (origin !== undefined) extra["_meta"] = { zcode: { origin: origin.raw } };
  if (Object.keys(extra).length > 0) out.push({ sessionUpdate: "tool_call_update", toolCallId, ...extra });
  session.emit(out);
  return {
    toolCallId,
    title,
    rawInput,
    close(status) {
      if (own !== undefined) return;
      const closing: Update[] = [];
      session.cards.finish(card, status, {}, closing);
      session.emit(closing);
    },
  };
}

function questionTitle(params: JsonObject, toolName: string | undefined, input: JsonObject): string {
  return toolName === undefined ? (stringAt(params, "prompt") ?? "The agent asks") : toolTitle(toolName, input);
}
