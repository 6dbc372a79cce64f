import { describe, expect, it } from "vitest";
import { changesBetween } from "../../../src/client/transcript/changes.ts";
import { EMPTY_TRANSCRIPT, type MessageItem, type Transcript } from "../../../src/client/transcript/item.ts";

const said = (from: number, text: string, more: Partial<MessageItem> = {}): MessageItem => ({
  kind: "agent",
  key: `e${from}`,
  from,
  ts: from,
  messageId: undefined,
  blocks: [{ type: "text", text }],
  by: undefined,
  promptId: undefined,
  isLocal: false,
  ...more,
});

const transcript = (...items: MessageItem[]): Transcript => ({ ...EMPTY_TRANSCRIPT, items });

describe("what a reload brought", () => {
  it("is nothing where both say the same, whatever the echo of a prompt is called", () => {
    const echo = said(3, "go on", {
      kind: "user",
      promptId: "p1",
      key: "m1",
      isLocal: true,
      from: undefined,
      ts: 9,
    } as Partial<MessageItem>);
    const copy = said(3, "go on", { kind: "user", promptId: "p1" });
    expect(changesBetween(transcript(said(1, "a"), echo), transcript(said(1, "a"), copy))).toEqual({
      added: 0,
      changed: 0,
    });
  });

  it("counts what was missing, at the end and between, and what reads otherwise", () => {
    const before = transcript(said(1, "a"), said(5, "half"));
    const after = transcript(said(1, "a"), said(3, "missed"), said(5, "half of it"), said(7, "new"));
    expect(changesBetween(before, after)).toEqual({ added: 2, changed: 1 });
  });

  it("does not count the pages before it, nor what the fresh copy leaves to them", () => {
    const before = transcript(said(5, "a"), said(6, "b"));
    expect(changesBetween(before, transcript(said(2, "older"), said(6, "b")))).toEqual({ added: 0, changed: 0 });
    expect(changesBetween(transcript(), transcript(said(2, "x")))).toEqual({ added: 1, changed: 0 });
  });
});
