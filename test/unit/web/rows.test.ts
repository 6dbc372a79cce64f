import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { OutboxEntry } from "../../../src/client/outbox.ts";
import { EMPTY_TRANSCRIPT, type Transcript, type TranscriptInput } from "../../../src/client/transcript/item.ts";
import { reduceTranscript } from "../../../src/client/transcript/reduce.ts";
import { buildRows, RowBuilder } from "../../../src/web/transcript/rows.ts";
import { history, liveInputs } from "../../support/session-events.ts";

const update = (body: Record<string, string>): TranscriptInput => ({
  kind: "event",
  method: "session/update",
  params: { update: body },
  stamp: undefined,
});

const read = (id: string, status = "completed"): TranscriptInput =>
  update({ sessionUpdate: "tool_call", toolCallId: id, kind: "read", title: "Read", status });

const entry = (promptId: string): OutboxEntry => ({
  promptId,
  sessionId: "s1",
  blocks: [{ type: "text", text: "x" }],
  createdAt: 1,
  delivery: "phone",
  stopReason: undefined,
  failure: undefined,
});

const kinds = (transcript: Transcript): string[] => buildRows(transcript, []).map((row) => row.kind);

describe("rows", () => {
  it("built step by step they are those built at once", () => {
    fc.assert(
      fc.property(history, (events) => {
        const builder = new RowBuilder();
        let transcript = EMPTY_TRANSCRIPT;
        for (const input of liveInputs(events)) {
          transcript = reduceTranscript(transcript, [input]);
          expect(builder.build(transcript, [])).toEqual(buildRows(transcript, []));
        }
      }),
    );
  });

  it("keeps the rows before the change", () => {
    const builder = new RowBuilder();
    const first = reduceTranscript(EMPTY_TRANSCRIPT, [
      update({ sessionUpdate: "weather_update" }),
      update({ sessionUpdate: "weather_update" }),
    ]);
    const before = builder.build(first, []);
    const after = builder.build(reduceTranscript(first, [update({ sessionUpdate: "weather_update" })]), []);
    expect(after[0]).toBe(before[0]);
    expect(after).toHaveLength(3);
  });

  it("groups three finished look-ups or more, never one that still runs", () => {
    const three = reduceTranscript(EMPTY_TRANSCRIPT, [read("a"), read("b"), read("c")]);
    expect(kinds(three)).toEqual(["tools"]);
    expect(kinds(reduceTranscript(EMPTY_TRANSCRIPT, [read("a"), read("b")]))).toEqual(["tool", "tool"]);
    expect(kinds(reduceTranscript(three, [read("d", "in_progress")]))).toEqual(["tools", "tool"]);
  });

  it("shows a waiting prompt until the transcript has it", () => {
    const started = reduceTranscript(EMPTY_TRANSCRIPT, [
      { kind: "echo", promptId: "p1", blocks: entry("p1").blocks, ts: 1 },
    ]);
    expect(buildRows(EMPTY_TRANSCRIPT, [entry("p1")]).map((row) => row.kind)).toEqual(["pending"]);
    expect(buildRows(started, [entry("p1"), entry("p2")]).map((row) => row.key)).toEqual(["pp1", "qp2"]);
  });

  it("shows no empty chunk", () => {
    const content = { type: "text", text: "" };
    const chunk = { sessionUpdate: "agent_message_chunk", content };
    const transcript = reduceTranscript(EMPTY_TRANSCRIPT, [
      { kind: "event", method: "session/update", params: { update: chunk }, stamp: undefined },
    ]);
    expect(kinds(transcript)).toEqual([]);
  });
});
