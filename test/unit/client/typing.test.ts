import { describe, expect, it } from "vitest";
import { Typing } from "../../../src/client/typing.ts";
import { ManualClock } from "../../support/manual-clock.ts";

function world() {
  const clock = new ManualClock();
  const told: boolean[] = [];
  const notify = (_method: string, params: Record<string, unknown>): boolean => {
    told.push(params["typing"] === true);
    return true;
  };
  const typing = new Typing("s1", { clock, notify });
  const sign = (connectionId: string, isTyping = true, name = connectionId): void =>
    typing.receive({ sessionId: "s1", typing: isTyping, by: { connectionId, device: "d", name } });
  const names = (): string[] => typing.typists.value.map((typist) => typist.name);
  return { clock, told, typing, sign, names };
}

describe("typing", () => {
  it("tells of a burst of keys once, again while it goes on, and of the end once", async () => {
    const { clock, told, typing } = world();
    for (let key = 0; key < 10; key += 1) typing.tell(true);
    expect(told).toEqual([true]);
    await clock.advance(3000);
    typing.tell(true);
    expect(told).toEqual([true, true]);
    typing.tell(false);
    typing.tell(false);
    expect(told).toEqual([true, true, false]);
    typing.tell(true);
    expect(told).toEqual([true, true, false, true]);
  });

  it("shows who types until they stop, leave, or say no more", async () => {
    const { clock, typing, sign, names } = world();
    sign("a");
    sign("b");
    sign("c");
    expect(names()).toEqual(["a", "b", "c"]);
    sign("b", false);
    expect(names()).toEqual(["a", "c"]);
    typing.keep(new Set(["c"]));
    expect(names()).toEqual(["c"]);
    await clock.advance(5000);
    sign("c");
    await clock.advance(5000);
    expect(names()).toEqual(["c"]);
    await clock.advance(2000);
    expect(names()).toEqual([]);
  });

  it("takes no sign of nobody", () => {
    const { typing, names } = world();
    typing.receive({ sessionId: "s1", typing: true });
    expect(names()).toEqual([]);
  });
});
