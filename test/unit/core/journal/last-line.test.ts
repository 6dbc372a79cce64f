import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Journal } from "../../../../src/core/journal/journal.ts";
import { type LastLine, messageLine, readLastLine, toolLine } from "../../../../src/core/journal/last-line.ts";
import { LINE_CHARS_MAX, plainLine } from "../../../../src/core/journal/plain-line.ts";
import { HUB } from "../../../../src/protocol/hub-methods.ts";
import { epoch } from "../../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../../src/protocol/json.ts";

describe("a plain line", () => {
  it.each([
    ["controls", "a\u0000b\u0007\u001b[31mred\u001b[0m\u009bc", "abredc"],
    ["a terminal's title", "\u001b]0;owned\u0007done", "done"],
    ["a title without an end", "done \u001b]0;owned", "done"],
    ["bidirectional controls", "a\u202eevil\u202c\u2066b\u2069\u200f", "aevilb"],
    ["zero width, fillers and tags", "a\u200bb\ufeffc\u3164d\u{e0041}e\u00adf", "abcdef"],
    ["spaces of all kinds", " a\u00a0\u2003\tb\r c ", "a b c"],
    ["line separators", "a\u2028b\u2029c", "a b c"],
    ["half of a character", "a\ud83db", "ab"],
    ["what is taken out between spaces", "a \u200b b", "a b"],
    ["a heading", "## What is **left** to do", "What is left to do"],
    ["a list entry in a quote", "> - run `npm test`", "run npm test"],
    ["a link", "see [the issue](https://example.org/1), ![a chart](x.png)", "see the issue, a chart"],
    ["stars that are none", "a ** b, 2*3, src/**/*.ts", "a ** b, 2*3, src/**/*.ts"],
  ])("takes away what does not belong into one: %s", (_what, text, line) => {
    expect(plainLine(text)).toBe(line);
  });

  it.each(["👩‍💻 ❤️ 👍🏽", "Grüße, 你好, שלום, नमस्ते", "x < y && z > 1"])("leaves %j as it is", (text) => {
    expect(plainLine(text)).toBe(text);
  });

  it("is bounded, and cuts no character in two", () => {
    expect(plainLine("a".repeat(5000))).toBe(`${"a".repeat(159)}…`);
    expect(plainLine(`${"a".repeat(158)}😀😀`)).toBe(`${"a".repeat(158)}…`);
    expect(plainLine("a".repeat(160))).toHaveLength(160);
  });

  it("is one line of what can be seen, whatever it was", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc
        .array(fc.constantFrom("\u001b[", "\u202e", "\n", "`", "**", "[", "](", ")", "# ", "x", "\u200d", "👩"))
        .map((parts) => parts.join("")),
    );
    fc.assert(
      fc.property(text, (raw) => {
        const line = plainLine(raw);
        expect(line.length).toBeLessThanOrEqual(LINE_CHARS_MAX);
        expect(line).toBe(line.trim());
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c\u200b\ufeff]/u);
        expect(JSON.parse(JSON.stringify(line))).toBe(line);
      }),
    );
  });
});

describe("the last line of a message", () => {
  const journal = (...events: readonly (JsonObject | "turn" | "end")[]): Journal => {
    const made = new Journal(epoch("e1"), 1_000_000);
    for (const event of events) {
      if (event === "turn" || event === "end")
        made.append(1, HUB.turn, { state: "running", ...(event === "end" && { stopReason: "end_turn" }) }, 100);
      else made.append(1, "session/update", { sessionId: "s1", update: event }, 100);
    }
    return made;
  };
  const lineOf = (made: Journal, seq = made.tail): LastLine | undefined => messageLine(made.backFrom(seq));
  const block = (content: JsonObject, sessionUpdate = "agent_message_chunk", messageId = "m1"): JsonObject => ({
    sessionUpdate,
    messageId,
    content,
  });
  const said = (text: string, messageId = "m1"): JsonObject =>
    block({ type: "text", text }, "agent_message_chunk", messageId);
  const asked = (content: JsonObject): JsonObject => block(content, "user_message_chunk", "u1");

  it("is put together from its chunks", () => {
    const made = journal(said("One.\n"), said("Tw"), said("o wo"), said("rds"));
    expect(lineOf(made)).toEqual({ from: "agent", text: "Two words" });
    expect(lineOf(made, 3)).toEqual({ from: "agent", text: "Two words" });
  });

  it("is not cut by what readers do not see between its chunks", () => {
    const usage = { sessionUpdate: "usage_update", used: 1 };
    const update = { sessionUpdate: "tool_call_update", toolCallId: "t0", status: "completed" };
    expect(lineOf(journal(said("a "), usage, said("b "), "turn", update, said("c")))?.text).toBe("a b c");
  });

  it.each([
    ["a tool", { sessionUpdate: "tool_call", toolCallId: "t1", title: "Run" }],
    ["a thought", { sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } }],
    ["the end of a turn", "end" as const],
    ["another message", said("other", "m0")],
  ])("begins after %s", (_what, between) => {
    expect(lineOf(journal(said("before "), between, said("after")))?.text).toBe("after");
  });

  it("is the last one that says something", () => {
    expect(lineOf(journal(said("Run this:\n```sh\nnpm test\n```\n\n---\n  \n")))?.text).toBe("npm test");
    expect(lineOf(journal(said("```ts\n}\n```")))?.text).toBe("}");
    expect(lineOf(journal(said("👍\n")))?.text).toBe("👍");
    expect(lineOf(journal(said(" \n\n")))).toBeUndefined();
    expect(lineOf(journal(said(`${"x\n".repeat(40_000)}the end`)))?.text).toBe("the end");
    expect(lineOf(journal(said("y".repeat(100_000))))?.text).toHaveLength(LINE_CHARS_MAX);
  });

  it("says whose it is, and names what is attached", () => {
    const link = { type: "resource_link", name: "pool.ts", uri: "file:///w/pool.ts" };
    const made = journal(
      asked({ type: "text", text: "why is" }),
      asked(link),
      asked({ type: "text", text: "slow?" }),
      asked({ type: "image", mimeType: "image/png", data: "" }),
    );
    expect(lineOf(made)).toEqual({ from: "user", text: "why is @pool.ts slow? [image]" });
    const embedded = { type: "resource", resource: { uri: "file:///w/a%20b.ts", text: "1" } };
    expect(lineOf(journal(asked(embedded)))?.text).toBe("@a%20b.ts");
  });

  it("is nothing where its event is gone", () => {
    const made = new Journal(epoch("e1"), 2_000);
    for (let at = 0; at < 40; at += 1)
      made.append(1, "session/update", { sessionId: "s1", update: said(`line ${at}`, `m${at}`) }, 100);
    expect(lineOf(made)?.text).toBe("line 39");
    expect(lineOf(made, 1)).toBeUndefined();
    expect(lineOf(made, 99)).toBeUndefined();
  });

  it("of a tool is its title", () => {
    expect(toolLine({ title: "Run `npm test`\nnow" })).toEqual({ from: "tool", text: "Run npm test now" });
    expect(toolLine({ title: "\u200b" })).toBeUndefined();
    expect(toolLine(undefined)).toBeUndefined();
  });

  it.each([null, "x", { from: "agent" }, { from: "cat", text: "x" }, { from: "agent", text: "" }])(
    "is not read from %j",
    (kept) => {
      expect(readLastLine(kept)).toBeUndefined();
    },
  );
});
