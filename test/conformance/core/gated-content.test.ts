/** I3: what ACP gates by a client's capability reaches the clients that declared it, whatever the agent was told of the others. */
import { expect, test } from "vitest";
import { type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import type { AcpClient } from "../../support/world/acp-client.ts";
import { chunk } from "../../support/world/fake-agent.ts";
import { World, type WorldOptions } from "../../support/world/world.ts";

const SELECT = { id: "model", name: "Model", type: "select", currentValue: "a", options: [{ value: "a", name: "A" }] };
const TOGGLE = { id: "fast", name: "Fast", type: "boolean", currentValue: true };
const BOTH = [SELECT, TOGGLE];
const DECLARED: JsonObject = {
  session: { configOptions: { boolean: {} }, notices: {}, compaction: {} },
  plan: {},
  subagents: {},
};
const OPTIONS_UPDATE = { sessionUpdate: "config_option_update", configOptions: BOTH };

/** `full` declared everything, `plain` nothing. */
function stage(options: WorldOptions = {}) {
  const world = new World(options);
  world.agent.responders.set("session/new", (request) =>
    world.agent.respond(request, { sessionId: "s1", configOptions: BOTH }),
  );
  world.start(DECLARED);
  const session = world.newSession();
  const full = world.remote({ extended: true, name: "full", capabilities: DECLARED });
  const plain = world.remote({ extended: true, name: "plain" });
  return { world, session, full, plain };
}

const attached = (options: WorldOptions = {}) => {
  const all = stage(options);
  for (const client of [all.full, all.plain]) all.world.load(client, all.session);
  return all;
};

test("I3 boolean options: results of new, load and resume have them for those alone that declared them", () => {
  const { world, session, full, plain } = stage();
  expect(world.load(full, session)["configOptions"]).toEqual(BOTH);
  expect(world.load(plain, session)["configOptions"]).toEqual([SELECT]);
  const resumed = world.sendLoad(plain, session, undefined, "session/resume");
  world.settle();
  expect(plain.result(resumed)["configOptions"]).toEqual([SELECT]);
  world.agent.responders.set("session/new", (request) =>
    world.agent.respond(request, { sessionId: "s2", configOptions: BOTH }),
  );
  const made = plain.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  expect(plain.result(made)["configOptions"]).toEqual([SELECT]);
});

test("I3 boolean options: so do updates, live, caught up and replayed, and the answers of setters", () => {
  const { world, session, full, plain } = attached();
  plain.stall();
  world.agent.say(session, "x".repeat(9000));
  world.settle();
  world.agent.update(session, OPTIONS_UPDATE);
  world.settle();
  plain.drain();
  world.agent.update(session, { ...OPTIONS_UPDATE, n: 2 });
  world.settle();
  world.agent.responders.set("session/set_config_option", (request) =>
    world.agent.respond(request, { configOptions: BOTH }),
  );
  const set = plain.request("session/set_config_option", { sessionId: session, configId: "model", value: "a" });
  world.settle();
  expect(plain.result(set)["configOptions"]).toEqual([SELECT]);
  world.load(plain, session);
  world.load(plain, session, { history: "none" });
  const optionsOf = (client: typeof plain) =>
    client
      .updates(session)
      .flatMap((update) => (update["sessionUpdate"] === "config_option_update" ? [update["configOptions"]] : []));
  expect(optionsOf(plain).length).toBeGreaterThan(3);
  for (const options of optionsOf(plain)) expect(options).toEqual([SELECT]);
  for (const options of optionsOf(full)) expect(options).toEqual(BOTH);
  expect(world.primary.updates(session)[1]).toEqual(OPTIONS_UPDATE);
  expect(world.problems).toEqual([]);
});

test("I3 notices are live words: to those that declared them, in their place, and in no history", () => {
  const { world, session, full, plain } = attached();
  const notice = { sessionUpdate: "notice", message: "rate limited" };
  world.agent.say(session, "before ");
  world.agent.update(session, notice);
  world.agent.say(session, "after");
  world.settle();
  expect(full.updates(session).map((update) => update["sessionUpdate"])).toEqual([
    "agent_message_chunk",
    "notice",
    "agent_message_chunk",
  ]);
  expect(world.primary.updates(session)).toContainEqual(notice);
  expect(JSON.stringify(plain.raw)).not.toContain("rate limited");
  // It has no number.
  expect(full.of("session/update").map(({ params }) => params)).toContainEqual({ sessionId: session, update: notice });
  const late = world.remote({ extended: true, capabilities: DECLARED });
  world.load(late, session);
  expect(JSON.stringify(late.raw)).not.toContain("rate limited");
  world.agent.histories.set("old", [chunk("history"), notice]);
  world.load(full, "old");
  expect(full.updates("old").map((update) => update["sessionUpdate"])).toEqual(["agent_message_chunk"]);
});

test.each([
  { sessionUpdate: "compaction_update", compactionId: "k", status: "completed" },
  { sessionUpdate: "compaction_summary_chunk", compactionId: "k", content: { type: "text", text: "sum" } },
  { sessionUpdate: "subagent_update", sessionId: "child" },
  { sessionUpdate: "session_message_chunk", content: { type: "text", text: "psst" } },
  { sessionUpdate: "plan_removed", planId: "p" },
  { sessionUpdate: "plan_update", plan: { type: "file", planId: "p", uri: "file:///p" } },
])("I3 $sessionUpdate goes to those that declared it, live and replayed", (update) => {
  const { world, session, full, plain } = attached();
  world.agent.update(session, update);
  world.settle();
  expect(full.updates(session)).toEqual([update]);
  expect(plain.updates(session)).toEqual([]);
  for (const client of [full, plain]) world.load(client, session);
  expect(full.updates(session)).toEqual([update, update]);
  expect(plain.updates(session)).toEqual([]);
  expect(world.primary.updates(session)).toEqual([update]);
});

test("I3 who does not know plans by id gets the steps of one as a plan", () => {
  const { world, session, full, plain } = attached();
  const entries = [{ content: "step", priority: "high", status: "pending" }];
  const update = { sessionUpdate: "plan_update", plan: { type: "items", planId: "p", entries } };
  world.agent.update(session, update);
  world.settle();
  expect(full.updates(session)).toEqual([update]);
  expect(plain.updates(session)).toEqual([{ sessionUpdate: "plan", entries }]);
  expect(plain.cursors.get(session)).toEqual(full.cursors.get(session));
});

test("I3 B6 gated and other updates of one tick keep their order for everybody, and B7 unknown kinds go to all", () => {
  const { world, session, full, plain } = attached();
  const kinds = ["a", "config_option_update", "b", "compaction_update", "_new_kind", "config_option_update"];
  for (const [n, sessionUpdate] of kinds.entries())
    world.agent.update(session, { sessionUpdate, n, configOptions: BOTH });
  for (let count = 0; count < 500 && world.step(); count += 1);
  world.settle();
  const numbers = (client: typeof plain) => client.updates(session).map((update) => update["n"]);
  expect(numbers(full)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(numbers(plain)).toEqual([0, 1, 2, 4, 5]);
});

test("I4 I5 a login in a terminal is offered to a remote client only where it can run one", () => {
  const world = new World();
  const agentLogin = { id: "key", name: "Key" };
  const terminal = { id: "tui", name: "Terminal", type: "terminal" };
  world.agent.responders.set("initialize", (request) =>
    world.agent.respond(request, { protocolVersion: 1, agentCapabilities: {}, authMethods: [agentLogin, terminal] }),
  );
  world.start({ auth: { terminal: true } });
  const plain = world.remote();
  const able = world.remote({ capabilities: { auth: { terminal: true } } });
  const methodsOf = (client: AcpClient) => objectAt({ ...client.received[0] } as JsonObject, "result")?.["authMethods"];
  expect(methodsOf(plain)).toEqual([agentLogin]);
  expect(methodsOf(able)).toEqual([agentLogin, terminal]);
  expect(methodsOf(world.primary)).toEqual([agentLogin, terminal]);
});
