import { describe, expect, test } from "vitest";
import { AgeDoubt } from "../../../src/hub/age-doubt.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const DAY = 86_400_000;

describe("ages", () => {
  test("a jump of years is doubted for a day, and then it is the time", async () => {
    const clock = new ManualClock();
    const doubt = new AgeDoubt(clock, clock.now() - 1000);
    expect(doubt.stands()).toBe(false);
    clock.set(3650 * DAY);
    expect(doubt.stands()).toBe(true);
    await clock.advance(DAY - 1);
    expect(doubt.stands()).toBe(true);
    await clock.advance(1);
    expect(doubt.stands()).toBe(false);
  });

  test("a jump back makes nothing old; the way forward again is a jump", () => {
    const clock = new ManualClock();
    const doubt = new AgeDoubt(clock, undefined);
    expect(doubt.stands()).toBe(false);
    clock.set(-3650 * DAY);
    expect(doubt.stands()).toBe(false);
    clock.set(3650 * DAY);
    expect(doubt.stands()).toBe(true);
  });

  test("a start long after the newest record is doubted, a night's sleep is not", () => {
    const clock = new ManualClock();
    expect(new AgeDoubt(clock, clock.now() - 400 * DAY).stands()).toBe(true);
    const awake = new AgeDoubt(clock, clock.now());
    clock.set(DAY / 2);
    expect(awake.stands()).toBe(false);
  });
});
