import { describe, expect, it } from "vitest";
import { itemOf } from "../../../../src/core/journal/item.ts";
import { Journal } from "../../../../src/core/journal/journal.ts";
import { epoch } from "../../../../src/protocol/ids.ts";

const tool = (id: string, output: string) => ({
  sessionId: "s",
  update: { sessionUpdate: "tool_call_update", toolCallId: id, rawOutput: output },
});

describe("a journal over its bound", () => {
  it("S3 coalesces what the hub acknowledged and stays exact after it, as long as that is enough", () => {
    const journal = new Journal(epoch("e"), 20_000);
    for (let index = 0; index < 20; index += 1)
      journal.append(index, "session/update", tool("t", "x".repeat(700)), 760);
    journal.acknowledge(8);
    let count = 20;
    while (journal.exactAfter === 0 && count < 200) {
      journal.append(count, "session/update", tool(`u${count}`, "x".repeat(200)), 260);
      count += 1;
    }
    expect(journal.exactAfter).toBe(8);
    expect(journal.isWhole).toBe(true);
    expect(journal.itemsAfter(8).ok).toBe(true);
    expect(journal.itemsAfter(7)).toEqual({ ok: false, reason: "coalesced" });
  });

  describe("with a reader that has no other source", () => {
    const text = (index: number) => ({
      sessionId: "s",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: `${index} `.padEnd(1000, "x") } },
    });
    const BOUND = 100_000;

    function streamed(count: number, readerAt: (written: number) => number | undefined): Journal {
      const journal: Journal = new Journal(epoch("e"), BOUND, true, () => readerAt(journal.tail));
      for (let index = 1; index <= count; index += 1) journal.append(index, "session/update", text(index), 1100);
      return journal;
    }

    it("J5 keeps exact what it has not read, and lets go of what it has", () => {
      const journal = streamed(350, () => 30);
      expect(journal.exactAfter).toBe(0);
      expect(journal.itemsAfter(30).ok).toBe(true);
      const moving = streamed(2000, (written) => Math.max(0, written - 300));
      expect(moving.exactAfter).toBeGreaterThan(1000);
      expect(moving.exactAfter).toBeLessThanOrEqual(1700);
      expect(moving.itemsAfter(1700).ok).toBe(true);
    });

    it("J5 J3 does not wait for ever for one that has stopped, nor hold more when it has caught up", () => {
      const stopped = streamed(2000, () => 30);
      expect(stopped.exactAfter).toBeGreaterThan(30);
      // It has to start over anyway: nothing is held for it from then on.
      expect(stopped.bytes).toBeLessThanOrEqual(BOUND);
      expect(streamed(2000, (written) => written).bytes).toBeLessThanOrEqual(BOUND);
      let at = 0;
      const late = streamed(350, () => at);
      at = 350;
      for (let index = 351; index < 400; index += 1) late.append(index, "session/update", text(index), 1100);
      expect(late.bytes).toBeLessThanOrEqual(BOUND);
    });

    it("J5 lets go of it when the reader has caught up and nothing more is said", () => {
      let at = 0;
      const quiet = streamed(350, () => at);
      at = 349;
      quiet.acknowledge(300);
      expect(quiet.exactAfter).toBe(0);
      at = 350;
      quiet.acknowledge(300);
      expect(quiet.bytes).toBeLessThanOrEqual(BOUND);
      expect(quiet.itemsAfter(350)).toEqual({ ok: true, items: [] });
    });
  });

  it("J4 never joins text over an event that was merged into an earlier card", () => {
    const chunk = (text: string) => ({
      sessionId: "s",
      update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId: "a" },
    });
    const copy = new Journal(epoch("e"), 1_000_000);
    copy.put({ ...itemOf(1, 1, "session/update", tool("t", "second")), last: 3 }, 100);
    copy.put(itemOf(2, 2, "session/update", chunk("before ")), 100);
    copy.append(4, "session/update", chunk("after"), 100);
    const rest = copy.since(3);
    expect(rest.ok && rest.items.map((item) => item.run?.text)).toEqual(["after"]);
  });
});
