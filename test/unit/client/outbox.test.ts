import { describe, expect, it } from "vitest";
import { ClientError } from "../../../src/client/errors.ts";
import { OUTBOX_MAX, Outbox } from "../../../src/client/outbox.ts";
import { memoryStorage } from "../../../src/client/ports.ts";
import { ManualClock, settled } from "../../support/manual-clock.ts";

const blocks = [{ type: "text", text: "x" }];
const lost = () => Promise.reject(new ClientError("connection-lost", "gone"));

describe("outbox", () => {
  it("O1 survives a page load with ids and content", async () => {
    const storage = memoryStorage();
    const clock = new ManualClock();
    const before = new Outbox(storage, clock, lost);
    before.add("p1", "s1", blocks);
    await clock.advance(1);
    before.add("p2", "s1", blocks);
    before.flush(() => true);
    await settled();
    const after = new Outbox(storage, clock, lost);
    await after.restore();
    expect(after.entries.value.map((entry) => [entry.promptId, entry.delivery])).toEqual([
      ["p1", "phone"],
      ["p2", "phone"],
    ]);
  });

  it("forgets on the device what has ended", async () => {
    const storage = memoryStorage();
    const outbox = new Outbox(storage, new ManualClock(), () => Promise.resolve({ stopReason: "end_turn" }));
    outbox.add("p1", "s1", blocks);
    outbox.flush(() => true);
    await settled();
    expect(await storage.keys("outbox/")).toEqual([]);
    expect(outbox.get("p1")).toMatchObject({ delivery: "done", stopReason: "end_turn" });
  });

  it("never has one prompt on the way twice", () => {
    const sent: string[] = [];
    const outbox = new Outbox(memoryStorage(), new ManualClock(), (entry) => {
      sent.push(entry.promptId);
      return new Promise(() => undefined);
    });
    outbox.add("p1", "s1", blocks);
    outbox.flush(() => true);
    outbox.flush(() => true);
    expect(sent).toEqual(["p1"]);
  });

  it("O2 refuses a prompt over its bound instead of dropping one", () => {
    const outbox = new Outbox(memoryStorage(), new ManualClock(), lost);
    for (let index = 0; index < OUTBOX_MAX; index += 1) outbox.add(`p${index}`, "s1", blocks);
    expect(() => outbox.add("more", "s1", blocks)).toThrow(/waiting/);
    expect(outbox.entries.value).toHaveLength(OUTBOX_MAX);
  });
});
