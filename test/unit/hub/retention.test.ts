import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { Registry } from "../../../src/hub/registry.ts";
import { type RetentionOptions, startRetention } from "../../../src/hub/retention.ts";
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

const policy = (journal: Partial<RetentionOptions["journal"]>, audit: Partial<RetentionOptions["audit"]>) => ({
  journal: { ...DEFAULT_CONFIG.journal, ...journal },
  audit: { ...DEFAULT_CONFIG.audit, ...audit },
});

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
  const stop = startRetention(store, emptyRegistry(), policy({ retentionDays: 30 }, {}), log);
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

test("C1.config X13 audit.retentionDays and audit.maxEntries: the audit's beginning goes, and the audit and the log say so", async () => {
  const store = createMemoryStore();
  const actor = { deviceId: "d", name: "n" };
  for (const age of [40, 39, 20, 1]) store.audit.append({ at: Date.now() - age * DAY, actor, action: `${age} days` });
  const said: string[] = [];
  const log = pino({ level: "info" }, { write: (line: string) => void said.push(line) });
  const stop = startRetention(store, emptyRegistry(), policy({}, { retentionDays: 30, maxEntries: 1_000 }), log);
  const actions = (): string[] => store.audit.read(0, 2_000).map(({ action }) => action);
  try {
    await vi.advanceTimersByTimeAsync(60_000);
    expect(actions()).toEqual(["20 days", "1 days", "audit.prune"]);
    expect(said.join("")).toMatch(/"count":2,"msg":"old entries of the audit removed"/);
    for (let n = 1; n <= 998; n += 1) store.audit.append({ at: Date.now(), actor, action: `${n}` });
    await vi.advanceTimersByTimeAsync(HOUR);
    expect(actions().slice(0, 2)).toEqual(["9", "10"]);
    expect(actions()).toHaveLength(991);
  } finally {
    stop();
    store.close();
  }
});

test("C1.config X13 a clock that jumped ahead takes nothing of the audit for its age", async () => {
  const store = createMemoryStore();
  store.sessions.upsert(session(keyOf("a"), { updatedAt: Date.now() }));
  store.audit.append({ at: Date.now(), actor: { deviceId: "d", name: "n" }, action: "kept" });
  vi.setSystemTime(Date.now() + 500 * DAY);
  const stop = startRetention(store, emptyRegistry(), policy({}, {}), pino({ level: "silent" }));
  try {
    await vi.advanceTimersByTimeAsync(60_000);
    expect(store.audit.read(0, 9).map(({ action }) => action)).toEqual(["kept"]);
  } finally {
    stop();
    store.close();
  }
});
