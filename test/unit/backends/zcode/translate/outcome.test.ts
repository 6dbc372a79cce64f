/** How failures are sorted: the cause beneath counts, not the wrapper. */
import { expect, test } from "vitest";
import { failedOutcome } from "../../../../../src/backends/zcode/translate/outcome.ts";
import type { JsonObject } from "../../../../../src/protocol/json.ts";

const transient: readonly (readonly [string, JsonObject])[] = [
  [
    "a reset beneath a wrapper",
    { type: "UNKNOWN_ERROR", message: "x", cause: { code: "ECONNRESET", message: "reset" } },
  ],
  ["a rate limit", { type: "rate_limit", message: "slow" }],
  ["HTTP 429", { code: 429, message: "too many" }],
  ["what says it is retryable", { type: "weird", message: "x", retryable: true }],
  ["busy told as a failed turn", { code: 1308, message: "prompt is running" }],
];
const permanent: readonly (readonly [string, JsonObject])[] = [
  ["a provider that is not configured", { type: "provider_not_configured", message: "none" }],
  ["quota under 1308", { code: 1308, message: "quota exceeded" }],
  ["what says it is not retryable", { type: "model_request_failed", message: "x", retryable: false }],
  ["an unknown failure", { type: "weird", message: "boom" }],
];

test.each(transient)("row 16 %s is worth another try", (_name, error) => {
  expect(failedOutcome({ error })).toMatchObject({ kind: "failed", isTransient: true });
});

test.each(permanent)("row 16 %s is not", (_name, error) => {
  expect(failedOutcome({ error })).toMatchObject({ kind: "failed", isTransient: false });
});

test("the message shown is the innermost one", () => {
  const error = { message: "Unknown error", cause: { message: "connect ETIMEDOUT 1.2.3.4" } };
  expect(failedOutcome({ error })).toMatchObject({ message: "connect ETIMEDOUT 1.2.3.4" });
});
