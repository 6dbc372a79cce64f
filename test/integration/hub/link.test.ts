import { connect, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { notification, request } from "../../../src/protocol/envelope.ts";
import { type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import { LINK } from "../../../src/protocol/link.ts";
import { ndjsonTransport } from "../../../src/transport/ndjson.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, RawClient } from "../../support/raw-client.ts";

/** What a bridge of the first minor line says; members a newer one adds are for newer hubs. */
const HELLO: JsonObject = {
  protocol: 1,
  features: [],
  bridgeVersion: "0.1.0",
  instanceId: "recorded",
  pid: process.pid,
  startedAt: 1_700_000_000_000,
  workspace: "/project",
  name: "recorded agent",
  origin: "editor",
};

const SESSION: JsonObject = {
  sessionId: "s1",
  epoch: "e1",
  head: 0,
  tail: 2,
  whole: true,
  cwd: "/project",
  updatedAt: 1_700_000_000_000,
  openedBy: "primary",
  listed: true,
  turn: "idle",
  queue: [],
  state: {},
};

const update = (seq: number, text: string): JsonObject => ({
  _meta: { "acp-hub": { epoch: "e1", seq, ts: 1_700_000_000_000 + seq } },
  sessionId: "s1",
  update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text }, messageId: "m1" },
});

describe("the link, as a recorded bridge speaks it", () => {
  let harness: HubHarness;
  let socket: Socket;
  beforeEach(async () => {
    harness = await startHub();
    socket = connect({ path: harness.paths.linkSocket });
  });
  afterEach(async () => {
    socket.destroy();
    await harness.stop();
  });

  const bridge = (): RawClient => new RawClient(ndjsonTransport(socket, socket));

  it("C7.hello the hub welcomes with what it holds, takes the snapshot and the events, and asks for the agent's clients", async () => {
    const link = bridge();
    const welcome = await link.call(LINK.hello, HELLO);
    expect(welcome["protocol"]).toBe(1);
    expect(welcome["acked"]).toEqual({});
    link.notify(LINK.snapshot, { initialize: { protocolVersion: 1 }, sessions: [SESSION], open: [], settled: [] });
    link.notify("session/update", update(1, "he"));
    link.notify("session/update", update(2, "llo"));
    expect((await link.nextRequest("initialize")).params["clientCapabilities"]).toEqual({});
    const client = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=recorded`, "viewer:phone");
    await client.initialize();
    const loaded = await client.call("session/load", { sessionId: "s1", cwd: "/project", mcpServers: [] });
    expect(client.textOf("agent_message_chunk")).toBe("hello");
    expect(objectAt(objectAt(loaded, "_meta"), "acp-hub")?.["cursor"]).toEqual({ epoch: "e1", seq: 2 });
  });

  it("C7.hello a bridge that dials again is told what the hub holds already", async () => {
    const first = bridge();
    await first.call(LINK.hello, HELLO);
    first.notify(LINK.snapshot, { initialize: { protocolVersion: 1 }, sessions: [SESSION], open: [], settled: [] });
    first.notify("session/update", update(1, "he"));
    first.notify("session/update", update(2, "llo"));
    await expect
      .poll(() => [...(harness.hub.registry.get("recorded")?.mirror.sessions ?? [])][0]?.journal.tail)
      .toBe(2);
    socket.destroy();
    await expect.poll(() => harness.hub.registry.get("recorded")?.state).toBe("unreachable");
    socket = connect({ path: harness.paths.linkSocket });
    const welcome = await bridge().call(LINK.hello, HELLO);
    expect(welcome["acked"]).toEqual({ s1: { epoch: "e1", seq: 2 } });
    expect(harness.hub.registry.get("recorded")?.state).toBe("up");
  });

  it("C7.versions members and messages a newer bridge adds harm nobody, and another protocol is refused with words", async () => {
    const link = bridge();
    await link.call(LINK.hello, { ...HELLO, newMember: { deep: true } });
    link.notify("_acp-hub/link/from_the_future", { anything: 1 });
    link.sendText(JSON.stringify(request("x", "_acp-hub/link/question", {})));
    link.sendText(
      JSON.stringify(notification(LINK.snapshot, { initialize: null, sessions: [], open: [], settled: [] })),
    );
    await expect.poll(() => harness.hub.registry.get("recorded")?.state).toBe("up");
    const other = new RawClient(ndjsonTransport(...twice(connect({ path: harness.paths.linkSocket }))));
    await expect(other.call(LINK.hello, { ...HELLO, protocol: 99, instanceId: "other" })).rejects.toThrow(/protocol/);
    await expect.poll(() => other.closed).toBeDefined();
    other.close();
  });

  it("C7.hello whoever says something else first is cut off", async () => {
    const link = bridge();
    link.notify(LINK.snapshot, { initialize: null, sessions: [], open: [], settled: [] });
    await expect.poll(() => link.closed).toBeDefined();
    expect(harness.hub.registry.list()).toEqual([]);
  });
});

const twice = (socket: Socket): [Socket, Socket] => [socket, socket];
