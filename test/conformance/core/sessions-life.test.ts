/** S6–S9: closing, setters, early updates, hosts, the end of the agent. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { toolCall } from "../../support/world/fake-agent.ts";
import { shared } from "../../support/world/shared.ts";
import { World } from "../../support/world/world.ts";

test("S6 closing detaches; it reaches the agent only from the last one, or forced, and not while a turn runs", () => {
  const { world, session, phone } = shared();
  const close = (client: typeof phone, meta: JsonObject = {}) => {
    const id = client.request("session/close", { sessionId: session, _meta: { "acp-hub": meta } });
    world.settle();
    return client.responses.get(id);
  };
  expect(close(phone)?.result).toEqual({});
  expect(world.agent.of("session/close")).toEqual([]);
  world.agent.say(session, "x");
  world.settle();
  expect(phone.updates(session)).toEqual([]);
  const viewer = world.remote({ scopes: ["sessions:read"] });
  expect(close(viewer, { force: true })?.error?.code).toBe(-32003);
  world.load(phone, session);
  const id = world.primary.request("session/close", { sessionId: session });
  world.settle();
  expect(world.primary.result(id)).toEqual({});
  expect(world.agent.of("session/close")).toEqual([]);
  close(phone);
  expect(world.agent.of("session/close")).toHaveLength(1);
  expect([...world.mirror.sessions]).toEqual([]);
});

test("S6 a session that is gone at the agent is closed all the same, and its readers are told", () => {
  const { world, session, phone } = shared();
  world.agent.responders.set("session/close", (request) => world.agent.fail(request, -32002));
  const ask = world.agent.askPermission(session);
  const tablet = world.remote({ extended: true });
  world.load(tablet, session);
  const id = phone.request("session/close", { sessionId: session, _meta: { "acp-hub": { force: true } } });
  world.settle();
  expect(phone.result(id)).toEqual({});
  expect(tablet.of("_acp-hub/detached").at(-1)?.params).toMatchObject({ sessionId: session, reason: "closed" });
  expect(world.agent.answers.has(ask)).toBe(true);
  expect(phone.openDialogs).toEqual([]);
});

test("S6 I5 an agent that cannot close keeps its session, and the last client that leaves is told nothing but that it has", () => {
  const world = new World().start();
  world.agent.responders.set("session/close", (request) => world.agent.fail(request, -32601));
  const phone = world.remote({ extended: true });
  const created = phone.request("session/new", { cwd: "/work/project", mcpServers: [] });
  world.settle();
  const sessionId = String(phone.result(created)["sessionId"]);
  const left = phone.request("session/close", { sessionId });
  world.settle();
  expect(phone.result(left)).toEqual({});
  world.agent.say(sessionId, "on my own");
  world.settle();
  expect(phone.updates(sessionId)).toEqual([]);
  expect(world.mirror.holdsSession(sessionId)).toBe(true);
  // Who insists hears that it cannot be done; the editor hears what its agent says.
  const forced = phone.request("session/close", { sessionId, _meta: { "acp-hub": { force: true } } });
  const editors = world.primary.request("session/close", { sessionId });
  world.settle();
  expect([phone.error(forced).code, world.primary.error(editors).code]).toEqual([-32601, -32601]);
});

test("S6 setters are serialised, and the others learn of them even where the agent says nothing", () => {
  const { world, session, phone } = shared();
  world.agent.hold("session/set_mode");
  const mine = phone.request("session/set_mode", { sessionId: session, modeId: "code" });
  world.settle();
  world.primary.request("session/set_mode", { sessionId: session, modeId: "ask" });
  world.settle();
  expect(world.agent.pending).toHaveLength(1);
  world.agent.respond(world.agent.pending[0] as never, {});
  world.settle();
  expect(phone.result(mine)).toEqual({});
  expect(phone.updates(session)).toEqual([]);
  expect(world.primary.updates(session)).toEqual([{ sessionUpdate: "current_mode_update", currentModeId: "code" }]);
  world.agent.update(session, { sessionUpdate: "config_option_update", configOptions: [] });
  world.agent.respond(world.agent.pending[0] as never, {});
  world.settle();
  expect(phone.updates(session).map((update) => update["sessionUpdate"])).toEqual(["config_option_update"]);
});

test("S6 updates for ids that pending calls may introduce are held, each for its own, in order", () => {
  const { world, phone } = shared();
  world.agent.hold("session/new");
  const [first, second] = [1, 2].map(() => phone.request("session/new", { cwd: "/w", mcpServers: [] }));
  world.settle();
  world.agent.say("n2", "two ");
  world.agent.say("n1", "one ");
  world.agent.askPermission("n2", "early");
  world.settle();
  expect(world.primary.updates("n1")).toEqual([]);
  const [a, b] = [...world.agent.pending];
  world.agent.respond(a as never, { sessionId: "n1" });
  world.settle();
  expect(phone.transcript("n1").text()).toBe("one ");
  expect(phone.updates("n2")).toEqual([]);
  expect(phone.openDialogs).toEqual([]);
  world.agent.say("n2", "more");
  world.agent.respond(b as never, { sessionId: "n2" });
  world.settle();
  expect(phone.transcript("n2").text()).toBe("two more");
  expect(phone.openDialogs).toHaveLength(1);
  expect([first, second].map((id) => phone.result(id ?? null)["sessionId"])).toEqual(["n1", "n2"]);
});

test("S6 holding is bounded in time and number, and what is let go keeps its order", () => {
  const { world, phone } = shared();
  world.agent.hold("session/new");
  const id = phone.request("session/new", { cwd: "/later", mcpServers: [] });
  world.advance(60_000);
  world.agent.say("n1", "a");
  world.advance(4_999);
  expect(world.primary.updates("n1")).toEqual([]);
  world.advance(1);
  expect(world.primary.transcript("n1").text()).toBe("a");
  for (let count = 0; count < 25; count += 1) world.agent.say("n2", `${count} `);
  world.settle();
  expect(world.primary.transcript("n2").text()).toBe(Array.from({ length: 25 }, (_, count) => `${count} `).join(""));
  world.agent.respond(world.agent.pending[0] as never, { sessionId: "n2" });
  world.settle();
  expect(phone.result(id)["sessionId"]).toBe("n2");
  expect(phone.transcript("n2").text()).toBe(world.primary.transcript("n2").text());
  expect([...world.mirror.sessions].find((session) => session.id === "n2")?.info.cwd).toBe("/later");
});

test("S7 files and terminals of the primary's sessions go to the primary alone, ids remapped", () => {
  const { world, session } = shared({}, { fs: { readTextFile: true }, terminal: true });
  const id = world.agent.ask("fs/read_text_file", { sessionId: session, path: "/a" }, "r-1");
  world.settle();
  expect(world.primary.dialog).toMatchObject({ method: "fs/read_text_file", params: { path: "/a" } });
  world.primary.answer(world.primary.openDialogs[0] as never, { content: "x" });
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ content: "x" });
  expect(world.hosted).toEqual([]);
});

test("S7 those of a session the primary did not open are served by the bridge, and only what the agent was told exists", () => {
  const { world, phone } = shared({}, { fs: { readTextFile: true } });
  const made = phone.request("session/new", { cwd: "/remote", mcpServers: [] });
  world.settle();
  const session = String(phone.result(made)["sessionId"]);
  const read = world.agent.ask("fs/read_text_file", { sessionId: session, path: "/remote/a" });
  const write = world.agent.ask("fs/write_text_file", { sessionId: session, path: "/remote/a", content: "" });
  const terminal = world.agent.ask("terminal/create", { sessionId: session, command: "ls" });
  world.settle();
  expect(world.hosted).toMatchObject([{ request: { id: read, method: "fs/read_text_file" }, sessionId: session }]);
  expect([write, terminal].map((id) => world.agent.answerTo(id))).toEqual([{ error: -32601 }, { error: -32601 }]);
  expect(world.primary.openDialogs).toEqual([]);
  expect(world.root.answerHost(read as never, { result: { content: "y" } }, world.now)).toBe(true);
  expect(world.root.answerHost(read as never, { result: { content: "z" } }, world.now)).toBe(false);
  world.settle();
  expect(world.agent.answerTo(read)).toEqual({ content: "y" });
  world.load(world.primary, session);
  world.agent.ask("fs/read_text_file", { sessionId: session, path: "/remote/b" });
  world.settle();
  expect(world.primary.openDialogs).toHaveLength(1);
});

test("S7 a headless instance answers -32601, and an editor that leaves leaves nothing open", () => {
  const world = new World({ root: { hasPrimary: false } });
  world.root.startHeadless();
  world.dial().settle();
  const id = world.agent.ask("fs/read_text_file", { sessionId: "s", path: "/a" });
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ error: -32601 });
  const { world: other, session } = shared({}, { fs: { readTextFile: true } });
  const open = other.agent.ask("fs/read_text_file", { sessionId: session, path: "/a" });
  other.settle();
  other.root.onPrimaryGone(other.now);
  other.settle();
  expect(other.agent.answers.get(open)?.error?.code).toBe(-32603);
});

test("S7 output of terminals that is relayed reaches the others on the card, once, though the window slides", () => {
  const { world, session, phone } = shared({}, { terminal: true });
  world.agent.update(session, toolCall("t", { content: [{ type: "terminal", terminalId: "term-1" }] }));
  const poll = (output: string, truncated: boolean, exitStatus?: JsonObject) => {
    world.agent.ask("terminal/output", { sessionId: session, terminalId: "term-1" });
    world.settle();
    const result = { output, truncated, ...(exitStatus !== undefined && { exitStatus }) };
    world.primary.answer(world.primary.openDialogs[0] as never, result);
    world.settle();
  };
  poll("first line\n", false);
  poll("first line\nsecond line of it\n", false);
  poll("second line of it\nthird line of it\n", true);
  poll("third line of it\n", true, { exitCode: 0, signal: null });
  const meta = phone.transcript(session).card("t")?.["_meta"];
  expect(meta).toEqual({
    terminal_output: { terminal_id: "term-1", data: "first line\nsecond line of it\nthird line of it\n" },
    terminal_exit: { terminal_id: "term-1", exit_code: 0, signal: null },
  });
  expect(JSON.stringify(world.primary.updates(session))).not.toContain("terminal_output");
  const late = world.remote();
  world.load(late, session);
  expect(late.transcript(session).card("t")?.["_meta"]).toEqual(meta);
});

test("S8 when the agent ends, everything open is answered with how, everybody is told, and nothing hangs", () => {
  const { world, session, phone } = shared();
  world.agent.hold("session/set_mode");
  world.agent.hold("session/load");
  const ids = [
    world.prompt(phone, session, "running"),
    phone.request("session/set_mode", { sessionId: session, modeId: "a" }),
    phone.request("session/set_mode", { sessionId: session, modeId: "b" }),
    world.sendLoad(phone, "cold"),
  ];
  const waiting = world.prompt(world.primary, session, "waiting");
  world.agent.askPermission(session);
  world.settle();
  world.root.onAgentGone("The agent has ended (exit code 3): boom", { exitCode: 3, stderr: "boom" }, world.now);
  world.settle();
  for (const id of ids)
    expect(phone.error(id).data).toMatchObject({ code: "agent-exited", exitCode: 3, stderr: "boom" });
  expect(world.primary.error(waiting).message).toContain("exit code 3");
  for (const client of [phone, world.primary]) expect(client.openDialogs).toEqual([]);
  expect(phone.of("_acp-hub/turn").at(-1)?.params).toMatchObject({ state: "idle" });
  const later = [
    world.primary.request("session/new", { cwd: "/", mcpServers: [] }),
    world.primary.request("session/set_mode", { sessionId: session, modeId: "c" }),
  ];
  world.prompt(world.primary, session, "anyone?");
  world.settle();
  for (const id of later) expect(world.primary.error(id).data).toMatchObject({ code: "agent-exited" });
  expect(world.primary.owed).toEqual([]);
  expect(world.problems).toEqual([]);
});

test("S9 one session id at two instances is two sessions: positions of one say nothing of the other", () => {
  const [one, two] = [new World().start(), new World().start()];
  const a = one.remote({ extended: true });
  const session = one.newSession();
  expect(two.newSession()).toBe(session);
  one.agent.say(session, "in one");
  two.agent.say(session, "in two");
  one.settle();
  two.settle();
  two.mirror.add(a.connection);
  one.load(a, session);
  expect(a.transcript(session).text()).toBe("in one");
  two.agent.say(session, "more of two");
  two.settle();
  one.settle();
  expect(a.transcript(session).text()).toBe("in one");
});

test("S6 a setter whose answer was lost with its link learns of its own change", () => {
  const { world, session, phone } = shared();
  world.agent.hold("session/set_mode");
  const id = phone.request("session/set_mode", { sessionId: session, modeId: "code" });
  world.settle().cut();
  world.settle();
  expect(phone.error(id).data).toMatchObject({ code: "link-lost" });
  world.dial().settle();
  world.agent.respond(world.agent.pending[0] as never, {});
  world.settle();
  expect(phone.updates(session)).toEqual([{ sessionUpdate: "current_mode_update", currentModeId: "code" }]);
});
