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
