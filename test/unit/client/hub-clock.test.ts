import { describe, expect, it } from "vitest";
import { HubClock } from "../../../src/client/hub-clock.ts";
import { ManualClock } from "../../support/manual-clock.ts";

/** A phone whose clock is `behindMs` behind the hub's, and what asks the hub something. */
function phone(behindMs: number) {
  const clock = new ManualClock();
  clock.set(-behindMs);
  const hub = new HubClock(clock);
  const hubNow = (): number => clock.monotonic();
  const ask = async (wayMs: number, date?: string): Promise<void> => {
    const fetch = hub.heardIn(async () => {
      await clock.advance(wayMs);
      const headers = { date: date ?? new Date(Math.floor(hubNow() / 1000) * 1000).toUTCString() };
      await clock.advance(wayMs);
      return new Response("", { headers });
    });
    await fetch("api/health", { method: "GET", headers: {} });
  };
  return { clock, hub, ask, error: () => Math.abs(hub.now() - hubNow()) };
}

const HOUR_MS = 3_600_000;

describe("the hub's clock", () => {
  it("is this device's while nothing was heard, and while both may well agree", async () => {
    const { clock, hub, ask } = phone(0);
    expect(hub.now()).toBe(clock.now());
    await ask(300);
    expect(hub.offset.value).toBe(0);
  });

  it.each([
    ["behind", HOUR_MS],
    ["ahead", -HOUR_MS],
    ["a minute behind", 61_500],
  ])("is known to some seconds from one answer on a phone that is %s", async (_name, behindMs) => {
    const { hub, ask, error } = phone(behindMs);
    await ask(100);
    expect(error()).toBeLessThan(2000);
    expect(Math.sign(hub.offset.value)).toBe(Math.sign(behindMs));
  });

  it("is known better with every answer, and no worse for a slow one", async () => {
    const { clock, ask, error } = phone(HOUR_MS);
    await ask(4000);
    const first = error();
    for (let round = 0; round < 10; round += 1) {
      await clock.advance(730);
      await ask(40);
    }
    expect(error()).toBeLessThanOrEqual(first);
    expect(error()).toBeLessThan(2000);
    const best = error();
    await ask(20_000);
    expect(error()).toBe(best);
  });

  it("is learnt anew when a clock is set", async () => {
    const { clock, ask, error, hub } = phone(HOUR_MS);
    await ask(50);
    clock.set(HOUR_MS);
    await ask(50);
    expect(hub.offset.value).toBe(0);
    expect(error()).toBe(0);
  });

  it("takes no answer without a date for one", async () => {
    const { hub, ask } = phone(HOUR_MS);
    await ask(50, "yesterday");
    expect(hub.offset.value).toBe(0);
  });
});
