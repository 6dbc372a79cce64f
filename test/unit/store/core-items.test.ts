import { describe, expect, test } from "vitest";
import { itemLinkText } from "../../../src/core/journal/frames.ts";
import { itemOf } from "../../../src/core/journal/item.ts";
import { Journal, type Since } from "../../../src/core/journal/journal.ts";
import { epoch } from "../../../src/protocol/ids.ts";
import { coalesceItems, fromStored, toStored } from "../../../src/store/core-items.ts";
import { createMemoryStore } from "../../../src/store/memory-store.ts";
import { keyOf } from "../../support/store-samples.ts";

/** What a reader gets: of a run the params hold only the first piece, the text is in the run. */
const seen = (since: Since): unknown => (since.ok ? since.items.map((item) => itemLinkText(item, "e")) : since.reason);

const by = { connectionId: "c1", device: "d1", name: "Ada's phone" };
const text = (kind: string, value: string) => ({
  sessionId: "s",
  update: { sessionUpdate: kind, content: { type: "text", text: value }, messageId: "m" },
});

describe("the core's items in the store", () => {
  test("S3 every kind of item comes back as the core knows it", () => {
    const items = [
      itemOf(1, 10, "session/update", text("user_message_chunk", "hi"), { by, promptId: "p1" }),
      itemOf(2, 11, "session/update", {
        sessionId: "s",
        update: { sessionUpdate: "plan", entries: [] },
        _meta: { x: 1 },
      }),
      itemOf(3, 12, "_acp-hub/turn", { sessionId: "s", state: "idle", stopReason: "end_turn", queue: [] }),
      itemOf(4, 13, "session/update", text("agent_message_chunk", ""), { synthetic: "root" }),
    ];
    for (const item of items) expect(fromStored(toStored(item))).toEqual(item);
  });

  test("S3 joined text keeps its pieces, and a coalesced run without them stays without", () => {
    const journal = new Journal(epoch("e"), 1_000_000);
    for (const piece of ["a", "bc", "def"]) {
      journal.append(1, "session/update", text("agent_message_chunk", piece), piece.length);
    }
    const [joined] = journal.everything();
    if (joined === undefined) throw new Error("the journal is empty");
    expect(itemLinkText(fromStored(toStored(joined)), "e")).toBe(itemLinkText(joined, "e"));
    const cut = {
      ...joined,
      run: { ...joined.run, kind: "agent_message_chunk", messageId: "m", text: "abcdef", pieces: [] },
    };
    expect(fromStored(toStored(cut)).run).toEqual(cut.run);
  });

  test("S4 what the store coalesces is what the core would", () => {
    const update = (status: string) => ({
      sessionId: "s",
      update: { sessionUpdate: "tool_call_update", toolCallId: "t", status },
    });
    const stored = ["pending", "in_progress", "completed"].map((status, index) =>
      toStored(itemOf(index + 1, index, "session/update", update(status))),
    );
    const [card, ...others] = coalesceItems(stored);
    expect(others).toEqual([]);
    expect(card).toMatchObject({ first: 1, last: 3, message: { params: { update: { status: "completed" } } } });
  });

  test("S3 a stored journal fills a new one with the same events", () => {
    const original = new Journal(epoch("e"), 1_000_000);
    const store = createMemoryStore();
    for (let n = 1; n <= 50; n++) {
      const params =
        n % 10 === 0 ? { sessionId: "s", update: { sessionUpdate: "x", n } } : text("agent_message_chunk", `${n} `);
      original.append(n, "session/update", params, 20);
    }
    store.journal.append(keyOf("s"), epoch("e"), original.everything().map(toStored));
    const copy = new Journal(epoch("e"), 1_000_000);
    for (const item of store.journal.read(keyOf("s"), epoch("e"), { after: 0 }).items) copy.put(fromStored(item), 20);
    for (const cursor of [0, 7, 10, 33, 49, 50]) expect(seen(copy.since(cursor))).toEqual(seen(original.since(cursor)));
  });
});
