/** B1–B4: who gets which update, echoes, turn notices. */
import { expect, test } from "vitest";
import { chunk } from "../../support/world/fake-agent.ts";
import { shared } from "../../support/world/shared.ts";
import { World } from "../../support/world/world.ts";

test("B1 one stamped copy serves all remote clients, and the primary gets the agent's own bytes", () => {
  const { world, session, phone } = shared();
  const plain = world.remote();
  world.load(plain, session);
  const text = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${session}", "update":{"sessionUpdate":"odd_kind","x":1.50}}}`;
  world.agent.raw(text);
  world.settle();
  expect(world.primary.raw.at(-1)).toBe(text);
  expect(phone.raw.at(-1)).toBe(plain.raw.at(-1));
  expect(phone.raw.at(-1)).toContain(`"_meta":{"acp-hub":{"epoch":"`);
  expect(phone.raw.at(-1)?.replace(/"_meta":\{"acp-hub":\{[^}]*\}\},/, "")).toBe(text);
});

test("B1 a primary that declared the extension gets stamps and notices", () => {
  const world = new World().start({ _meta: { "acp-hub": {} } });
  const session = world.newSession();
  world.agent.say(session, "x");
  world.prompt(world.primary, session, "hi");
  expect(world.primary.of("session/update").at(-1)?.params).toMatchObject({ _meta: { "acp-hub": { seq: 1 } } });
  expect(world.primary.of("_acp-hub/turn").at(-1)?.params).toMatchObject({ state: "running" });
});

test("B1 a client that attached nothing within a second watches every session from its initialize on", () => {
  const { world, session } = shared();
  world.agent.say(session, "before");
  world.settle();
  const watcher = world.remote();
  world.agent.say(session, "while");
  world.advance(999);
  expect(watcher.of("session/update")).toEqual([]);
  world.advance(1);
  world.agent.say(session, "after");
  world.settle();
  expect(watcher.transcript(session).text()).toBe("whileafter");
  const later = world.newSession();
  world.agent.say(later, "new");
  world.settle();
  expect(watcher.transcript(later).text()).toBe("new");
});

test("B1 who attaches stops watching the others, but updates:all keeps them", () => {
  const { world, session } = shared();
  const other = world.newSession();
  const watcher = world.remote();
  const all = world.remote({ extended: true, hub: { updates: "all" } });
  world.advance(1000);
  for (const client of [watcher, all]) world.load(client, session);
  world.agent.say(other, "x");
  world.settle();
  expect(watcher.updates(other)).toEqual([]);
  expect(all.updates(other)).toHaveLength(1);
});

test("B1 a client that re-initializes after it attached does not become a watcher", () => {
  const { world, session, phone } = shared();
  const other = world.newSession();
  phone.request("initialize", { protocolVersion: 1, clientCapabilities: phone.capabilities });
  world.advance(2000);
  world.agent.say(other, "x");
  world.agent.say(session, "y");
  world.settle();
  expect(phone.updates(other)).toEqual([]);
  expect(phone.updates(session)).toHaveLength(1);
});

test("B1 a new hub shows a watcher nothing of what happened before", () => {
  const { world, session } = shared();
  world.agent.say(session, "old");
  world.settle();
  world.restartHub();
  const watcher = world.remote({ extended: true, hub: { updates: "all" } });
  world.dial().settle();
  world.agent.say(session, "new");
  world.advance(1000);
  expect(watcher.transcript(session).text()).toBe("new");
});

test("B2 a replay goes to the loader alone, before its response, and what others see does not change", () => {
  const { world, session, phone } = shared();
  world.agent.say(session, "alpha");
  world.settle();
  const before = phone.raw.length;
  const tablet = world.remote();
  const result = world.sendLoad(tablet, session);
  world.agent.say(session, "two");
  world.settle();
  expect(tablet.transcript(session).text()).toBe("alphatwo");
  const at = tablet.received.findIndex((message) => message.id === result);
  expect(tablet.received.slice(0, at).filter((message) => message.method === "session/update").length).toBeGreaterThan(
    0,
  );
  expect(phone.raw.slice(before).filter((text) => text.includes("alpha"))).toEqual([]);
});

