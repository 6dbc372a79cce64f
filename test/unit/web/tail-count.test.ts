import { describe, expect, it } from "vitest";
import { EMPTY_TRANSCRIPT, reduceTranscript, type TranscriptInput } from "../../../src/client/index.ts";
import { buildRows, type Row } from "../../../src/web/transcript/rows.ts";
import { tailCount } from "../../../src/web/transcript/tail-count.ts";

function rowsOf(updates: readonly Record<string, string | object>[]): readonly Row[] {
  const inputs = updates.map(
    (update): TranscriptInput => ({
      kind: "event",
      method: "session/update",
      params: { sessionId: "s", update: update as never },
      stamp: undefined,
    }),
  );
  return buildRows(reduceTranscript(EMPTY_TRANSCRIPT, inputs), []);
}

const message = (index: number, text: string) => ({
  sessionUpdate: "agent_message_chunk",
  messageId: `m${index}`,
  content: { type: "text", text },
});
const tool = (index: number) => ({
  sessionUpdate: "tool_call",
  toolCallId: `t${index}`,
  title: `Edit ${index}`,
  kind: "edit",
  status: "completed",
});
const many = <T>(make: (index: number) => T): T[] => Array.from({ length: 100 }, (_, index) => make(index));

describe("tailCount", () => {
  it("fills a screen, whatever the rows hold, without drawing several of them", () => {
    const flat = tailCount(rowsOf(many(tool)), 800);
    const short = tailCount(rowsOf(many((index) => message(index, "Done."))), 800);
    const long = tailCount(rowsOf(many((index) => message(index, "word ".repeat(100)))), 800);
    expect([flat, short]).toEqual([20, 20]);
    expect(long).toBe(3);
  });

  it("takes one row that is taller than the screen, and all of a few that are not", () => {
    expect(tailCount(rowsOf([message(0, "a"), message(1, "word ".repeat(2000))]), 800)).toBe(1);
    expect(tailCount(rowsOf([message(0, "a"), tool(1)]), 800)).toBe(2);
    expect(tailCount([], 800)).toBe(0);
  });
});
