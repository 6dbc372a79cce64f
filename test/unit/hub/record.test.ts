import { expect, test } from "vitest";
import { InstanceRecord } from "../../../src/hub/record.ts";
import { HUB } from "../../../src/protocol/hub-methods.ts";
import type { LinkSession } from "../../../src/protocol/link.ts";
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

test("C3.history the list's state follows the turn: it is told by events alone once a session is known", () => {
  const store = createMemoryStore();
  const record = new InstanceRecord(store, {
    protocol: 1,
    features: [],
    bridgeVersion: "0.0.0",
    instanceId: "i-1",
    pid: 1,
    startedAt: 1,
    workspace: "/work",
    name: "agent",
    origin: "editor",
  });
  const turn = (seq: number, params: object): void =>
    record.onEvent(INFO, {
      first: seq,
      last: seq,
      ts: 1_000 + seq,
      method: HUB.turn,
      params: { sessionId: "s1", queue: [], ...params },
    });
  const listed = (): unknown[] =>
    store.sessions.list({}).hits.map(({ session: { state, updatedAt } }) => [state, updatedAt]);
  record.onSession(INFO);
  expect(listed()).toEqual([["running", 1_000]]);
  turn(2, { state: "waiting" });
  expect(listed()).toEqual([["waiting", 1_002]]);
  turn(3, { state: "idle", stopReason: "end_turn" });
  expect(listed()).toEqual([["idle", 1_003]]);
  store.close();
});
