import { expect, test } from "vitest";
import { InstanceRecord } from "../../../src/hub/record.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import type { LinkHello, LinkSession } from "../../../src/protocol/link.ts";
import { createMemoryStore } from "../../../src/store/memory-store.ts";

const INFO: LinkSession = {
  sessionId: "s1",
  epoch: "e1",
  head: 1,
  tail: 1,
  whole: true,
  cwd: "/work",
  updatedAt: 1_000,
  openedBy: "primary",
  listed: true,
  turn: "running",
  queue: [],
  state: {},
};

const HELLO: LinkHello = {
  protocol: 1,
  features: [],
  bridgeVersion: "0.0.0",
  instanceId: "i-1",
  pid: 1,
  startedAt: 1,
  workspace: "/work",
  name: "agent",
  origin: "editor",
};

test("C3.history the list's state follows the turn: it is told by events alone once a session is known", () => {
  const store = createMemoryStore();
  const record = new InstanceRecord(store, HELLO);
  const listed = (): unknown[] =>
    store.sessions.list({}).hits.map(({ session: { state, updatedAt } }) => [state, updatedAt]);
  record.onSession(INFO);
  expect(listed()).toEqual([["running", 1_000]]);
  record.onStanding({ ...INFO, turn: "waiting" }, 1_002, undefined);
  expect(listed()).toEqual([["waiting", 1_002]]);
  record.onStanding({ ...INFO, turn: "idle" }, 1_003, undefined);
  expect(listed()).toEqual([["idle", 1_003]]);
  store.close();
});

test("C3.history the last line is kept as turns change, over new descriptions, and for the instance that comes next", () => {
  const store = createMemoryStore();
  const record = new InstanceRecord(store, HELLO);
  const kept = (): unknown => store.sessions.list({}).hits[0]?.session.extra["lastLine"];
  record.onSession(INFO);
  expect(record.lastLine(INFO)).toBeUndefined();
  record.onStanding(INFO, 1_001, { from: "user", text: "go" });
  expect(kept()).toEqual({ from: "user", text: "go" });
  record.onSession({ ...INFO, title: "New title" });
  record.onStanding({ ...INFO, turn: "idle" }, 1_002, undefined);
  expect(kept()).toEqual({ from: "user", text: "go" });
  record.onSessionGone(INFO, { from: "agent", text: "Done." });
  expect(new InstanceRecord(store, { ...HELLO, instanceId: "i-2" }).lastLine(INFO)).toEqual({
    from: "agent",
    text: "Done.",
  });
  store.close();
});

test("X13 C3.interactions the audit says by which device and connection a question was settled", () => {
  const store = createMemoryStore();
  const record = new InstanceRecord(store, HELLO);
  record.onSettled({
    interactionId: "x-1",
    sessionId: "s1",
    outcome: { action: "answered", optionId: "yes" },
    by: { connectionId: "c_7", device: "d_phone", name: "phone" },
    at: 1_700_000_000_000,
  });
  expect(store.audit.tail(9)).toEqual([
    {
      id: 1,
      at: 1_700_000_000_000,
      actor: { deviceId: "d_phone", connectionId: "c_7", name: "phone" },
      action: "interaction.answered",
      target: "x-1",
      detail: { action: "answered", optionId: "yes", sessionId: "s1" },
    },
  ]);
  store.close();
});

test("X13 P3 the audit says by which device and connection a turn was begun", () => {
  const store = createMemoryStore();
  const record = new InstanceRecord(store, HELLO);
  const by = { connectionId: "c_7", device: "d_phone", name: "phone" };
  record.onSession(INFO);
  const params = { sessionId: "s1", state: "running", promptId: "p-1", by, queue: [] };
  record.onEvent(INFO, { first: 1, last: 1, method: "_acp-hub/turn", params, ts: 1_001 });
  expect(store.audit.tail(9).map(({ actor, action }) => [action, actor])).toEqual([
    ["session.prompt", { deviceId: "d_phone", connectionId: "c_7", name: "phone" }],
  ]);
  store.close();
});

test("X13 a turn without a promptId is audited once, however often its state and its queue are told, and sessions apart", () => {
  const store = createMemoryStore();
  const record = new InstanceRecord(store, HELLO);
  const by = { connectionId: "primary", device: "primary", name: "editor" };
  let seq = 0;
  const tell = (session: string, notice: JsonObject): void => {
    seq += 1;
    const params = { sessionId: session, by, queue: [], ...notice };
    record.onEvent(
      { ...INFO, sessionId: session },
      { first: seq, last: seq, method: "_acp-hub/turn", params, ts: 1_000 + seq },
    );
  };
  for (const id of ["s1", "s2"]) record.onSession({ ...INFO, sessionId: id });
  tell("s1", { state: "running" });
  tell("s2", { state: "running" });
  tell("s1", { state: "running", queue: [{ by, queuedAt: 1, title: "next" }] });
  tell("s1", { state: "waiting" });
  tell("s1", { state: "running" });
  tell("s2", { state: "running" });
  expect(store.audit.tail(9).map(({ target }) => target)).toEqual(["s1", "s2"]);
  tell("s1", { state: "idle", stopReason: "end_turn" });
  tell("s1", { state: "running" });
  expect(store.audit.tail(9).map(({ target }) => target)).toEqual(["s1", "s2", "s1"]);
  store.close();
});
