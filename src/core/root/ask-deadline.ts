/** `interactions.timeoutMs` (X5): an unanswered question ends by itself, where somebody has configured that, and never with a yes. */
import { ACP } from "../../protocol/acp.ts";
import type { SettledOutcome } from "../../protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { type AnswerBody, cancelledAnswer, readAnswer } from "../interaction/answer.ts";
import type { Ask } from "./ask.ts";
import type { RootContext } from "./context.ts";

const deadlineTimer = (ask: Ask): string => `deadline:${ask.interactionId}`;

/** Begins, or begins anew with what a new hub says: the time counts from when the question was asked. */
export function startDeadline({ limits, ports }: RootContext, ask: Ask, now: number): void {
  const { interactionTimeoutMs } = limits;
  if (interactionTimeoutMs === undefined) ports.cancelTimer(deadlineTimer(ask));
  else ports.startTimer(deadlineTimer(ask), Math.max(0, ask.openedAt + interactionTimeoutMs - now));
}

export function dropDeadline({ limits, ports }: RootContext, ask: Ask): void {
  if (limits.interactionTimeoutMs !== undefined) ports.cancelTimer(deadlineTimer(ask));
}

export const isDeadline = (ask: Ask, timer: string): boolean => timer === deadlineTimer(ask);

/** A no for this once, where the agent offers one: `cancelled` means that its turn was cancelled. */
export function expiredAnswer({ method, params }: Ask): {
  readonly body: AnswerBody;
  readonly outcome: SettledOutcome;
} {
  const optionId = method === ACP.elicitationCreate ? undefined : rejectOnce(params);
  if (optionId !== undefined) {
    const body: AnswerBody = { result: { outcome: { outcome: "selected", optionId } } };
    const read = readAnswer(method, params, body);
    if (read.kind === "answer") return read;
  }
  return { body: cancelledAnswer(method), outcome: { action: "ended" } };
}

function rejectOnce(params: JsonObject): string | undefined {
  const option = arrayAt(params, "options")?.find((each) => isObject(each) && each["kind"] === "reject_once");
  return isObject(option) ? stringAt(option, "optionId") : undefined;
}
