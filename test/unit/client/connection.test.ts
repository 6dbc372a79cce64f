import { describe, expect, it } from "vitest";
import { Connection, type ConnectionState, DialRefused } from "../../../src/client/connection.ts";
import { CLOSE } from "../../../src/protocol/close-codes.ts";
import { ManualClock, settled } from "../../support/manual-clock.ts";
import { helloResult, ScriptedHub } from "../../support/scripted-hub.ts";

function setup(dial: () => Promise<{ url: string }> = () => Promise.resolve({ url: "ws://hub/acp" })) {
  const clock = new ManualClock();
  const hub = new ScriptedHub();
  const clientInfo = { name: "test", version: "1" };
  const connection = new Connection({ dial, openSocket: hub.openSocket, clock, clientInfo });
  const states: ConnectionState["kind"][] = [];
  connection.state.subscribe(() => states.push(connection.state.value.kind));
  return { clock, hub, connection, states };
}

async function ready(world: ReturnType<typeof setup>): Promise<void> {
  world.connection.start();
  await settled();
  world.hub.socket.open();
  world.hub.socket.reply("initialize", helloResult());
  await settled();
}

describe("connection", () => {
  it("C1 goes idle, connecting, initializing, ready and reads what the hub says of itself", async () => {
    const world = setup();
    await ready(world);
    expect(world.states).toEqual(["connecting", "initializing", "ready"]);
    const state = world.connection.state.value;
    expect(state.kind === "ready" && [...state.info.scopes]).toContain("sessions:prompt");
    const params = world.hub.socket.request("initialize").params;
    expect(params).toMatchObject({
      protocolVersion: 1,
      clientCapabilities: { elicitation: { form: {}, url: {} }, _meta: { "acp-hub": {} } },
      clientInfo: { name: "test", version: "1" },
    });
  });

  it("C3 dials again with growing, jittered pauses while the hub is away, at most 30 s", async () => {
    const world = setup();
    world.connection.start();
    await settled();
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 8; attempt += 1) {
      world.hub.socket.drop();
      const state = world.connection.state.value;
      if (state.kind !== "reconnecting") throw new Error("not reconnecting");
      pauses.push(state.retryAt - world.clock.now());
      await world.clock.advance(state.retryAt - world.clock.now());
    }
    expect(pauses).toEqual([750, 1500, 3000, 6000, 12_000, 22_500, 22_500, 22_500]);
    expect(world.hub.sockets).toHaveLength(9);
  });

  it("C3 stops for a revoked device and says what to do", async () => {
    const world = setup();
    await ready(world);
    world.hub.socket.drop(CLOSE.revoked.code);
    expect(world.connection.state.value).toMatchObject({ kind: "stopped", reason: "unauthorized" });
    await world.clock.advance(120_000);
    expect(world.hub.sockets).toHaveLength(1);
  });

  it("C3 waits the longest pause when there are too many connections", async () => {
    const world = setup();
    await ready(world);
    world.hub.socket.drop(CLOSE.tooMany.code);
    const state = world.connection.state.value;
    expect(state.kind === "reconnecting" && state.retryAt - world.clock.now()).toBe(30_000);
  });

  it.each([
    [401, "stopped"],
    [404, "stopped"],
    [429, "reconnecting"],
    [503, "reconnecting"],
  ])("C3 a refused upgrade with status %i ends in %s", async (status, kind) => {
    const world = setup();
    world.connection.start();
    await settled();
    world.hub.socket.drop(1006, status);
    expect(world.connection.state.value.kind).toBe(kind);
  });

  it("C3 a dial that is refused for good stops, one that fails tries again", async () => {
    let isGone = false;
    const world = setup(() => Promise.reject(isGone ? new DialRefused("pair again") : new Error("offline")));
    world.connection.start();
    await settled();
    expect(world.connection.state.value.kind).toBe("reconnecting");
    isGone = true;
    world.connection.wake();
    await settled();
    expect(world.connection.state.value).toEqual({ kind: "stopped", reason: "unauthorized", message: "pair again" });
  });

  it("C4 a wake-up dials at once and only once", async () => {
    const world = setup();
    await ready(world);
    world.hub.socket.drop();
    world.connection.wake();
    world.connection.wake();
    await settled();
    expect(world.hub.sockets).toHaveLength(2);
    await world.clock.advance(5000);
    expect(world.hub.sockets).toHaveLength(2);
  });

  it("C2 a late open of an earlier dial changes nothing", async () => {
    const world = setup();
    world.connection.start();
    await settled();
    const first = world.hub.socket;
    await world.clock.advance(10_000);
    await world.clock.advance(1000);
    expect(world.hub.sockets).toHaveLength(2);
    first.open();
    await settled();
    expect(world.connection.state.value.kind).toBe("connecting");
    expect(first.received).toHaveLength(0);
  });

  it("fails calls in flight when the socket goes, and never sends them on the next", async () => {
    const world = setup();
    await ready(world);
    const call = world.connection.call("session/prompt", {});
    world.hub.socket.drop();
    await expect(call).rejects.toMatchObject({ code: "connection-lost" });
    await expect(world.connection.call("x", {})).rejects.toMatchObject({ code: "not-connected" });
  });

  it("asks a silent hub something after 20 s while seen, and drops the socket when nothing answers", async () => {
    const world = setup();
    await ready(world);
    await world.clock.advance(20_000);
    expect(world.hub.socket.count("_acp-hub/queue/list")).toBe(1);
    world.hub.socket.refuse("_acp-hub/queue/list", -32602, "no session");
    await world.clock.advance(20_000);
    expect(world.hub.socket.count("_acp-hub/queue/list")).toBe(2);
    await world.clock.advance(8000);
    expect(world.connection.state.value.kind).toBe("reconnecting");
  });

  it("asks nothing while hidden and asks at once when seen again", async () => {
    const world = setup();
    await ready(world);
    world.connection.setVisible(false);
    await world.clock.advance(3_600_000);
    expect(world.hub.socket.count("_acp-hub/queue/list")).toBe(0);
    expect(world.clock.pendingCount).toBe(0);
    world.connection.setVisible(true);
    expect(world.hub.socket.count("_acp-hub/queue/list")).toBe(1);
    await world.clock.advance(3000);
    expect(world.connection.state.value.kind).toBe("reconnecting");
  });

  it("leaves no timer behind when it is stopped", async () => {
    const world = setup();
    await ready(world);
    world.connection.stop();
    expect(world.clock.pendingCount).toBe(0);
    expect(world.hub.socket.closedWith).toBe(1000);
  });
});
