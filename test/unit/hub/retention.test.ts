import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Registry } from "../../../src/hub/registry.ts";
import { startRetention } from "../../../src/hub/retention.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { createMemoryStore } from "../../../src/store/memory-store.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { keyOf, session } from "../../support/store-samples.ts";

const DAY = 86_400_000;
const HOUR = 3_600_000;

const nothing = (): void => undefined;
const emptyRegistry = (): Registry =>
  new Registry(
    {
      closeConnection: nothing,
      observe: nothing,
      paramsFilter: () => (_method, params) => ({ ok: true, params, ignored: [] }),
      hubVersion: "0.0.0",
      limits: LIMITS,
      history: undefined,
      recordOf: () => undefined,
    },
    { onAdded: nothing, onChanged: nothing, onRemoved: nothing, onRemoteToken: nothing },
    { scheduler: new ManualClock(), isAlive: () => true },
  );

beforeEach(() => void vi.useFakeTimers({ now: 1_700_000_000_000 }));
afterEach(() => void vi.useRealTimers());

test("C1.config journal.retentionDays: a session not touched for longer is removed by the hub itself, within the hour", async () => {
  const store = createMemoryStore();
  const ages = { fresh: 0, young: 29 * DAY, old: 31 * DAY };
  for (const [id, age] of Object.entries(ages)) {
    store.sessions.upsert(session(keyOf(id), { updatedAt: Date.now() - age }));
  }
  const listed = (): string[] => store.sessions.list({}).hits.map((hit) => hit.session.sessionId);
  const log = pino({ level: "silent" });
  const stop = startRetention(store, emptyRegistry(), { retentionDays: 30, maxBytes: Number.MAX_SAFE_INTEGER }, log);
  try {
    expect(listed()).toEqual(["fresh", "young", "old"]);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(listed()).toEqual(["fresh", "young"]);
    await vi.advanceTimersByTimeAsync(DAY + HOUR);
    expect(listed()).toEqual(["fresh"]);
  } finally {
    stop();
    store.close();
  }
});
