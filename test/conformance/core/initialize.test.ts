/** I: initialize and capabilities. */
import { expect, test } from "vitest";
import { World } from "../../support/world/world.ts";

test("I1 anything before initialize is refused, for the editor and for a remote client", () => {
  const world = new World();
  const early = world.primary.request("session/new", { cwd: "/" });
  world.settle();
  expect(world.primary.error(early).code).toBe(-32600);
  world.start();
  const client = world.connect();
  const id = client.request("session/list", {});
  client.notify("session/cancel", { sessionId: "s1" });
  world.settle();
  expect(client.error(id).code).toBe(-32600);
  expect(world.agent.received.map((message) => message.method)).toEqual(["initialize"]);
});

test("I1 the version is a number, and the answer is the one both speak", () => {
  const world = new World().start();
  const client = world.connect();
  const bad = client.request("initialize", { protocolVersion: "1" });
  const newer = client.request("initialize", { protocolVersion: 7, clientCapabilities: {} });
  world.settle();
  expect(client.error(bad).code).toBe(-32602);
  expect(client.result(newer)["protocolVersion"]).toBe(1);
  const wrong = world.primary.request("initialize", { protocolVersion: {} });
  const again = world.primary.request("initialize", { protocolVersion: 9, clientCapabilities: {} });
  world.settle();
  expect(world.primary.error(wrong).code).toBe(-32602);
  expect(world.primary.result(again)["protocolVersion"]).toBe(1);
});

test("I1 a second initialize re-declares the client: it gets notices from then on", () => {
  const world = new World().start();
  const session = world.newSession();
  const client = world.remote();
  world.load(client, session);
  world.prompt(world.primary, session, "one");
  expect(client.of("_acp-hub/turn")).toEqual([]);
  client.request("initialize", { protocolVersion: 1, clientCapabilities: { _meta: { "acp-hub": {} } } });
  world.settle();
  world.agent.end(session);
  world.settle();
  expect(client.of("_acp-hub/turn")).toHaveLength(1);
});

test("I2 the agent is initialized once, with the primary's own words", () => {
  const world = new World();
  world.primary.request("initialize", {
    protocolVersion: 1,
    clientInfo: { name: "zed", version: "9", extra: true },
    clientCapabilities: { fs: { readTextFile: true }, later: { x: 1 } },
    unknownMember: [1, 2],
  });
  world.settle();
  world.dial().settle();
  world.remote({ forms: true });
  const asked = world.agent.of("initialize");
  expect(asked).toHaveLength(1);
  expect(asked[0]?.params).toMatchObject({
    clientInfo: { name: "zed", version: "9", extra: true },
    unknownMember: [1, 2],
    clientCapabilities: { fs: { readTextFile: true }, later: { x: 1 } },
  });
});

test("I1 B7 what an agent says or asks before it has answered initialize is between it and the editor, as without us", () => {
  const world = new World();
  world.agent.hold("initialize");
  world.agent.notify("_vendor/log", { text: "hello" });
  world.primary.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  world.settle();
  world.agent.notify("_vendor/status", { text: "logging in" });
  const asked = world.agent.ask("_vendor/which", { of: 2 });
  world.settle();
  expect(world.primary.received.map(({ method }) => method)).toEqual([
    "_vendor/log",
    "_vendor/status",
    "_vendor/which",
  ]);
  const [dialog] = world.primary.openDialogs;
  if (dialog === undefined) throw new Error("nothing was asked");
  world.primary.answer(dialog, { chosen: 1 });
  world.settle();
  expect(world.agent.answerTo(asked)).toEqual({ chosen: 1 });
});

test("I2 a headless bridge initializes its agent by itself", () => {
  const world = new World({ root: { hasPrimary: false } });
  world.root.startHeadless();
  world.dial().settle();
  expect(world.agent.last("initialize")?.params).toMatchObject({ clientInfo: { name: "acp-hub" } });
  expect(world.remote().responses.size).toBe(1);
});

test("I2 remote clients that come earlier wait for the agent, twice asked and twice answered", () => {
  const world = new World();
  world.dial().settle();
  const client = world.connect();
  const ids = [1, 2].map((id) => client.request("initialize", { protocolVersion: 1, clientCapabilities: {} }, id));
  world.settle();
  expect(client.responses.size).toBe(0);
  world.start();
  for (const id of ids) expect(client.result(id)["agentInfo"]).toEqual({ name: "fake", version: "1" });
});

test("I2 the wait for an agent that never initializes is bounded and ends with a clear error", () => {
  const world = new World();
  world.dial().settle();
  const client = world.connect();
  const id = client.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  world.advance(9_999);
  expect(client.responses.size).toBe(0);
  world.advance(1);
  expect(client.error(id).data).toMatchObject({ code: "agent-not-ready" });
});

test("I2 a failed initialize is returned and not remembered", () => {
  const world = new World();
  world.agent.hold("initialize");
  const first = world.primary.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  world.settle();
  world.agent.fail(world.agent.pending[0] as never, -32000, "log in");
  world.settle();
  expect(world.primary.error(first)).toMatchObject({ code: -32000, message: "log in" });
  const second = world.primary.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  world.settle();
  world.agent.respond(world.agent.pending[0] as never, { protocolVersion: 1 });
  world.settle();
  expect(world.primary.result(second)).toEqual({ protocolVersion: 1 });
});

