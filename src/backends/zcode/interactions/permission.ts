/** Tool permissions between the two protocols. The chosen option's own `response` goes back verbatim: it carries the rules. */
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";

const KINDS: Readonly<Record<string, string>> = {
  allow_once: "allow_once",
  allow_always: "allow_always",
  reject_once: "reject_once",
  reject_always: "reject_always",
  allow: "allow_always",
  allow_project: "allow_always",
  deny: "reject_once",
  reject: "reject_once",
};
const ALLOWING = new Set(["allow", "allow_once", "allow_always", "allow_project"]);

/** Denials in the shape a permission wants. */
export const deny = (reason: string): JsonObject => ({ decision: "deny", reason });

/** Options as ACP knows them. A kind no client knows would make the whole request unreadable, so it becomes reject_once. */
export function permissionOptions(params: JsonObject): JsonObject[] {
  return (arrayAt(params, "options") ?? []).flatMap((option) => {
    const optionId = isObject(option) ? stringAt(option, "optionId") : undefined;
    if (!isObject(option) || optionId === undefined) return [];
    const kind = KINDS[stringAt(option, "kind") ?? ""] ?? "reject_once";
    return [{ optionId, kind, name: stringAt(option, "name") ?? optionId }];
  });
}

export type PermissionVerdict = { readonly result: JsonObject; readonly isCancelled: boolean };

/** The backend's answer for a client's. `isCancelled` when the client ended the turn rather than chose. */
export function permissionVerdict(params: JsonObject, answer: Json): PermissionVerdict {
  const outcome = isObject(answer) ? objectAt(answer, "outcome") : undefined;
  const optionId = stringAt(outcome, "optionId");
  if (stringAt(outcome, "outcome") !== "selected" || optionId === undefined) {
    return { result: deny("The request was cancelled"), isCancelled: stringAt(outcome, "outcome") === "cancelled" };
  }
  const chosen = (arrayAt(params, "options") ?? []).find(
    (option) => isObject(option) && option["optionId"] === optionId,
  );
  if (!isObject(chosen)) return { result: deny(`Unknown option "${optionId}"`), isCancelled: false };
  const response = objectAt(chosen, "response");
  if (response !== undefined) return { result: response, isCancelled: false };
  const isAllowed = ALLOWING.has(optionId) || ALLOWING.has(stringAt(chosen, "kind") ?? "");
  return { result: isAllowed ? { decision: "allow" } : deny(`Answered with "${optionId}"`), isCancelled: false };
}

export interface AskOrigin {
  readonly label: string;
  readonly raw: JsonObject;
}

/** Which sub-agent asks, where one does. */
export function originOf(params: JsonObject): AskOrigin | undefined {
  const raw = objectAt(params, "origin");
  if (raw === undefined || stringAt(raw, "kind") !== "subagent") return undefined;
  return {
    raw,
    label: stringAt(raw, "description") ?? stringAt(raw, "agentType") ?? stringAt(raw, "agentId") ?? "sub-agent",
  };
}

/** `title` with the sub-agent that asks in front. */
export const attributed = (title: string, origin: AskOrigin | undefined): string =>
  origin === undefined ? title : `[${origin.label}] ${title}`;
