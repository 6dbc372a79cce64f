import { expect, test } from "vitest";
import { inEpoch } from "../../../src/core/journal/history-page.ts";
import { itemOf } from "../../../src/core/journal/item.ts";
import { jsonParts, markdownParts } from "../../../src/hub/export.ts";
import { epoch, sessionId } from "../../../src/protocol/ids.ts";
import type { SessionRecord } from "../../../src/store/ports.ts";

const record = {
  sessionId: sessionId("s1"),
  agent: "agent",
  cwd: "/work",
  title: 'A "title"\nof two lines',
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_060_000,
} as SessionRecord;

const update = (sessionUpdate: string, rest: object) => ({ sessionId: "s1", update: { sessionUpdate, ...rest } });
const text = (words: string) => ({ content: { type: "text", text: words } });
const items = inEpoch(epoch("e1"), [
  itemOf(1, 10, "session/update", update("user_message_chunk", text("go\n  on"))),
  itemOf(2, 20, "session/update", update("agent_message_chunk", text("```\ncode\n```"))),
  itemOf(3, 30, "session/update", update("tool_call", { toolCallId: "t", title: "Run", status: "completed" })),
]);

test("C3.history an export in JSON is one document, written as it always was", () => {
  for (const some of [[], items.slice(0, 1), items]) {
    const whole = [...jsonParts(record, some)].join("");
    const read = JSON.parse(whole) as { events: { seq: number }[]; title: string };
    expect([read.title, read.events.map(({ seq }) => seq)]).toEqual([record.title, some.map(({ item }) => item.last)]);
    expect(whole).toBe(JSON.stringify(read, null, 2));
  }
});

test("C3.history one in Markdown has a head and a section for each message and tool", () => {
  const whole = [...markdownParts(record, items)].join("");
  expect(whole.split("\n").slice(2)).toEqual(
    [
      "",
      "- agent: agent",
      "- workspace: /work",
      "- from 2023-11-14T22:13:20.000Z to 2023-11-14T22:14:20.000Z",
      "",
      "## User",
      "",
      "go",
      "  on",
      "",
      "## Agent",
      "",
      "```",
      "code",
      "```",
      "",
      "### Run (completed)",
      "",
      "",
    ].slice(0, -1),
  );
});
