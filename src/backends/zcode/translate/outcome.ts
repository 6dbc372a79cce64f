/** How a turn ended, in ACP's words, and whether a failure is worth another try. */

import type { StopReason } from "../../../protocol/acp.ts";
import { isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";

export type TurnOutcome =
  | { readonly kind: "stopped"; readonly reason: StopReason }
  | {
      readonly kind: "failed";
      readonly message: string;
      readonly code: string | undefined;
      readonly isTransient: boolean;
    };

const RESULT_REASONS: Readonly<Record<string, StopReason>> = {
  success: "end_turn",
  end_turn: "end_turn",
  cancelled: "cancelled",
  error_max_turns: "max_turn_requests",
  error_max_tool_calls: "max_turn_requests",
  max_turn_requests: "max_turn_requests",
  error_max_budget: "max_tokens",
  max_tokens: "max_tokens",
  refusal: "refusal",
};

/** The outcome of a `turn.completed`. A result type nobody knows is an honest end, not an error. */
export function completedOutcome(payload: JsonObject): TurnOutcome {
  const result = stringAt(payload, "resultType") ?? "success";
  if (result === "error_during_execution") {
    return {
      kind: "failed",
      message: "The turn ended with an error during its execution",
      code: result,
      isTransient: false,
    };
  }
  return { kind: "stopped", reason: RESULT_REASONS[result] ?? "end_turn" };
}

/** The outcome of a `turn.terminal`, used when completed and failed are both missing. */
export function terminalOutcome(payload: JsonObject): TurnOutcome {
  const status = stringAt(payload, "status") ?? "success";
  if (status === "failed" || status === "error") {
    return { kind: "failed", message: "The turn failed", code: stringAt(payload, "resultType"), isTransient: false };
  }
  if (status === "cancelled") return { kind: "stopped", reason: "cancelled" };
  return completedOutcome({ resultType: stringAt(payload, "resultType") ?? status });
}

const TRANSIENT_CODES = new Set([
  "model_request_failed",
  "rate_limit",
  "timeout",
  "ECONNRESET",
  "ETIMEDOUT",
  "ENOTFOUND",
  "EAI_AGAIN",
  "ECONNREFUSED",
  "fetch_failed",
  "429",
  "1113",
]);
const PERMANENT_CODES = new Set(["invalid_model_request", "provider_not_configured", "1308", "401", "403"]);
const TRANSIENT_TEXT =
  /ECONNRESET|ETIMEDOUT|ENOTFOUND|EAI_AGAIN|fetch failed|socket hang up|network error|rate.?limit|\b429\b|timed? ?out/i;
const DEPTH_MAX = 5;

interface Cause {
  readonly code: string | undefined;
  readonly message: string;
  readonly retryable: boolean | undefined;
}

/** The error and its causes, outermost first; wrappers like UNKNOWN_ERROR hide the real one beneath. */
function causes(error: Json | undefined, depth = 0): Cause[] {
  if (!isObject(error) || depth > DEPTH_MAX) return [];
  const code = stringAt(error, "code") ?? numberAt(error, "code")?.toString() ?? stringAt(error, "type");
  const message = [stringAt(error, "message"), stringAt(error, "underlyingErrorMessage"), stringAt(error, "detail")]
    .filter((text) => text !== undefined)
    .join(": ");
  const retryable = error["retryable"];
  return [
    { code, message, retryable: typeof retryable === "boolean" ? retryable : undefined },
    ...causes(error["cause"] ?? objectAt(error, "data")?.["cause"], depth + 1),
  ];
}

/** Older builds accept a send and then fail its turn because another one runs. */
const BUSY_TEXT = /prompt is (already )?running|already running/i;

function isTransient(chain: readonly Cause[]): boolean {
  if (chain.some((cause) => BUSY_TEXT.test(cause.message))) return true;
  const said = chain.find((cause) => cause.retryable !== undefined)?.retryable;
  if (chain.some((cause) => cause.code !== undefined && PERMANENT_CODES.has(cause.code))) return false;
  if (said !== undefined) return said;
  return chain.some(
    (cause) => (cause.code !== undefined && TRANSIENT_CODES.has(cause.code)) || TRANSIENT_TEXT.test(cause.message),
  );
}

/** The outcome of a `turn.failed`. */
export function failedOutcome(payload: JsonObject): TurnOutcome {
  const chain = causes(payload["error"]);
  const deepest = chain.findLast((cause) => cause.message !== "");
  const message = deepest?.message ?? (typeof payload["error"] === "string" ? payload["error"] : "The turn failed");
  return { kind: "failed", message, code: deepest?.code, isTransient: isTransient(chain) };
}

/** Waits between attempts after transient failures; their number is the bound. */
export const RETRY_DELAYS_MS: readonly number[] = [1_000, 2_000, 4_000, 4_000, 4_000];
