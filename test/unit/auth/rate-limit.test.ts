import { describe, expect, test } from "vitest";
import { networkOf, RateLimit } from "../../../src/auth/rate-limit.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const fail = (limit: RateLimit, address: string, times: number): void => {
  for (let n = 0; n < times; n++) limit.onFailure(address);
};

describe("rate limit", () => {
  test("C6.limits ten failures in 15 minutes, and the answer says how long to wait", async () => {
    const clock = new ManualClock();
    const limit = new RateLimit({ clock });
    fail(limit, "192.0.2.1", 9);
    expect(limit.retryAfterSeconds("192.0.2.1")).toBe(0);
    await clock.advance(60_000);
    limit.onFailure("192.0.2.1");
    expect(limit.retryAfterSeconds("192.0.2.1")).toBe(840);
    expect(limit.retryAfterSeconds("192.0.2.2")).toBe(0);
    await clock.advance(839_999);
    expect(limit.retryAfterSeconds("192.0.2.1")).toBe(1);
    await clock.advance(1);
    expect(limit.retryAfterSeconds("192.0.2.1")).toBe(0);
    limit.onFailure("192.0.2.1");
    expect(limit.retryAfterSeconds("192.0.2.1")).toBe(0);
  });

  test("C6.limits a clock that is set neither frees nor locks out anybody", async () => {
    const clock = new ManualClock();
    const limit = new RateLimit({ clock });
    fail(limit, "192.0.2.1", 10);
    clock.set(86_400_000);
    expect(limit.retryAfterSeconds("192.0.2.1")).toBe(900);
    clock.set(-2 * 86_400_000);
    await clock.advance(900_000);
    expect(limit.retryAfterSeconds("192.0.2.1")).toBe(0);
  });

  test("C6.limits, incident 8: loopback is throttled like any other address", () => {
    const limit = new RateLimit({ clock: new ManualClock() });
    fail(limit, "127.0.0.1", 10);
    expect(limit.retryAfterSeconds("127.0.0.1")).toBeGreaterThan(0);
    expect(limit.retryAfterSeconds("::ffff:127.0.0.1")).toBeGreaterThan(0);
  });

  test("memory is bounded, and who fails keeps being remembered", () => {
    const limit = new RateLimit({ clock: new ManualClock(), addressesMax: 100 });
    fail(limit, "192.0.2.1", 10);
    for (let n = 0; n < 5_000; n++) {
      limit.onFailure(`198.51.${Math.floor(n / 250)}.${n % 250}`);
      if (n % 50 === 0) limit.onFailure("192.0.2.1");
    }
    expect(limit.addressCount).toBe(100);
    expect(limit.retryAfterSeconds("192.0.2.1")).toBeGreaterThan(0);
  });

  test("an IPv6 network counts as one address, however it is written", () => {
    const same = ["2001:db8:0:1::1", "2001:DB8::1:ffff:0:0:1", "2001:0db8:0000:0001:1:2:3:4", "2001:db8:0:1::%eth0"];
    expect(new Set(same.map(networkOf))).toEqual(new Set(["2001:db8:0:1::/64"]));
    expect(networkOf("2001:db8:0:2::1")).not.toBe("2001:db8:0:1::/64");
    expect(networkOf("::1")).toBe("0:0:0:0::/64");
    expect(networkOf("not an address")).toBe("not an address");
  });
});
