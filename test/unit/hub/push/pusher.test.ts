import { pino } from "pino";
import { describe, expect, it } from "vitest";
import { Pusher, type PusherOptions } from "../../../../src/hub/push/pusher.ts";
import { type PushAnswer, topicOf } from "../../../../src/hub/push/sender.ts";
import type { PushSubscriptionRecord } from "../../../../src/hub/push/subscriptions.ts";

const RECORD: PushSubscriptionRecord = {
  deviceId: "d_phone",
  endpoint: "https://push.example.org/x",
  keys: { p256dh: "p", auth: "a" },
  kinds: ["needs-you", "turn-ended"],
};
const MESSAGE = { kind: "needs-you", title: "t", body: "b", tag: "x", url: "#/" } as const;

/** A pusher whose push service answers as told, one answer per try, and whose pauses are written down. */
function stage(answers: readonly (PushAnswer | number | "unreachable")[], more: Partial<PusherOptions> = {}) {
  let records: readonly PushSubscriptionRecord[] = [RECORD];
  let tries = 0;
  const pauses: number[] = [];
  const subscriptions = {
    list: () => records,
    remove: () => {
      records = [];
      return Promise.resolve();
    },
  };
  const pusher = new Pusher({
    subscriptions,
    preferences: { of: () => ({ quietHours: undefined, mutedSessions: [] }) },
    send: () => {
      const answer = answers[tries] ?? 201;
      tries += 1;
      if (answer === "unreachable") return Promise.reject(new Error("no route"));
      return Promise.resolve(typeof answer === "number" ? { status: answer, retryAfterMs: undefined } : answer);
    },
    log: pino({ level: "silent" }),
    wait: (ms) => {
      pauses.push(ms);
      return Promise.resolve();
    },
    ...more,
  });
  const tell = (isDue = () => true) =>
    pusher.tell(MESSAGE, { kind: "needs-you", sessionId: "s1", isFor: () => true, isDue });
  const leave = (): void => void subscriptions.remove();
  return { pusher, tell, leave, pauses, tries: () => tries, records: () => records };
}

describe("a push that does not arrive", () => {
  it("is tried again when the push service is busy or out of reach, longer each time", async () => {
    const { tell, pauses, tries } = stage([503, "unreachable", 429]);
    await tell();
    expect(tries()).toBe(4);
    expect(pauses).toEqual([2000, 10_000, 45_000]);
  });

  it("is given up after the last try", async () => {
    const { tell, tries, pusher, records } = stage(Array.from({ length: 9 }, () => 500));
    await tell();
    expect(tries()).toBe(4);
    expect(pusher.deliveries("d_phone").map((each) => each.status)).toEqual([500, 500, 500, 500]);
    expect(records()).toHaveLength(1);
  });

  it("waits as long as it is told to, up to a bound", async () => {
    const patient = stage([{ status: 429, retryAfterMs: 30_000 }]);
    await patient.tell();
    expect(patient.pauses).toEqual([30_000]);
    const endless = stage([{ status: 429, retryAfterMs: 3_600_000 }]);
    await endless.tell();
    expect(endless.pauses).toEqual([]);
    expect(endless.tries()).toBe(1);
  });

  it.each([400, 403, 413])("is not tried again after %i: the same would come back", async (status) => {
    const { tell, tries, records } = stage([status]);
    await tell();
    expect(tries()).toBe(1);
    expect(records()).toHaveLength(1);
  });

  it.each([404, 410])("after %i the subscription is gone", async (status) => {
    const { tell, tries, records } = stage([status]);
    await tell();
    expect(tries()).toBe(1);
    expect(records()).toEqual([]);
  });

  it("is not tried again once nobody needs it: the question was answered, the device unsubscribed, the hub ends", async () => {
    const answered = stage([503]);
    await answered.tell(() => false);
    expect(answered.tries()).toBe(1);
    const left: ReturnType<typeof stage> = stage([503], { wait: () => Promise.resolve(left.leave()) });
    await left.tell();
    expect(left.tries()).toBe(1);
    const ending = stage([503], {
      wait: (_ms, signal) =>
        new Promise((_resolve, reject) => {
          if (signal.aborted) reject(new Error("ends"));
          else signal.addEventListener("abort", () => reject(new Error("ends")));
        }),
    });
    const told = ending.tell();
    ending.pusher.stop();
    await told;
    expect(ending.tries()).toBe(1);
  });

  it("a test is tried once: the person presses again", async () => {
    const { pusher, tries } = stage([503]);
    expect(await pusher.test("d_phone")).toBe(true);
    expect(tries()).toBe(1);
  });
});

describe("what keeps a push back", () => {
  it("is told in the deliveries, and nothing is sent", async () => {
    const { pusher, tell, tries } = stage([], {
      preferences: { of: () => ({ quietHours: undefined, mutedSessions: ["s1"] }) },
    });
    await tell();
    expect(tries()).toBe(0);
    expect(pusher.deliveries("d_phone")).toMatchObject([{ kind: "needs-you", hushed: "muted" }]);
  });
});

describe("a topic", () => {
  it("is one of the push service's alphabet, whatever the tag", () => {
    expect(topicOf("ask-x/ö 9")).toMatch(/^[\w-]{32}$/);
    expect(topicOf("a")).not.toBe(topicOf("b"));
  });
});
