/** Sessions that come back: evicted ones, those of an earlier run, and those of an app-server that stopped answering. */
import { afterEach, expect, test } from "vitest";
import { MemorySessionMap } from "../../../../src/backends/zcode/sessions/session-map.ts";
import { type JsonObject, objectAt, stringAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import type { StoredSession } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

const OLD: StoredSession = { sessionId: "sess_old", cwd: "/elsewhere", title: "Old talk" };
const load = (sessionId: string, zcode: JsonObject = {}) =>
  h.client.request("session/load", { sessionId, cwd: "/", mcpServers: [], _meta: { zcode } });
const said = (updates: readonly JsonObject[]): string[] =>
  updates
    .filter((update) => update["sessionUpdate"] === "user_message_chunk")
    .map((update) => stringAt(objectAt(update, "content"), "text") ?? "");
const optionOf = (update: JsonObject | undefined, id: string): JsonObject | undefined =>
  ((update?.["configOptions"] ?? []) as JsonObject[]).find((option) => option["id"] === id);

test("row 68 a load that finds its session evicted waits for the history to grow in, too, and so does an older page", async () => {
  h = await harness({ knobs: { evictAfterMs: 600_000, hydrationReads: 4 } });
  const id = await h.newSession();
  const prompts = ["one", "two", "three", "four"];
  for (const text of prompts) await h.settle(h.client.prompt(id, text));
  await h.clock.advance(600_000);
  const from = h.client.updates.length;
  await h.settle(load(id));
  expect(said(h.client.updates.slice(from))).toEqual(prompts);
  const tail = await h.settle(load(id, { limit: 2 }));
  const cursor = stringAt(objectAt(tail.result, "replayMeta"), "cursor") ?? "";
  const session = h.fake.sessions.get("sess_1");
  if (session !== undefined) session.isResident = false;
  const before = h.client.updates.length;
  const page = await h.settle(h.client.request("session/load_earlier", { sessionId: id, before: cursor, limit: 50 }));
  expect(page.error).toBeUndefined();
  expect(said(h.client.updates.slice(before))).toEqual(prompts.slice(0, 3));
});

test("row 73 a chosen model is set again after a resume, also where another provider has one of the same name", async () => {
  const store = new MemorySessionMap();
  const choice = { model: "mine\\GLM-5.3", thought: "high" };
  await store.save("u1", { cwd: "/project", zcodeSid: "sess_old", createdAt: 1, choice });
  const reasoning = {
    levels: [
      { value: "high", label: "High" },
      { value: "max", label: "Max" },
    ],
    defaultLevel: "high",
  };
  const models = ["zai", "mine"].map((providerId) => ({ ref: { providerId, modelId: "GLM-5.3" }, reasoning }));
  h = await harness({ sessions: [OLD], knobs: { models } }, { store });
  const reply = await h.settle(load("u1"));
  expect(calls(h.fake, "session/setModel").map((call) => call["model"])).toEqual([
    { providerId: "mine", modelId: "GLM-5.3", options: { reasoningLevel: "high" } },
  ]);
  expect(optionOf(reply.result, "model")?.["currentValue"]).toBe("mine\\GLM-5.3");
});

test("a list is filtered before it is cut into pages: sub-agents fill none", async () => {
  const children = Array.from({ length: 120 }, (_, at) => ({
    sessionId: `sess_child_${at}`,
    cwd: "/project",
    updatedAt: 1_000 + at,
    sessionKind: "subagent_child",
  }));
  h = await harness({ sessions: [{ ...OLD, updatedAt: 5 }, ...children] });
  const reply = await h.settle(h.client.request("session/list", {}));
  expect(reply.result).toMatchObject({ sessions: [{ sessionId: "sess_old" }] });
  expect(reply.result).not.toHaveProperty("nextCursor");
});

test("row 34 another model brings its own levels, whoever switched to it", async () => {
  h = await harness({
    knobs: {
      models: [
        {
          ref: { providerId: "zai", modelId: "GLM-5.3" },
          reasoning: { levels: ["high", "max"], defaultLevel: "high" },
        },
        { ref: { providerId: "zai", modelId: "Flash" }, reasoning: { levels: ["low", "mid"], defaultLevel: "low" } },
      ],
    },
  });
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  const session = h.fake.sessions.get("sess_1");
  const current = { providerId: "zai", modelId: "Flash" };
  if (session !== undefined) h.fake.state(session, "model_changed", { model: { current } });
  const told = (): JsonObject | undefined => h.client.of("config_option_update").at(-1);
  await h.until("it is told", () => optionOf(told(), "model")?.["currentValue"] === "zai\\Flash");
  expect(optionOf(told(), "thought")).toMatchObject({
    currentValue: "low",
    options: [{ value: "low" }, { value: "mid" }],
  });
});

test("row 71 MCP servers are handed on without the members ZCode would refuse", async () => {
  h = await harness({});
  const _meta = { vendor: true };
  const mcpServers = [
    { type: "stdio", name: "s", command: "/bin/s", args: [], env: [{ name: "A", value: "1", _meta }], _meta },
    { type: "http", name: "h", url: "http://127.0.0.1/mcp", headers: [{ name: "H", value: "1", _meta }], _meta },
  ];
  const created = await h.settle(h.client.request("session/new", { cwd: "/p", mcpServers }));
  const reply = await h.settle(h.client.prompt(stringAt(created.result, "sessionId") ?? "", "hi"));
  expect(reply.error).toBeUndefined();
  expect(calls(h.fake, "session/create")[0]?.["mcpServers"]).toEqual([
    { name: "s", command: "/bin/s", args: [], env: [{ name: "A", value: "1" }] },
    { type: "http", name: "h", url: "http://127.0.0.1/mcp", headers: [{ name: "H", value: "1" }] },
  ]);
});

test("row 71 servers a client brings to a session it opens again are there at the next resume, and stay where it brings none", async () => {
  h = await harness({ knobs: { evictAfterMs: 600_000 } });
  const sessionId = await h.newSession();
  const mcpServers = [{ name: "m", command: "/bin/m", args: [], env: [] }];
  const open = (servers: JsonObject[]) =>
    h.settle(h.client.request("session/load", { sessionId, cwd: "/", mcpServers: servers }));
  for (const servers of [[], mcpServers, []]) {
    await h.settle(h.client.prompt(sessionId, "hi"));
    await h.clock.advance(600_000);
    await open(servers);
  }
  const given = calls(h.fake, "session/resume").map((call) => call["mcpServers"]);
  expect(given).toEqual([undefined, mcpServers, mcpServers]);
});

test("row 56 an app-server that answers nothing for minutes is ended: the prompt hears of it, the next one works", async () => {
  let isWedged = false;
  const deliver = (line: string, next: (line: string) => void): void => {
    if (!isWedged) next(line);
  };
  h = await harness({ prompts: [{ match: "wedge", steps: [{ do: "text", text: "x" }, { do: "hang" }] }] }, { deliver });
  const id = await h.newSession();
  const prompt = h.client.prompt(id, "wedge");
  await h.until("it speaks", () => h.client.text() === "x");
  isWedged = true;
  await h.clock.advance(100_000);
  expect(h.fake.isDead).toBe(false);
  const reply = await h.settle(prompt, 200_000);
  expect(reply.error?.message).toMatch(/ZCode ended/);
  isWedged = false;
  expect((await h.settle(h.client.prompt(id, "again"))).result?.["stopReason"]).toBe("end_turn");
  expect(h.fakes).toHaveLength(2);
});

test("a session that cannot be looked into for as long as a frozen one may last is given up like one", async () => {
  h = await harness({ prompts: [{ match: "", steps: [{ do: "text", text: "x" }, { do: "hang" }] }] });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it speaks", () => h.client.text() === "x");
  h.fake.failing.add("session/read");
  await h.clock.advance(9 * 60_000);
  expect(calls(h.fake, "session/stop")).toHaveLength(0);
  expect((await h.settle(prompt, 3 * 60_000)).result?.["stopReason"]).toBe("max_turn_requests");
});