test("I3 a spawned agent is told the primary's own capabilities plus the forms we can always render", () => {
  const world = new World().start({ fs: { readTextFile: true }, _meta: { x: 1, "acp-hub": {} } });
  world.remote({ capabilities: { terminal: true, plan: {} } });
  expect(world.agent.of("initialize")).toHaveLength(1);
  expect(world.agent.last("initialize")?.params?.["clientCapabilities"]).toEqual({
    fs: { readTextFile: true },
    elicitation: { form: {} },
    _meta: { x: 1 },
  });
});

test("I3 nothing is promised when nothing is shared, or when forms are the primary's alone", () => {
  for (const root of [{ isShared: false }, { forms: "primary" as const }]) {
    const world = new World({ root }).start();
    expect(world.agent.last("initialize")?.params?.["clientCapabilities"]).toEqual({});
  }
});

test("I3 an in-process agent sees the merged view live, and it shrinks when a client leaves", () => {
  const world = new World({ root: { seesCapabilitiesLive: true } }).start({ session: { notices: false } });
  const told = () => world.agent.last("initialize")?.params?.["clientCapabilities"];
  const phone = world.remote({ forms: true, capabilities: { session: { notices: true }, _meta: { a: "phone" } } });
  expect(told()).toMatchObject({ elicitation: { form: {} }, session: { notices: true } });
  world.disconnect(phone);
  world.settle();
  expect(told()).toEqual({ session: { notices: false } });
});

test("I3 a hub-wide connection counts where it is attached, and only while it is", () => {
  const world = new World({ root: { seesCapabilitiesLive: true } }).start();
  const session = world.newSession();
  const told = () => world.agent.last("initialize")?.params?.["clientCapabilities"];
  const phone = world.connect({ capabilities: { plan: {} } });
  phone.connection.isHubWide = true;
  phone.request("initialize", { protocolVersion: 1, clientCapabilities: phone.capabilities });
  world.advance(2000);
  expect(told()).not.toHaveProperty("plan");
  world.load(phone, session);
  expect(told()).toHaveProperty("plan");
  phone.request("session/close", { sessionId: session });
  world.settle();
  expect(told()).not.toHaveProperty("plan");
  world.prompt(phone, session, "here again");
  expect(told()).toHaveProperty("plan");
  expect(world.agent.prompts).toHaveLength(1);
  world.disconnect(phone);
  world.settle();
  expect(told()).not.toHaveProperty("plan");
});

test("I3 a hub-wide connection counts no longer when the session it was attached to is gone", () => {
  const world = new World({ root: { seesCapabilitiesLive: true } }).start();
  const session = world.newSession();
  const phone = world.connect({ capabilities: { plan: {} } });
  phone.connection.isHubWide = true;
  phone.request("initialize", { protocolVersion: 1, clientCapabilities: phone.capabilities });
  world.settle();
  world.load(phone, session);
  world.remote({ capabilities: { subagents: {} } });
  const told = () => world.agent.last("initialize")?.params?.["clientCapabilities"];
  expect(told()).toMatchObject({ plan: {}, subagents: {} });
  phone.request("session/close", { sessionId: session, _meta: { "acp-hub": { force: true } } });
  world.settle();
  expect(world.mirror.holdsSession(session)).toBe(false);
  expect(told()).toMatchObject({ subagents: {} });
  expect(told()).not.toHaveProperty("plan");
});

test("I4 file and terminal capabilities of a remote client never reach the agent", () => {
  const world = new World({ root: { seesCapabilitiesLive: true } }).start({ fs: { readTextFile: true } });
  world.remote({
    capabilities: { fs: { readTextFile: true, writeTextFile: true }, terminal: true, auth: { terminal: true }, y: {} },
  });
  expect(world.agent.last("initialize")?.params?.["clientCapabilities"]).toEqual({ fs: { readTextFile: true }, y: {} });
});

test("I4 a headless agent is told of no files and no terminal", () => {
  const world = new World({ root: { hasPrimary: false, seesCapabilitiesLive: true } });
  world.root.startHeadless();
  world.dial().settle();
  world.remote({ capabilities: { fs: { readTextFile: true }, terminal: true } });
  expect(world.agent.last("initialize")?.params?.["clientCapabilities"]).toEqual({});
});

test("I5 the primary gets the agent's own result, a remote client what the hub adds as well", () => {
  const world = new World().start();
  expect(world.primary.result(1)).toEqual({
    protocolVersion: 1,
    agentInfo: { name: "fake", version: "1" },
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {} } },
    authMethods: [],
  });
  const client = world.remote({ name: "phone" });
  expect(client.result(1)).toMatchObject({
    agentInfo: { name: "fake" },
    agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, resume: {}, close: {} } },
    _meta: { "acp-hub": { connectionId: client.id, instance: "i1", device: { name: "phone" }, version: "0.0.0" } },
  });
});
