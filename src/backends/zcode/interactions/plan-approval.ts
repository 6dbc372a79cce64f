/** The approval of a plan: a form with one feedback field, or two buttons. Submitted empty it approves, with text it redirects. */
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";

const APPROVE: JsonObject = { action: "accept", content: { answer_0: "approve" } };
const REJECT: JsonObject = { action: "decline" };

export const isPlanApproval = (params: JsonObject): boolean =>
  stringAt(objectAt(params, "schema"), "interaction") === "plan_approval" ||
  stringAt(params, "toolName") === "ExitPlanMode";

/** The plan as markdown; empty when the backend sent none. */
export const planText = (params: JsonObject): string => stringAt(objectAt(params, "input"), "plan") ?? "";

/** The form, without the session it belongs to. Carries the two-button recipe for clients without forms. */
export function planForm(params: JsonObject): JsonObject {
  const plan = planText(params);
  const head = `Ready to code?${plan === "" ? "" : `\n\n${plan}`}`;
  return {
    mode: "form",
    message: `${head}\n\nLeave the box empty and submit to approve; type feedback to reject and redirect.`,
    requestedSchema: {
      type: "object",
      properties: {
        feedback: {
          type: "string",
          title: "Feedback",
          description: "Empty = approve the plan. Anything typed = reject and use this text as the redirection.",
        },
      },
      required: [],
    },
    _meta: {
      "acp-hub": {
        downgrade: [
          {
            title: head,
            options: [
              { optionId: "approve", name: "Approve", kind: "allow_once", set: {}, action: "accept" },
              { optionId: "reject", name: "Reject", kind: "reject_once", action: "decline" },
            ],
          },
        ],
      },
    },
  };
}

/** The backend's answer for a submitted form. Text goes as an accepted answer: only so is it delivered as plan feedback. */
export function planFormVerdict(answer: Json): JsonObject {
  if (!isObject(answer) || answer["action"] !== "accept") return REJECT;
  const feedback = (stringAt(objectAt(answer, "content"), "feedback") ?? "").trim();
  return feedback === "" ? APPROVE : { action: "accept", content: { answer_0: feedback } };
}

/** The buttons of a permission request, for clients without forms. */
export const PLAN_OPTIONS: readonly JsonObject[] = [
  { optionId: "approve", kind: "allow_once", name: "Approve" },
  { optionId: "reject", kind: "reject_once", name: "Reject" },
];

/** The backend's answer for a pressed button. */
export function planButtonVerdict(answer: Json): JsonObject {
  const outcome = isObject(answer) ? objectAt(answer, "outcome") : undefined;
  return stringAt(outcome, "outcome") === "selected" && stringAt(outcome, "optionId") === "approve" ? APPROVE : REJECT;
}

/** True for an answer that lets the plan run. */
export const isApproval = (result: JsonObject): boolean => objectAt(result, "content")?.["answer_0"] === "approve";
