import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { systemClock } from "../../../src/backends/zcode/clock.ts";
import { NamedTimers } from "../../../src/bridge/named-timers.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DAY_MS = 86_400_000;

test("X5 a question with a deadline of forty days is not refused at once, nor after twenty-five", () => {
  const fired: string[] = [];
  const timers = new NamedTimers((name) => fired.push(name));
  timers.start("deadline:i1", 40 * DAY_MS);
  timers.start("deadline:i2", 40 * DAY_MS);
  vi.advanceTimersByTime(30 * DAY_MS);
  expect(fired).toEqual([]);
  timers.cancel("deadline:i2");
  vi.advanceTimersByTime(10 * DAY_MS);
  expect(fired).toEqual(["deadline:i1"]);
});

test("X5 nor is one of the zcode profile", () => {
  let count = 0;
  const cancel = systemClock.setTimeout(() => (count += 1), 40 * DAY_MS);
  systemClock.setTimeout(() => (count += 1), 40 * DAY_MS);
  vi.advanceTimersByTime(30 * DAY_MS);
  expect(count).toBe(0);
  cancel();
  vi.advanceTimersByTime(10 * DAY_MS);
  expect(count).toBe(1);
});
