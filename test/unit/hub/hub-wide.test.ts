import { expect, test } from "vitest";
import { HubWide } from "../../../src/hub/hub-wide.ts";
import { parseFrame } from "../../../src/protocol/envelope.ts";
import { instanceId } from "../../../src/protocol/ids.ts";
import { LINK_PROTOCOL } from "../../../src/protocol/link.ts";
import { RemoteClient, type RemoteOptions } from "../../support/world/remote-client.ts";
import { World } from "../../support/world/world.ts";

/** A client of the whole hub, which has one instance: the world's. */
function wideClient(world: World, options: RemoteOptions) {
  const hello = {
    protocol: LINK_PROTOCOL,
    features: [],
    bridgeVersion: "0.0.0",
    instanceId: "i1",
    pid: 1,
    startedAt: 0,
    workspace: "/work/project",
    name: "fake",
    origin: "editor" as const,
  };
  const late: string[] = [];
  const only = { id: instanceId("i1"), hello, mirror: world.mirror };
  const wide = new HubWide(
    { list: () => [only], get: (id) => (id === only.id ? only : undefined) },
    "0.0.0",
    undefined,
    () => world.now,
    30_000,
    ({ name }) => late.push(name),
  );
  const client = new RemoteClient("wide", options, (from, text) => {
    const parsed = parseFrame(text);
    if (parsed.ok) wide.onFrame(from.connection, parsed.frame);
  });
  wide.add(client.connection);
  const settle = (): void => {
    for (
      let wires = [client.up];
      wires.length > 0;
      wires = [client.up, client.down].filter((each) => each.canDeliver)
    ) {
      for (const wire of wires) wire.deliver();
      world.settle();
    }
  };
  const initialize = (): void => {
    client.request("initialize", { protocolVersion: 1, clientCapabilities: client.capabilities });
    settle();
  };
  return { client, settle, initialize, late };
}

test("I1 hub-wide a client that says initialize again keeps its sessions, its questions and its waiting prompts", () => {
  const world = new World().start();
  const session = world.newSession();
  const { client, settle, initialize } = wideClient(world, { extended: true });
  initialize();
  world.sendLoad(client, session);
  settle();
  world.prompt(world.primary, session, "running");
  const waiting = client.request("session/prompt", { sessionId: session, prompt: [{ type: "text", text: "next" }] });
  const ask = world.agent.askPermission(session);
  settle();
  initialize();
  expect(client.responses.has(waiting)).toBe(false);
  expect(client.openDialogs).toHaveLength(1);
  world.agent.say(session, "still here");
  settle();
  expect(JSON.stringify(client.updates(session))).toContain("still here");
  client.choose("allow");
  settle();
  expect(world.agent.answerTo(ask)).toEqual({ outcome: { outcome: "selected", optionId: "allow" } });
  world.agent.end(session);
  settle();
  expect(world.agent.prompts.map(({ params }) => params["prompt"])).toMatchObject([[{ text: "next" }]]);
  expect(client.problems).toEqual([]);
});

test("I2 hub-wide what is asked of an agent that its editor has not initialized yet waits for that, and not for ever", () => {
  const world = new World().dial();
  world.settle();
  const { client, settle, initialize } = wideClient(world, {});
  initialize();
  const create = { cwd: "/work/project", mcpServers: [], _meta: { "acp-hub": { instance: "i1" } } };
  const late = client.request("session/new", create);
  settle();
  expect(world.agent.received).toEqual([]);
  world.advance(10_000);
  settle();
  expect(client.error(late)).toMatchObject({ code: -32603, data: { code: "agent-not-ready" } });
  const early = client.request("session/new", create);
  settle();
  world.start();
  settle();
  expect(world.agent.received.map(({ method }) => method)).toEqual(["initialize", "session/new"]);
  expect(client.result(early)["sessionId"]).toBeDefined();
  expect(client.problems).toEqual([]);
});

test("X4 hub-wide an answer that comes late is counted", () => {
  const world = new World().start();
  const session = world.newSession();
  const { client, settle, initialize, late } = wideClient(world, { name: "phone", extended: true });
  initialize();
  world.agent.askPermission(session);
  settle();
  const { dialog } = client;
  world.primary.choose("allow");
  settle();
  expect(late).toEqual([]);
  client.choose("reject", dialog);
  settle();
  expect(late).toEqual(["phone"]);
});