test("B2 two loads of one cold session share one agent call, and both get the whole replay", () => {
  const world = new World().start();
  const [first, second] = [world.remote(), world.remote()];
  const watcher = world.remote({ extended: true, hub: { updates: "all" } });
  world.agent.hold("session/load");
  world.sendLoad(first, "old");
  world.settle();
  world.agent.update("old", chunk("a"));
  world.settle();
  world.sendLoad(second, "old");
  world.settle();
  world.agent.update("old", chunk("b"));
  const [call] = world.agent.pending;
  world.agent.respond(call as never, { modes: { currentModeId: "m" } });
  world.agent.update("old", chunk("c"));
  world.settle();
  expect(world.agent.of("session/load")).toHaveLength(1);
  for (const client of [first, second]) {
    expect(client.transcript("old").text()).toBe("abc");
    expect(client.owed).toEqual([]);
  }
  expect(watcher.transcript("old").text()).toBe("c");
  expect(world.primary.transcript("old").text()).toBe("c");
});

test("B2 a load that fails answers everybody who joined it, and nothing of it stays", () => {
  const world = new World().start();
  const [first, second] = [world.remote(), world.remote()];
  world.agent.hold("session/load");
  const a = world.sendLoad(first, "gone");
  world.settle();
  const b = world.sendLoad(second, "gone");
  const c = world.sendLoad(world.primary, "gone");
  world.settle();
  world.agent.fail(world.agent.pending[0] as never, -32002, "no such session");
  world.settle();
  expect(first.error(a).code).toBe(-32002);
  expect(world.primary.error(c).code).toBe(-32002);
  // At the mirror the second goes on as if the session had not been there, and asks for itself.
  for (const call of [...world.agent.pending]) world.agent.fail(call, -32002);
  world.settle();
  expect(second.error(b).code).toBe(-32002);
  expect([...world.mirror.sessions]).toEqual([]);
});

test("B2 the replay around a fork goes to its caller alone", () => {
  const { world, session, phone } = shared();
  world.agent.hold("session/fork");
  const id = world.primary.request("session/fork", { sessionId: session, cwd: "/w", mcpServers: [] });
  world.settle();
  world.agent.update("forked", chunk("history"));
  world.agent.respond(world.agent.pending[0] as never, { sessionId: "forked" });
  world.agent.update("forked", chunk(" live"));
  const watcher = world.remote({ extended: true, hub: { updates: "all" } });
  world.settle();
  const texts = world.primary.received.map(
    (message) => message.id === id || message.params?.["sessionId"] === "forked",
  );
  expect(world.primary.transcript("forked").text()).toBe("history live");
  expect(texts.filter(Boolean)).toHaveLength(3);
  expect(world.primary.received.at(-2)?.id).toBe(id);
  expect(phone.updates("forked")).toEqual([]);
  expect(watcher.transcript("forked").text()).not.toContain("history");
  const late = world.remote();
  world.load(late, "forked");
  expect(late.transcript("forked").text()).toBe("history live");
});

test("B2 history that reaches the hub by catch-up is history too", () => {
  const world = new World().start();
  const loader = world.remote();
  const watcher = world.remote({ extended: true, hub: { updates: "all" } });
  world.agent.hold("session/load");
  world.sendLoad(loader, "old");
  world.settle();
  world.cut();
  world.agent.update("old", chunk("history"));
  world.agent.respond(world.agent.pending[0] as never, {});
  world.settle().dial().settle();
  world.agent.say("old", "news");
  world.settle();
  expect(watcher.transcript("old").text()).toBe("news");
});

test("B3 a prompt is echoed whole to every other client, with one messageId, author and promptId, never to its author", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote();
  world.load(tablet, session);
  const prompt = [
    { type: "text", text: "look" },
    { type: "image", data: "AAAA", mimeType: "image/png" },
    { type: "resource_link", uri: "file:///a", name: "a" },
  ];
  phone.request("session/prompt", { sessionId: session, prompt, _meta: { "acp-hub": { promptId: "p-1" } } });
  world.settle();
  expect(phone.updates(session)).toEqual([]);
  for (const client of [tablet, world.primary])
    expect(client.updates(session).map((update) => update["content"])).toEqual(prompt);
  expect(tablet.of("session/update")[0]?.params).toMatchObject({
    _meta: { "acp-hub": { by: { name: "phone" }, promptId: "p-1" } },
  });
  const ids = new Set(tablet.updates(session).map((update) => update["messageId"]));
  const late = world.remote();
  world.load(late, session);
  expect(new Set(late.updates(session).map((update) => update["messageId"]))).toEqual(ids);
  expect(ids.size).toBe(1);
});

test("B3 an author that loads the session gets its own prompt as history", () => {
  const { world, session, phone } = shared();
  world.prompt(phone, session, "mine");
  world.load(phone, session);
  expect(phone.transcript(session).text("user_message_chunk")).toBe("mine");
});

