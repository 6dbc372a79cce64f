/**
 * Reads an answer to an interaction: which are answers, which are abstentions, which are wrong (X3). Pure.
 * The rules are the same at the mirror, which proposes, and at the root, which judges.
 */
import { ACP } from "../../protocol/acp.ts";
import type { RpcError, RpcResponse } from "../../protocol/envelope.ts";
import type { SettledOutcome } from "../../protocol/hub-methods.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { redactAnswer } from "./redact-answer.ts";
import { checkContent } from "./schema-check.ts";

/** What a client sent back: the body of its response. */
export type AnswerBody = { readonly result: Json } | { readonly error: RpcError };

export type ReadAnswer =
  | { readonly kind: "answer"; readonly body: AnswerBody; readonly outcome: SettledOutcome }
  /** `cancelled` without a cancel of the turn: counts only when nobody else is in the race. */
  | { readonly kind: "cancelled"; readonly body: AnswerBody; readonly outcome: SettledOutcome }
  | { readonly kind: "abstains" }
  | { readonly kind: "invalid"; readonly reason: string };

export const answerBody = (response: RpcResponse): AnswerBody =>
  "error" in response ? { error: response.error } : { result: response.result };

const invalid = (reason: string): ReadAnswer => ({ kind: "invalid", reason });

function readPermission(params: JsonObject, result: Json): ReadAnswer {
  const outcome = isObject(result) ? objectAt(result, "outcome") : undefined;
  const kind = stringAt(outcome, "outcome");
  if (kind === "cancelled") return { kind: "cancelled", body: { result }, outcome: { action: "cancelled" } };
  if (kind !== "selected") return invalid('"outcome.outcome" must be "selected" or "cancelled"');
  const optionId = stringAt(outcome, "optionId");
  const option = arrayAt(params, "options")?.find(
    (candidate) => isObject(candidate) && candidate["optionId"] === optionId,
  );
  if (optionId === undefined || !isObject(option)) return invalid('"outcome.optionId" is none of the options');
  const optionName = stringAt(option, "name");
  const optionKind = stringAt(option, "kind");
  return {
    kind: "answer",
    body: { result },
    outcome: {
      action: "answered",
      optionId,
      ...(optionName !== undefined && { optionName }),
      ...(optionKind !== undefined && { optionKind }),
    },
  };
}

function readElicitation(params: JsonObject, result: Json): ReadAnswer {
  const action = isObject(result) ? stringAt(result, "action") : undefined;
  if (action === undefined) return invalid('"action" must be a string');
  if (action === "cancel")
    return { kind: "cancelled", body: { result }, outcome: { action: "cancelled", elicitation: action } };
  if (action === "accept" && params["mode"] !== "url") {
    const content = isObject(result) ? result["content"] : undefined;
    const problem = checkContent(objectAt(params, "requestedSchema"), content);
    if (problem !== undefined) return invalid(problem);
  } else if (action !== "accept" && action !== "decline" && !action.startsWith("_")) {
    return invalid('"action" must be "accept", "decline" or "cancel"');
  }
  const content =
    params["mode"] !== "url" && isObject(result) ? objectAt(redactAnswer(params, result), "content") : undefined;
  return {
    kind: "answer",
    body: { result },
    outcome: { action: "answered", elicitation: action, ...(content !== undefined && { content }) },
  };
}

/** Reads a client's answer to the request `method` with `params`. */
export function readAnswer(method: string, params: JsonObject, body: AnswerBody): ReadAnswer {
  if ("error" in body) return { kind: "abstains" };
  return method === ACP.elicitationCreate ? readElicitation(params, body.result) : readPermission(params, body.result);
}

/** The answer the root itself gives for a cancelled turn (X7). */
export function cancelledAnswer(method: string): AnswerBody {
  return { result: method === ACP.elicitationCreate ? { action: "cancel" } : { outcome: { outcome: "cancelled" } } };
}

/** True for the agent's requests that are raced between clients. */
export const isInteraction = (method: string): boolean =>
  method === ACP.requestPermission || method === ACP.elicitationCreate;
