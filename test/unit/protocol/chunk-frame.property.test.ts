import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readChunk } from "../../../src/protocol/chunk-frame.ts";
import { parseFrame } from "../../../src/protocol/envelope.ts";

const usual = fc.record({
  stamp: fc.option(fc.record({ epoch: fc.string(), seq: fc.nat(), ts: fc.nat() }), { nil: undefined }),
  sessionId: fc.string(),
  kind: fc.constantFrom("agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "another", "__proto__"),
  text: fc.string({ unit: "binary" }),
  messageId: fc.option(fc.string(), { nil: undefined }),
});

interface Parts {
  readonly stamp: { readonly epoch: string; readonly seq: number; readonly ts: number } | undefined;
  readonly sessionId: string;
  readonly kind: string;
  readonly text: string;
  readonly messageId: string | undefined;
}

function written({ stamp, sessionId, kind, text, messageId }: Parts): string {
  const update = {
    sessionUpdate: kind,
    content: { type: "text", text },
    ...(messageId !== undefined && { messageId }),
  };
  const params = { ...(stamp !== undefined && { _meta: { "acp-hub": stamp } }), sessionId, update };
  return JSON.stringify({ jsonrpc: "2.0", method: "session/update", params });
}

/** What the parser makes of it, or undefined where it is no JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

describe("the short way of reading a text chunk", () => {
  it("gives what the parser gives, in the same order of members", () => {
    fc.assert(
      fc.property(usual, (parts) => {
        const text = written(parts);
        const chunk = readChunk(text);
        if (chunk !== undefined) expect(JSON.stringify(chunk.msg)).toBe(JSON.stringify(JSON.parse(text)));
        expect(parseFrame(text)).toEqual({
          ok: true,
          frame: { kind: "notification", msg: JSON.parse(text), text },
        });
      }),
      { numRuns: 500 },
    );
  });

  it("is taken for the chunks of real agents, stamped and not", () => {
    const text = 'a "quoted" line\n\tand a \\ — ü 🙂';
    const parts = { stamp: undefined, sessionId: "s1", kind: "agent_message_chunk", text, messageId: undefined };
    expect(readChunk(written(parts))).toBeDefined();
    const stamped = { ...parts, stamp: { epoch: "e_1", seq: 12, ts: 1_700_000_000_000 }, messageId: "m1" };
    expect(readChunk(written(stamped))).toBeDefined();
  });

  it("never takes what the parser would refuse or read otherwise, whatever byte is wrong", () => {
    const parts = fc.record({
      base: usual,
      at: fc.nat(),
      by: fc.string({ unit: "binary", minLength: 0, maxLength: 2 }),
    });
    fc.assert(
      fc.property(parts, ({ base, at, by }) => {
        const whole = written(base);
        const cut = at % whole.length;
        const text = whole.slice(0, cut) + by + whole.slice(cut + 1);
        const chunk = readChunk(text);
        if (chunk !== undefined) expect(JSON.stringify(chunk.msg)).toBe(JSON.stringify(parsed(text)));
      }),
      { numRuns: 3000 },
    );
  });

  it.each([
    ["a number with a leading zero", '"seq":1,', '"seq":01,'],
    ["a number past what is exact", '"seq":1,', '"seq":90071992547409930,'],
    ["a raw line end in the text", "hello", "hel\nlo"],
    ["an escape that is none", "hello", "hel\\xlo"],
    ["half a unicode escape", "hello", "hel\\u12"],
    ["a second text member", '"text":"hello"', '"text":"hello","text":"bye"'],
    ["a foreign member", '"text":"hello"', '"text":"hello","annotations":{}'],
    ["an escaped key", '"text":"hello"', '"\\u0074ext":"hello"'],
    ["something behind the message", "}}}", "}}} "],
    ["space", '"params":', '"params": '],
  ])("leaves %s to the parser", (_what, before, after) => {
    const stamp = { epoch: "e", seq: 1, ts: 2 };
    const text = written({ stamp, sessionId: "s", kind: "agent_message_chunk", text: "hello", messageId: undefined });
    expect(readChunk(text)).toBeDefined();
    expect(text).toContain(before);
    expect(readChunk(text.replace(before, after))).toBeUndefined();
  });

  it("leaves long messages to the parser: a pattern remembers every character it may give back", () => {
    const parts = { stamp: undefined, sessionId: "s", kind: "agent_message_chunk", messageId: undefined };
    const text = written({ ...parts, text: "x".repeat(20_000_000) });
    expect(readChunk(text)).toBeUndefined();
    expect(parseFrame(text).ok).toBe(true);
  });
});