test("B3 a prompt is echoed when it starts; one that is removed never enters the transcript", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "running");
  world.prompt(phone, session, "waiting", { promptId: "p-1" });
  const tablet = world.remote();
  world.load(tablet, session);
  expect(tablet.transcript(session).text("user_message_chunk")).toBe("running");
  tablet.request("_acp-hub/queue/remove", { sessionId: session, promptId: "p-1" });
  world.settle().agent.end(session);
  world.settle();
  expect(tablet.transcript(session).text("user_message_chunk")).toBe("running");
  expect(world.primary.transcript(session).text("user_message_chunk")).toBe("");
});

test("B3 what the agent echoes of the running prompt is dropped and counted, text and images, and nothing else is", () => {
  const { world, session, phone } = shared();
  const image = { type: "image", data: "AAAA", mimeType: "image/png" };
  world.primary.request("session/prompt", { sessionId: session, prompt: [{ type: "text", text: "hello" }, image] });
  world.settle();
  world.agent.update(session, chunk("hel", undefined, "user_message_chunk"));
  world.agent.update(session, chunk("lo", undefined, "user_message_chunk"));
  world.agent.update(session, { sessionUpdate: "user_message_chunk", content: image });
  world.agent.update(session, chunk("interrupted by user", undefined, "user_message_chunk"));
  world.settle();
  expect(phone.transcript(session).text("user_message_chunk")).toBe("hellointerrupted by user");
  expect(world.observed.filter((each) => each.kind === "echo-dropped")).toHaveLength(3);
});

test("B4 turn starts, ends, queue and settlements are announced, the end before the prompt's response", () => {
  const { world, session, phone } = shared();
  const id = world.prompt(phone, session, "go");
  expect(phone.of("_acp-hub/turn").at(-1)?.params).toMatchObject({ state: "running", by: { name: "phone" } });
  world.agent.end(session, "max_tokens");
  world.settle();
  const tail = phone.received.slice(-2);
  expect(tail[0]).toMatchObject({
    method: "_acp-hub/turn",
    params: { state: "idle", stopReason: "max_tokens", queue: [] },
  });
  expect(tail[1]).toMatchObject({ id, result: { stopReason: "max_tokens" } });
});

test("B4 plain clients get no notices, and updates alone never make a turn", () => {
  const { world, session, phone } = shared();
  const plain = world.remote();
  world.load(plain, session);
  world.agent.say(session, "out of turn");
  world.settle();
  expect(phone.of("_acp-hub/turn")).toEqual([]);
  expect(world.load(plain, session)["_meta"]).toMatchObject({ "acp-hub": { turn: { state: "idle" } } });
  world.prompt(world.primary, session, "x");
  expect(plain.received.filter((message) => message.method?.startsWith("_acp-hub/"))).toEqual([]);
});

test("B4 turns a backend reports of its own are told as well", () => {
  const { world, session, phone } = shared();
  world.agent.notify("_acp-hub/backend_turn", { sessionId: session, running: true, kind: "goal" });
  world.settle();
  expect(phone.of("_acp-hub/turn").at(-1)?.params).toMatchObject({ state: "running" });
  world.agent.notify("_acp-hub/backend_turn", { sessionId: session, running: false, kind: "goal" });
  world.settle();
  expect(phone.of("_acp-hub/turn").at(-1)?.params).toMatchObject({ state: "idle" });
});

test("B4 a late joiner knows who runs the turn, and an end does not name somebody else's prompt", () => {
  const { world, session, phone } = shared();
  world.prompt(phone, session, "a", { promptId: "p-a" });
  world.prompt(phone, session, "b", { promptId: "p-b" });
  const joins = () => world.load(world.remote(), session)["_meta"];
  expect(joins()).toMatchObject({ "acp-hub": { turn: { state: "running", promptId: "p-b", by: { name: "phone" } } } });
  world.agent.end(session);
  world.settle();
  expect(phone.of("_acp-hub/turn").at(-1)?.params).toMatchObject({
    state: "running",
    promptId: "p-a",
    stopReason: "end_turn",
  });
  expect(joins()).toMatchObject({ "acp-hub": { turn: { state: "running", promptId: "p-b" } } });
  world.agent.end(session);
  world.settle();
  expect(joins()).toMatchObject({ "acp-hub": { turn: { state: "idle", queue: [] } } });
  expect(JSON.stringify(joins())).not.toContain("p-b");
});
