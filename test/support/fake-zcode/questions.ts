/** Questions as the app-server asks them, and the steps that ask and wait. */
import type { JsonObject } from "../../../src/protocol/json.ts";
import type { Step } from "./scenario.ts";

export const RULES: JsonObject = {
  decision: "allow",
  reason: "Approved for this project",
  permissionUpdates: [{ type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent: "ls" }] }],
};
export const ALLOW: JsonObject = { decision: "allow", reason: "Approved once" };
export const DENY: JsonObject = { decision: "deny" };

/** A tool permission with the three options of the runtime. */
export const permission = (requestId: string, toolCallId: string, command = "ls"): JsonObject => ({
  requestId,
  toolCallId,
  toolName: "Bash",
  reason: "run",
  riskLevel: "medium",
  input: { command },
  options: [
    { optionId: "allow_once", kind: "allow_once", name: "Allow once", response: ALLOW },
    { optionId: "allow_project", kind: "allow_always", name: "Always allow in this project", response: RULES },
    { optionId: "deny", kind: "deny", name: "Deny", response: DENY },
  ],
});

export const plan = (requestId: string, toolCallId: string): JsonObject => ({
  requestId,
  toolCallId,
  toolName: "ExitPlanMode",
  prompt: "Approve the plan?",
  input: { plan: "1. Build it" },
  schema: { interaction: "plan_approval", toolName: "ExitPlanMode" },
  questions: [
    {
      header: "Plan",
      question: "Review this implementation plan.",
      options: [{ label: "Approve", value: "approve", description: "" }],
    },
  ],
});

const choice = (label: string): JsonObject => ({ label, value: label });

/** Two questions, the second with several answers. */
export const questions = (requestId: string, toolCallId: string): JsonObject => {
  const list = [
    { question: "Q1", header: "One", options: ["a", "b"].map(choice) },
    { question: "Q2", header: "Two", multiSelect: true, options: ["x", "y", "z"].map(choice) },
  ];
  return {
    requestId,
    toolCallId,
    toolName: "AskUserQuestion",
    prompt: "Please answer",
    input: { questions: list },
    schema: { toolName: "AskUserQuestion" },
    questions: list,
  };
};

export const PERMISSION = "interaction/requestPermission";
export const USER_INPUT = "interaction/requestUserInput";

/** Asks and waits for the answer. */
export const asking = (method: string, params: JsonObject): Step[] => {
  const name = String(params["requestId"]);
  return [
    { do: "ask", name, method, params },
    { do: "expectAnswer", name },
  ];
};
