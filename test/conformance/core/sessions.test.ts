/** S1–S5: loads, lists, cursors, replays, what a late joiner knows. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { chunk, toolCall, toolUpdate } from "../../support/world/fake-agent.ts";
import { shared } from "../../support/world/shared.ts";
import { World } from "../../support/world/world.ts";

const ours = (result: JsonObject) => (result["_meta"] as JsonObject)["acp-hub"] as JsonObject;

test("S1 a live session is loaded from the journal, the agent untouched, for the primary as well", () => {
  const { world, session, phone } = shared();
  world.agent.say(session, "hello ");
  world.agent.say(session, "world");
  world.settle();
  expect(ours(world.load(phone, session))).toMatchObject({ verdict: "ok", turn: { state: "idle" } });
  expect(phone.transcript(session).text()).toBe("hello world");
  const before = world.primary.raw.length;
  world.load(world.primary, session);
  expect(world.primary.transcript(session).text()).toBe("hello world");
  expect(world.primary.raw.slice(before).join("")).not.toContain("acp-hub");
  expect(world.agent.of("session/load")).toEqual([]);
});

test("S1 a trimmed live session is asked of the agent by the primary alone, and the journal does not change", () => {
  const { world, session, phone } = shared({ root: { journalBytes: 3000 }, mirror: { journalBytes: 3000 } });
  for (let count = 0; count < 40; count += 1) world.agent.update(session, { sessionUpdate: "odd", count });
  world.settle();
  world.agent.histories.set(session, [chunk("the whole history")]);
  world.load(world.primary, session);
  expect(world.primary.transcript(session).text()).toBe("the whole history");
  const late = world.remote({ extended: true });
  expect(ours(world.load(late, session))).toMatchObject({ verdict: "gap", reason: "trimmed" });
  expect(late.transcript(session).text()).toBe("");
  expect(phone.transcript(session).text()).toBe("");
  expect(world.agent.of("session/load")).toHaveLength(1);
});

test("S1 while a turn runs nobody is asked anew: the journal gives what it holds", () => {
  const { world, session } = shared({ root: { journalBytes: 3000 } });
  for (let count = 0; count < 40; count += 1) world.agent.update(session, { sessionUpdate: "odd", count });
  world.prompt(world.primary, session, "go");
  world.load(world.primary, session);
  expect(world.agent.of("session/load")).toEqual([]);
  expect(world.primary.updates(session).length).toBeGreaterThan(0);
});

test("S1 a cold session is loaded once from the agent, under a new epoch, and live afterwards", () => {
  const world = new World().start();
  world.agent.histories.set("old", [chunk("history")]);
  const phone = world.remote({ extended: true });
  expect(ours(world.load(phone, "old"))).toMatchObject({ verdict: "ok", cursor: { seq: 1 } });
  world.agent.say("old", " and news");
  world.settle();
  expect(phone.transcript("old").text()).toBe("history and news");
  const again = world.remote();
  world.load(again, "old");
  expect(again.transcript("old").text()).toBe("history and news");
  expect(world.agent.of("session/load")).toHaveLength(1);
});

test("S1 a session the agent does not know is its own error, and nothing is left behind", () => {
  const { world, phone } = shared();
  world.agent.responders.set("session/load", (request) => world.agent.fail(request, -32002, "unknown"));
  const id = world.sendLoad(phone, "nope");
  world.settle();
  expect(phone.error(id).code).toBe(-32002);
  world.agent.say("nope", "x");
  world.settle();
  expect(world.primary.transcript("nope").text()).toBe("x");
});

test("S1 resume attaches without replay; a cold one is forwarded, and falls back to a load whose replay nobody sees", () => {
  const { world, session, phone } = shared();
  world.agent.say(session, "before");
  world.settle();
  const resume = (client: typeof phone, id: string) => {
    const request = world.sendLoad(client, id, undefined, "session/resume");
    world.settle();
    return client.result(request);
  };
  const tablet = world.remote({ extended: true });
  expect(resume(tablet, session)["modes"]).toMatchObject({ currentModeId: "ask" });
  expect(tablet.transcript(session).text()).toBe("");
  expect(resume(phone, "cold")["modes"]).toBeDefined();
  world.agent.responders.set("session/resume", (request) => world.agent.fail(request, -32601));
  world.agent.histories.set("colder", [chunk("old text")]);
  resume(phone, "colder");
  world.agent.say("colder", "new");
  world.settle();
  expect(phone.transcript("colder").text()).toBe("new");
  const late = world.remote();
  world.load(late, "colder");
  expect(late.transcript("colder").text()).toBe("old textnew");
});

test("S1 everything about a session that is being opened waits for it: one opening call at a time", () => {
  const { world, phone } = shared();
  world.agent.hold("session/resume");
  const resumed = world.sendLoad(phone, "cold", undefined, "session/resume");
  world.settle();
  const loaded = world.sendLoad(world.primary, "cold");
  const prompted = world.prompt(world.primary, "cold", "hi");
  const dropped = world.prompt(world.primary, "cold", "never mind");
  world.primary.notify("$/cancel_request", { requestId: dropped });
  world.settle();
  expect(world.agent.of("session/load")).toEqual([]);
  expect(world.agent.of("session/prompt")).toEqual([]);
  world.agent.respond(world.agent.pending[0] as never, {});
  world.settle();
  expect(phone.result(resumed)).toBeDefined();
  expect(world.primary.result(loaded)).toBeDefined();
  expect(world.primary.error(dropped).code).toBe(-32800);
  expect(world.agent.prompts).toHaveLength(1);
  world.agent.end("cold");
  world.settle();
  expect(world.primary.result(prompted)).toEqual({ stopReason: "end_turn" });
});

test("S2 the list joins live sessions with the agent's, newest first, filtered before paging, without unused ones", () => {
  const { world, session, phone } = shared();
  world.agent.responders.set("session/list", (request) =>
    world.agent.respond(request, {
      sessions: [
        { sessionId: "old", cwd: "/work/project", title: "old one", updatedAt: "2020-01-01T00:00:00Z" },
        { sessionId: "elsewhere", cwd: "/other", updatedAt: "2021-01-01T00:00:00Z" },
        { sessionId: session, cwd: "/work/project", updatedAt: "2019-01-01T00:00:00Z" },
      ],
    }),
  );
  const list = (params: JsonObject) => {
    const id = phone.request("session/list", params);
    world.settle();
    return (phone.result(id)["sessions"] as JsonObject[]).map((entry) => entry["sessionId"]);
  };
  expect(list({ cwd: "/work/project" })).toEqual(["old"]);
  world.prompt(world.primary, session, "use it");
  const made = phone.request("session/new", { cwd: "/other", mcpServers: [] });
  world.settle();
  expect(list({ cwd: "/work/project" })).toEqual([session, "old"]);
  expect(list({})).toContain(phone.result(made)["sessionId"]);
});

test("S2 the list works where the agent cannot list, and pages of one that never ends are bounded", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "x");
  let pages = 0;
  world.agent.responders.set("session/list", (request) =>
    world.agent.respond(request, { sessions: [], nextCursor: `page ${pages++}` }),
  );
  const id = phone.request("session/list", {});
  world.settle();
  expect(phone.result(id)).toMatchObject({ sessions: [{ sessionId: session, title: "x" }] });
  expect(pages).toBe(20);
  world.agent.responders.set("session/list", (request) => world.agent.fail(request, -32601));
  const broken = phone.request("session/list", {});
  const odd = phone.request("session/list", { cursor: "not ours" });
  world.settle();
  expect(phone.result(broken)["sessions"]).toHaveLength(1);
  expect(phone.error(odd).code).toBe(-32602);
});

test("S3 a cursor gets exactly what was missed, coalesced, and says ok; any other says why and replays", () => {
  const { world, session, phone } = shared();
  world.agent.say(session, "one ", "m");
  world.settle();
  const cursor = phone.cursors.get(session);
  world.disconnect(phone);
  for (const word of ["two ", "three ", "four"]) world.agent.say(session, word, "m");
  world.settle();
  const back = world.remote({ extended: true });
  expect(ours(world.load(back, session, { cursor }))).toMatchObject({ verdict: "ok", cursor: { seq: 4 } });
  expect(back.updates(session).map((update) => update["content"])).toEqual([{ type: "text", text: "two three four" }]);
  const verdict = (wanted: unknown) =>
    ours(world.load(world.remote({ extended: true }), session, { cursor: wanted as never }));
  expect(verdict({ ...cursor, epoch: "other" })).toMatchObject({ verdict: "reset", reason: "epoch-changed" });
  expect(verdict({ ...cursor, seq: 99 })).toMatchObject({ verdict: "gap", reason: "ahead" });
  expect(verdict({ seq: -1 })).toMatchObject({ verdict: "reset", reason: "malformed-cursor" });
});

test("S3 a cursor inside what was coalesced away is a gap, never a guess", () => {
  const { world, session, phone } = shared({ mirror: { journalBytes: 3000 } });
  world.agent.say(session, "x");
  world.settle();
  const cursor = phone.cursors.get(session);
  for (let count = 0; count < 60; count += 1) world.agent.update(session, toolUpdate("t", { rawOutput: count }));
  world.settle();
  const back = world.remote({ extended: true });
  expect(ours(world.load(back, session, { cursor }))).toMatchObject({ verdict: "gap" });
  expect(back.transcript(session).card("t")?.["rawOutput"]).toBe(59);
});

test("S4 a replay is coalesced: joined text, latest cards in their place, only the last of each state", () => {
  const { world, session } = shared();
  world.agent.update(session, chunk("a", "m"));
  world.agent.update(session, { sessionUpdate: "plan", entries: [1] });
  world.agent.update(session, chunk("b", "m"));
  world.agent.update(session, toolCall("t", { title: "T" }));
  world.agent.update(session, chunk("c"));
  world.agent.update(session, toolUpdate("t", { status: "completed" }));
  world.agent.update(session, { sessionUpdate: "plan", entries: [2] });
  world.settle();
  const late = world.remote();
  world.load(late, session);
  expect(late.updates(session)).toEqual([
    chunk("ab", "m"),
    { sessionUpdate: "tool_call", toolCallId: "t", title: "T", status: "completed" },
    chunk("c"),
    { sessionUpdate: "plan", entries: [2] },
  ]);
});

test("S5 a late joiner knows mode, options, commands, plan, title and usage, from a load, a resume or the end of a history", () => {
  const { world, session } = shared();
  const updates = [
    { sessionUpdate: "current_mode_update", currentModeId: "code" },
    { sessionUpdate: "available_commands_update", availableCommands: [{ name: "c" }] },
    { sessionUpdate: "session_info_update", title: "Fix it" },
    { sessionUpdate: "usage_update", used: 5 },
    { sessionUpdate: "plan", entries: [] },
  ];
  for (const update of updates) world.agent.update(session, update);
  for (let count = 0; count < 5; count += 1) world.agent.update(session, toolCall(`t${count}`));
  world.settle();
  for (const [method, meta] of [
    ["session/load", {}],
    ["session/resume", {}],
    ["session/load", { limit: 2 }],
  ] as const) {
    const late = world.remote({ extended: true });
    const id = world.sendLoad(late, session, meta, method);
    world.settle();
    expect(late.result(id)["modes"]).toMatchObject({ currentModeId: "code" });
    const kinds = late.updates(session).map((update) => update["sessionUpdate"]);
    expect(kinds).toEqual(expect.arrayContaining(updates.map((update) => update.sessionUpdate)));
    expect(new Set(kinds).size + 0).toBe(method === "session/resume" ? 5 : 6);
  }
});

test("S5 a late joiner knows them where the record was too long to keep what said them first", () => {
  const world = new World({ mirror: { journalBytes: 20_000 } }).start();
  const session = world.newSession();
  world.agent.update(session, { sessionUpdate: "available_commands_update", availableCommands: [{ name: "early" }] });
  world.agent.update(session, { sessionUpdate: "usage_update", used: 1 });
  for (let count = 0; count < 100; count += 1) world.agent.update(session, chunk("x".repeat(400), `m${count}`));
  world.agent.update(session, { sessionUpdate: "usage_update", used: 2 });
  world.settle();
  const late = world.remote({ extended: true });
  const loaded = world.load(late, session);
  expect(ours(loaded)).toMatchObject({ verdict: "gap", reason: "trimmed" });
  const states = late.updates(session).filter(({ sessionUpdate }) => sessionUpdate !== "agent_message_chunk");
  expect(states).toEqual([
    { sessionUpdate: "usage_update", used: 2 },
    { sessionUpdate: "available_commands_update", availableCommands: [{ name: "early" }] },
  ]);
});
