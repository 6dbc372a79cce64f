/** What a transcript keeps, and for how long: a session may run for days. */
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { textOf } from "../../../src/client/transcript/blocks.ts";
import { ITEMS_MAX } from "../../../src/client/transcript/draft.ts";
import {
  EMPTY_TRANSCRIPT,
  type Transcript,
  type TranscriptInput,
  type TranscriptItem,
} from "../../../src/client/transcript/item.ts";
import { prependPage } from "../../../src/client/transcript/page.ts";
import { reduceTranscript } from "../../../src/client/transcript/reduce.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";

const event = (method: string, params: JsonObject, seq: number): TranscriptInput => ({
  kind: "event",
  method,
  params,
  stamp: { epoch: "e1", seq, ts: seq },
});
const update = (body: JsonObject, seq: number): TranscriptInput => event("session/update", { update: body }, seq);
const tool = (seq: number): TranscriptInput =>
  update({ sessionUpdate: "tool_call", toolCallId: `t${seq}`, title: "run", status: "completed" }, seq);
const settled = (seq: number, toolCallId: string): TranscriptInput =>
  event(
    "_acp-hub/interaction_settled",
    {
      interactionId: `i${seq}`,
      toolCallId,
      outcome: { action: "answered" },
      by: { connectionId: "c1", name: "me" },
      at: seq,
    },
    seq,
  );
const tools = (from: number, count: number): readonly TranscriptInput[] =>
  Array.from({ length: count }, (_, index) => tool(from + index));

const ofTools = (from: number, count: number): Transcript => reduceTranscript(EMPTY_TRANSCRIPT, tools(from, count));

describe("what a transcript keeps", () => {
  it("lets go of the oldest items above the bound, and of what was decided about them", () => {
    const first = reduceTranscript(ofTools(1, ITEMS_MAX), [settled(50_001, "t1"), settled(50_002, "t2")]);
    const later = reduceTranscript(first, [tool(60_000), settled(60_001, "t70000")]);
    expect(later.items).toHaveLength(ITEMS_MAX);
    expect(later.items[0]).toMatchObject({ toolCallId: "t2" });
    // What is decided may come before its card does: that stays.
    expect(Object.keys(later.settled)).toEqual(["t2", "t70000"]);
  });

  it("keeps pages a reader asked for: what comes new moves on, nothing is taken back", () => {
    const paged = prependPage(ofTools(201, ITEMS_MAX), tools(1, 200));
    expect(paged.items).toHaveLength(ITEMS_MAX + 200);
    const later = reduceTranscript(paged, [tool(60_000)]);
    expect(later.items).toHaveLength(ITEMS_MAX + 200);
    expect(later.items[0]).toMatchObject({ toolCallId: "t2" });
    expect(later.items.at(-1)).toMatchObject({ toolCallId: "t60000" });
  });

  it("costs a message little beyond its text, in however many pieces it came", async () => {
    // The first round compiles the code, which stays as well.
    await costOfMessages(20);
    const few = await costOfMessages(2);
    const many = await costOfMessages(20);
    expect(many - few).toBeLessThan(100);
    expect(many).toBeLessThan(BYTES_A_MESSAGE_MAX);
  });
});

/** With words of eight bytes; a browser's are of four. What a spread leaves room for would be 128 more. */
const BYTES_A_MESSAGE_MAX = 330;

const MESSAGES = 10_000;
const TEXT_CHARS = 800;

/** Bytes of heap a message keeps beyond its text. */
async function costOfMessages(pieces: number): Promise<number> {
  const before = await usedHeap();
  const items = Array.from({ length: MESSAGES }, (_, number) => messageOf(number, pieces));
  const kept = (await usedHeap()) - before;
  expect(items.every((item) => item !== undefined)).toBe(true);
  return kept / MESSAGES - TEXT_CHARS;
}

/** A message as it stands after its pieces came one by one. */
function messageOf(number: number, pieces: number): TranscriptItem | undefined {
  let transcript = EMPTY_TRANSCRIPT;
  for (let index = 0; index < pieces; index += 1) {
    const text = String(number).padEnd(TEXT_CHARS / pieces, " word");
    const body = { sessionUpdate: "agent_message_chunk", messageId: `m${number}`, content: { type: "text", text } };
    // Parsed, as what comes over a socket.
    const parsed = JSON.parse(JSON.stringify(body)) as JsonObject;
    transcript = reduceTranscript(transcript, [update(parsed, number * pieces + index + 1)]);
  }
  const [item] = transcript.items;
  // Text is read as it is shown, and joined by that.
  if (item !== undefined && "blocks" in item) textOf(item.blocks).trim();
  return item;
}

/** After everything that can go has gone: what the last call left on the stack goes only with it. */
async function usedHeap(): Promise<number> {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 4; round += 1) {
    await setImmediate();
    collect();
    least = Math.min(least, process.memoryUsage().heapUsed);
  }
  return least;
}
