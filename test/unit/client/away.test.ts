import { describe, expect, it } from "vitest";
import { awayDigest } from "../../../src/client/away.ts";
import type { TranscriptInput } from "../../../src/client/transcript/item.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";

const event = (method: string, params: JsonObject): TranscriptInput => ({
  kind: "event",
  method,
  params,
  stamp: undefined,
});
const update = (body: JsonObject): TranscriptInput => event("session/update", { update: body });
const turn = (body: JsonObject): TranscriptInput => event("_acp-hub/turn", { state: "idle", ...body });
const cost = (amount: number, currency = "USD"): JsonObject => ({ cost: { amount, currency } });
const spent = (amount: number, currency?: string): TranscriptInput =>
  update({ sessionUpdate: "usage_update", ...cost(amount, currency) });

const NONE = { decisions: 0, turns: 0, failedTurns: 0, files: 0, failures: 0 };

describe("what happened during an absence", () => {
  it("counts turns that ended and that failed, each once", () => {
    const news = [
      turn({ state: "running" }),
      turn({ stopReason: "end_turn" }),
      turn({ error: { code: 1, message: "no" }, stopReason: "refusal" }),
    ];
    expect(awayDigest(news, undefined)).toEqual({ ...NONE, turns: 1, failedTurns: 1 });
  });

  it("counts a file and a failed tool once, however often they were told", () => {
    const diff = { sessionUpdate: "tool_call_update", toolCallId: "t", content: [{ type: "diff", path: "a.ts" }] };
    const failed = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" };
    expect(awayDigest([diff, diff, failed, failed].map(update), undefined)).toEqual({ ...NONE, files: 1, failures: 1 });
  });

  it("says what was spent since, where the agent counts it in one currency", () => {
    expect(awayDigest([spent(0.3), spent(0.75)], cost(0.25))).toEqual({
      ...NONE,
      cost: { amount: 0.5, currency: "USD" },
    });
    expect(awayDigest([spent(0.5)], undefined)).toEqual({ ...NONE, cost: { amount: 0.5, currency: "USD" } });
    for (const news of [[spent(0.25)], [spent(9, "EUR")], [spent(0.1)], [update({ sessionUpdate: "usage_update" })]])
      expect(awayDigest(news, cost(0.25))).toBeUndefined();
  });

  it("is nothing when nothing worth a line happened", () => {
    expect(awayDigest([update({ sessionUpdate: "agent_message_chunk" })], undefined)).toBeUndefined();
  });
});
