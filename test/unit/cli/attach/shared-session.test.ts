import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedSession } from "../../../../src/cli/attach/shared-session.ts";
import type { JsonObject } from "../../../../src/protocol/json.ts";
import type { Stamp } from "../../../../src/protocol/meta.ts";

const stampOf = (seq: number, more: Partial<Stamp> = {}): Stamp => ({ epoch: "e1", seq, ts: 0, ...more });
const chunk = (text: string, messageId = "m", kind = "agent_message_chunk"): JsonObject => ({
  sessionUpdate: kind,
  messageId,
  content: { type: "text", text },
});
const sessionAt = (seq: number): SharedSession => {
  const session = new SharedSession("s", true, "/p");
  session.onLoadAnswered({ _meta: { "acp-hub": { cursor: { epoch: "e1", seq } } } });
  return session;
};

describe("what an attached editor has seen of a session", () => {
  it("S3 each event is shown once and in order, however often links come and go and repeat what was", () => {
    fc.assert(
      fc.property(fc.array(fc.record({ news: fc.nat(4), repeats: fc.nat(6) })), (links) => {
        const session = sessionAt(0);
        const shown: number[] = [];
        let head = 0;
        for (const { news, repeats } of links) {
          session.onReturnAsked();
          for (let seq = Math.max(1, head - repeats); seq <= head; seq += 1)
            if (session.admit(stampOf(seq, { replay: true }), undefined) === "show") shown.push(seq);
          session.onReturned(undefined);
          for (let count = 0; count < news; count += 1) {
            head += 1;
            if (session.admit(stampOf(head), undefined) === "show") shown.push(head);
          }
        }
        expect(shown).toEqual(Array.from({ length: head }, (_, index) => index + 1));
      }),
    );
  });

  it("S3 of a message that was joined over the cursor only what is new of it is shown", () => {
    const session = sessionAt(0);
    session.admit(stampOf(1), chunk("Hel"));
    session.admit(stampOf(2), chunk("lo"));
    expect(session.admit(stampOf(5, { from: 1, replay: true }), chunk("Hello world"))).toEqual({ cut: 6 });
    expect(session.admit(stampOf(6), chunk("!"))).toBe("show");
    expect(session.admit(stampOf(8, { from: 1 }), chunk("Hello world!"))).toBe("known");
  });

  it("S3 another message that only begins alike is shown whole", () => {
    const session = sessionAt(0);
    session.admit(stampOf(1), chunk("Hello"));
    expect(session.admit(stampOf(3, { from: 1 }), chunk("Hello you", "other"))).toBe("show");
    session.admit(stampOf(4), { sessionUpdate: "tool_call", toolCallId: "t" });
    expect(session.admit(stampOf(6, { from: 4 }), chunk("Hello you all", "other"))).toBe("show");
  });

  it("S3 on a return the history of another epoch is not shown, what is live in it is", () => {
    const session = sessionAt(7);
    session.onReturnAsked();
    expect(session.admit(stampOf(3, { epoch: "e2", replay: true }), chunk("old"))).toBe("known");
    session.onReturned({ _meta: { "acp-hub": { cursor: { epoch: "e2", seq: 4 } } } });
    expect(session.admit(stampOf(4, { epoch: "e2" }), chunk("old too"))).toBe("known");
    expect(session.admit(stampOf(5, { epoch: "e2" }), chunk("new"))).toBe("show");
    expect(session.cursor).toEqual({ epoch: "e2", seq: 5 });
  });

  it("B3 the editor's own prompt is never shown to it, another's is", () => {
    const session = sessionAt(0);
    session.onPrompt("mine");
    expect(session.admit(stampOf(1, { promptId: "mine" }), chunk("hi", "u", "user_message_chunk"))).toBe("known");
    expect(session.admit(stampOf(2, { promptId: "theirs" }), chunk("hi", "u", "user_message_chunk"))).toBe("show");
    expect(session.admit(stampOf(3, { promptId: "mine" }), chunk("answer"))).toBe("show");
  });

  it("S1 the editor's own load shows everything anew, its own prompts included; pages never move the cursor", () => {
    const session = sessionAt(0);
    session.onPrompt("mine");
    session.admit(stampOf(1, { promptId: "mine" }), chunk("hi", "u", "user_message_chunk"));
    session.onLoadAsked();
    expect(session.admit(stampOf(1, { promptId: "mine", replay: true }), chunk("hi", "u", "user_message_chunk"))).toBe(
      "show",
    );
    session.onLoadAnswered({ _meta: { "acp-hub": { cursor: { epoch: "e1", seq: 9 } } } });
    expect(session.admit(stampOf(2, { page: true }), chunk("older"))).toBe("show");
    expect(session.cursor).toEqual({ epoch: "e1", seq: 9 });
  });
});
