/** T2: what the agent says that is too large to share is the editor's alone; nobody else is confused, delayed or asked about it. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { toolCall } from "../../support/world/fake-agent.ts";
import { World, type WorldOptions } from "../../support/world/world.ts";

const LIMIT = 20_000;
const LARGE = "x".repeat(LIMIT);
const LEFT_OUT = "[20 kB left out: too large to share]";

function shared(options: WorldOptions = {}) {
  const limits = { agentLineBytes: LIMIT, lanePromptsMax: 4 };
  const world = new World({ ...options, root: { limits, ...options.root } }).start();
  const session = world.newSession();
  const phone = world.remote({ extended: true, forms: true, name: "phone" });
  world.load(phone, session);
  return { world, session, phone };
}

test("T2 the editor gets every byte, others the message without what was too large, live and in every replay", () => {
  const { world, session, phone } = shared();
  world.agent.say(session, "before ", "m1");
  world.agent.say(session, LARGE, "m1");
  const diff = { type: "diff", path: "/a.ts", oldText: "1", newText: LARGE };
  const image = { type: "content", content: { type: "image", mimeType: "image/png", data: LARGE } };
  world.agent.update(session, toolCall("t1", { rawInput: { a: LARGE, b: 1 }, content: [diff, image] }));
  world.agent.say(session, " after", "m1");
  world.settle();
  expect(world.primary.transcript(session).text() === `before ${LARGE} after`).toBe(true);
  const late = world.remote({ extended: true, name: "late" });
  world.load(late, session);
  for (const client of [phone, late]) {
    expect(client.transcript(session).text()).toBe(`before ${LEFT_OUT} after`);
    const card = client.of("session/update").find(({ params }) => JSON.stringify(params).includes('"t1"'));
    expect(card?.params?.["update"]).toMatchObject({
      sessionUpdate: "tool_call",
      toolCallId: "t1",
      rawInput: { a: LEFT_OUT, b: 1 },
      content: [
        { type: "content", content: { type: "text", text: `/a.ts ${LEFT_OUT}` } },
        { type: "content", content: { type: "text", text: LEFT_OUT } },
      ],
    });
  }
  expect(world.observed.filter(({ kind }) => kind === "oversize")).toHaveLength(2);
  expect(world.problems).toEqual([]);
});

test("T2 a message of very many small parts is told by its kind and size; its card stays a card", () => {
  const { world, session, phone } = shared();
  const many = Object.fromEntries(
    Array.from({ length: 150 }, (_each, index) => [`k${index}`, Array.from({ length: 150 }, () => "y".repeat(40))]),
  );
  world.agent.update(session, toolCall("t1", { title: "Read", rawInput: many as JsonObject }));
  const entries = Array.from({ length: 9000 }, () => ({ content: "z".repeat(60), priority: "low", status: "pending" }));
  world.agent.update(session, { sessionUpdate: "vendor_plan", entries });
  world.settle();
  const updates = phone.of("session/update").map(({ params }) => params?.["update"] as JsonObject);
  expect(updates.find((update) => update["toolCallId"] === "t1")).toMatchObject({
    title: "Read",
    content: [{ type: "content", content: { text: expect.stringMatching(/^\[\d+(\.\d)? [kM]B left out/) } }],
  });
  for (const update of updates) expect(JSON.stringify(update).length).toBeLessThan(300_000);
  expect(world.problems).toEqual([]);
});

test("T2 nobody is asked to allow what he was not shown whole: only the editor is, and its answer counts", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session, "large", { toolCall: { rawInput: { command: LARGE } } });
  world.settle();
  expect(phone.openDialogs).toEqual([]);
  expect(world.primary.openDialogs).toHaveLength(1);
  world.primary.choose("allow");
  world.settle();
  expect(world.agent.answers.get(id)).toMatchObject({ result: { outcome: { optionId: "allow" } } });
  expect(world.problems).toEqual([]);
});

test("T2 X5 without an editor nobody can be shown it: it ends cancelled, and never allowed", () => {
  const limits = { agentLineBytes: LIMIT, lanePromptsMax: 4 };
  const world = new World({ root: { limits, hasPrimary: false } });
  world.root.startHeadless();
  world.dial();
  const phone = world.remote({ extended: true, name: "phone" });
  const opened = phone.request("session/new", { cwd: "/work/project", mcpServers: [] });
  world.settle();
  const session = String(phone.result(opened)["sessionId"]);
  const asked = world.agent.askPermission(session, "large", { toolCall: { rawInput: { command: LARGE } } });
  world.settle();
  expect(phone.openDialogs).toEqual([]);
  expect(world.agent.answers.get(asked)).toMatchObject({ result: { outcome: { outcome: "cancelled" } } });
});

test("T2 an answer that is too large is an error to who asked, by name; what passes through unread is left out", () => {
  const { world, session, phone } = shared();
  world.agent.responders.set("vendor/get", (request) => world.agent.respond(request, { text: LARGE }));
  const answer = phone.request("vendor/get", { sessionId: session });
  world.agent.notify("vendor/news", { text: LARGE });
  world.settle();
  expect(phone.error(answer)).toMatchObject({ data: { code: "too-large" } });
  expect(phone.of("vendor/news")).toEqual([]);
  expect(world.primary.of("vendor/news")).toHaveLength(1);
});

test("T2 P1 a hub sets these limits for its bridges", () => {
  const world = new World({ hubLimits: { agentLineBytes: LIMIT, lanePromptsMax: 1 } }).start();
  const session = world.newSession();
  const phone = world.remote({ extended: true, name: "phone" });
  world.load(phone, session);
  world.agent.say(session, LARGE);
  world.settle();
  expect(phone.transcript(session).text()).toBe(LEFT_OUT);
  const clients = [1, 2, 3].map((count) => world.remote({ extended: true, name: `c${count}` }));
  const ids = clients.map((client) => world.prompt(client, session, "go"));
  world.settle();
  expect(clients[2]?.error(ids[2] ?? null)).toMatchObject({ data: { code: "lane-full" } });
});
