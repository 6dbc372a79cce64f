import { describe, expect, it } from "vitest";
import { HubClock } from "../../../src/client/hub-clock.ts";
import { Today } from "../../../src/web/app/today.ts";
import { atTime } from "../../../src/web/ui/time.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const MINUTE = 60_000;
const NOON = new Date(2026, 11, 24, 12, 0).getTime();

/** A device and its hub, at these times of their own. */
async function device(ownAt: number, hubAt: number) {
  const clock = new ManualClock();
  clock.set(ownAt - clock.now());
  const hubClock = new HubClock(clock);
  const today = new Today(hubClock, clock);
  const heard = hubClock.heardIn(() =>
    Promise.resolve(new Response("", { headers: { date: new Date(hubAt).toUTCString() } })),
  );
  await heard("api/health", { method: "GET", headers: {} });
  return { clock, today };
}

describe("the day at the hub", () => {
  it("is the hub's, on a device that has the next one already", async () => {
    const late = new Date(2026, 11, 24, 23, 50).getTime();
    const { today } = await device(late + 20 * MINUTE, late);
    expect(atTime(late - 5 * MINUTE, today.moment.value)).not.toMatch(/24/);
  });

  it("is the hub's, on a device that has the one before still", async () => {
    const early = new Date(2026, 11, 25, 0, 5).getTime();
    const { today } = await device(early - 20 * MINUTE, early);
    expect(atTime(early - 2 * MINUTE, today.moment.value)).not.toMatch(/2[45]/);
    expect(atTime(early - 10 * MINUTE, today.moment.value)).toMatch(/24/);
  });

  it("changes at midnight, while a page is open", async () => {
    const { clock, today } = await device(NOON, NOON);
    const told: number[] = [];
    today.moment.subscribe(() => told.push(today.moment.value));
    await clock.advance(11 * 60 * MINUTE);
    expect(atTime(NOON, today.moment.value)).not.toMatch(/24/);
    await clock.advance(2 * 60 * MINUTE);
    expect(told).toHaveLength(1);
    expect(atTime(NOON, today.moment.value)).toMatch(/24/);
  });
});
