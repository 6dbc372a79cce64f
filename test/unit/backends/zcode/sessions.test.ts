/** Sessions: placeholders, resume, load with replay, eviction and death. */
import { afterEach, expect, test } from "vitest";
import { MemorySessionMap } from "../../../../src/backends/zcode/sessions/session-map.ts";
import { type JsonObject, objectAt, stringAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import type { StoredSession } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

const user = (id: string, text: string): JsonObject => ({
  info: { id, role: "user" },
  parts: [{ id: `${id}p`, type: "text", text }],
});
const assistant = (id: string, text: string): JsonObject => ({
  info: { id, role: "assistant" },
  parts: [{ id: `${id}p`, type: "text", text }],
});

function stored(turns: number): StoredSession {
  const messages = Array.from({ length: turns }, (_, at) => [
    user(`u${at}`, `question ${at}`),
    assistant(`a${at}`, `answer ${at}`),
  ]).flat();
  return { sessionId: "sess_old", cwd: "/elsewhere", title: "Old talk", messages };
}

const replayed = (): string[] =>
  h.client.updates
    .filter((update) => String(update["sessionUpdate"]).endsWith("message_chunk"))
    .map((update) => stringAt(objectAt(update, "content"), "text") ?? "");

const load = (limit?: number, sessionId = "sess_old") =>
  h.client.request("session/load", {
    sessionId,
    cwd: "/",
    mcpServers: [],
    ...(limit === undefined ? {} : { _meta: { zcode: { limit } } }),
  });

test("rows 59 a new session costs the backend nothing until it is used", async () => {
  h = await harness({});
  await h.newSession();
  await h.clock.advance(5_000);
  expect(h.fakes).toHaveLength(0);
  expect(h.client.of("available_commands_update").length).toBeGreaterThan(0);
});

test("row 69 the folder / is never taken", async () => {
  h = await harness({});
  const reply = await h.settle(h.client.request("session/new", { cwd: "/", mcpServers: [] }));
  expect(reply.error?.code).toBe(-32602);
});

test("a load replays the whole history before its response, under the store's ids", async () => {
  h = await harness({ sessions: [stored(3)] });
  const reply = await h.settle(load());
  expect(replayed()).toEqual(["question 0", "answer 0", "question 1", "answer 1", "question 2", "answer 2"]);
  expect(h.client.of("agent_message_chunk")[0]?.["messageId"]).toBe("a0");
  expect(objectAt(reply.result, "replayMeta")).toMatchObject({
    hasMore: false,
    totalMessages: 6,
    totalTurns: 3,
    turnActive: false,
    lastMessageId: "a2",
  });
  expect(calls(h.fake, "session/resume")[0]).toEqual({ sessionId: "sess_old" });
});

test("rows 89 90 a limit gives a tail that starts with its turn, and pages go back from it", async () => {
  h = await harness({ sessions: [stored(100)] });
  const reply = await h.settle(load(3));
  expect(replayed()).toEqual(["question 98", "answer 98", "question 99", "answer 99"]);
  const meta = objectAt(reply.result, "replayMeta");
  expect(meta).toMatchObject({ hasMore: true, replayedMessages: 4, replayedTurns: 2 });
  const before = h.client.updates.length;
  const page = await h.settle(
    h.client.request("session/load_earlier", { sessionId: "sess_old", before: meta?.["cursor"] ?? "", limit: 2 }),
  );
  expect(replayed().slice(4)).toEqual(["question 97", "answer 97"]);
  expect(h.client.updates.length).toBe(before + 2);
  expect(objectAt(page.result, "replayMeta")).toMatchObject({ hasMore: true, replayedMessages: 2 });
});

test("a long session loads its last messages without being read whole", async () => {
  h = await harness({ sessions: [stored(1_750)] });
  await h.settle(load(30));
  for (const params of calls(h.fake, "session/messages")) expect(Number(params["limit"])).toBeLessThan(100);
});

test("row 91 a cursor survives appended turns and expires when its message is gone", async () => {
  h = await harness({ sessions: [stored(60)] });
  const cursor = objectAt((await h.settle(load(2))).result, "replayMeta")?.["cursor"] ?? "";
  await h.settle(h.client.prompt("sess_old", "more"));
  const page = await h.settle(
    h.client.request("session/load_earlier", { sessionId: "sess_old", before: cursor, limit: 2 }),
  );
  expect(page.error).toBeUndefined();
  expect(replayed().slice(-2)).toEqual(["question 58", "answer 58"]);
  const session = h.fake.sessions.get("sess_old");
  session?.messages.splice(0, session.messages.length, user("z", "z"));
  const gone = await h.settle(
    h.client.request("session/load_earlier", { sessionId: "sess_old", before: cursor, limit: 2 }),
  );
  expect(gone.error).toMatchObject({ code: -32602 });
  expect(gone.error?.message).toMatch(/cursor expired/);
});

test("limit 0 gives the state alone", async () => {
  h = await harness({ sessions: [stored(3)] });
  const reply = await h.settle(load(0));
  expect(replayed()).toEqual([]);
  expect(calls(h.fake, "session/messages")).toHaveLength(0);
  expect(reply.result?.["modes"]).toMatchObject({ currentModeId: "build" });
});

test("rows 83-86 duplicates, reminders and plumbing are cleaned up in a replay", async () => {
  const messages: JsonObject[] = [
    user("u0", "<system-reminder>secret</system-reminder>hello"),
    { info: { id: "a0", role: "assistant" }, parts: [{ type: "text", text: "draft" }] },
    {
      info: { id: "h", role: "user", semantics: { kind: "system_reminder", transcriptVisibility: "hidden" } },
      parts: [{ type: "text", text: "hidden" }],
    },
    {
      info: { id: "n", role: "user", semantics: { kind: "background_notification" } },
      parts: [{ type: "text", text: "<task-notification>done" }],
    },
    {
      info: { id: "a0", role: "assistant" },
      parts: [
        { type: "text", text: "final" },
        {
          type: "tool",
          callID: "t",
          tool: "Bash",
          state: { status: "completed", input: { command: "ls" }, output: "files" },
        },
      ],
    },
  ];
  h = await harness({ sessions: [{ sessionId: "sess_old", cwd: "/x", messages }] });
  await h.settle(load());
  expect(replayed()).toEqual(["hello", "final"]);
  expect(h.client.card("t")).toMatchObject({ title: "Bash: ls", status: "completed", kind: "execute" });
  expect(h.client.card("histfold_n")).toMatchObject({
    _meta: { zcode: { collapsed: true, kind: "task-notification" } },
  });
});

test("row 68 the history is read until it no longer grows, once for parallel loads", async () => {
  h = await harness({ sessions: [stored(4)], knobs: { hydrationReads: 4 } });
  await h.settle(Promise.all([load(), load()]));
  expect(replayed().filter((text) => text === "answer 3")).toHaveLength(2);
  expect(calls(h.fake, "session/resume")).toHaveLength(1);
});

test("H19 a placeholder outlives a restart: one create, for two openings at once", async () => {
  const store = new MemorySessionMap();
  h = await harness({}, { store });
  const id = await h.newSession("/project-a");
  await h.end();
  h = await harness({}, { store });
  const [resumed, loaded] = await h.settle(
    Promise.all([
      h.client.request("session/resume", { sessionId: id, cwd: "/other", mcpServers: [] }),
      load(undefined, id),
    ]),
  );
  expect(resumed?.error ?? loaded?.error).toBeUndefined();
  expect(calls(h.fake, "session/create")).toHaveLength(1);
  expect(objectAt(calls(h.fake, "session/create")[0], "workspace")).toEqual({
    workspacePath: "/project-a",
    workspaceKey: "/project-a",
  });
  expect((await store.read()).get(id)?.zcodeSid).toBe("sess_1");
});

test("a used placeholder is resumed after a restart, in the backend's own folder", async () => {
  const store = new MemorySessionMap();
  await store.save("u1", { cwd: "/project-a", zcodeSid: "sess_old", createdAt: 1 });
  h = await harness({ sessions: [stored(1)] }, { store });
  const reply = await h.settle(h.client.request("session/resume", { sessionId: "u1", cwd: "/wrong", mcpServers: [] }));
  expect(reply.error).toBeUndefined();
  expect(replayed()).toEqual([]);
  expect(calls(h.fake, "session/resume")[0]).toEqual({
    sessionId: "sess_old",
    workspace: { workspacePath: "/project-a", workspaceKey: "/project-a" },
  });
  const listed = await h.settle(h.client.request("session/list", {}));
  expect(listed.result?.["sessions"]).toMatchObject([{ sessionId: "u1", cwd: "/elsewhere", title: "Old talk" }]);
});

test("row 67 an id nobody knows is an error that names it", async () => {
  h = await harness({});
  const reply = await h.settle(load(undefined, "sess_nope"));
  expect(reply.error?.message).toMatch(/sess_nope/);
  expect(reply.error?.message).toMatch(/Start a new one/);
});

test("row 71 the client's MCP servers go along at create and resume", async () => {
  const mcpServers = [{ name: "m", command: "/bin/m", args: [], env: [] }];
  h = await harness({ sessions: [stored(1)] });
  const created = await h.settle(h.client.request("session/new", { cwd: "/p", mcpServers }));
  await h.settle(h.client.prompt(stringAt(created.result, "sessionId") ?? "", "hi"));
  await h.settle(h.client.request("session/load", { sessionId: "sess_old", cwd: "/", mcpServers }));
  expect(calls(h.fake, "session/create")[0]?.["mcpServers"]).toEqual(mcpServers);
  expect(calls(h.fake, "session/resume")[0]?.["mcpServers"]).toEqual(mcpServers);
});

test("H18a an evicted session is resumed, subscribed and sent to again, with one user message", async () => {
  h = await harness({ knobs: { evictAfterMs: 600_000 } });
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "one"));
  await h.clock.advance(600_000);
  const session = h.fake.sessions.get("sess_1");
  expect(session?.isResident).toBe(false);
  const reply = await h.settle(h.client.prompt(id, "two"));
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("echo: oneecho: two");
  expect(session?.messages.filter((message) => JSON.stringify(message).includes('"two"'))).toHaveLength(1);
  expect(calls(h.fake, "session/resume")).toHaveLength(1);
});

test("H18b a session that is gone from the store is named, and not called asleep", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "one"));
  h.fake.sessions.clear();
  const reply = await h.settle(h.client.prompt(id, "two"));
  expect(reply.error?.message).toMatch(new RegExp(id));
  expect(reply.error?.data).toMatchObject({ zcode: { kind: "not-found" } });
});

test("H18c a crash in mid-turn with an open question: dialog gone, prompt answered, the next prompt works", async () => {
  const ask = {
    requestId: "r1",
    toolCallId: "c1",
    toolName: "Bash",
    reason: "x",
    riskLevel: "low",
    input: {},
    options: [{ optionId: "a", kind: "allow_once", name: "A" }],
  };
  h = await harness(
    {
      prompts: [
        {
          match: "crash",
          steps: [
            { do: "ask", name: "ask", method: "interaction/requestPermission", params: ask },
            { do: "until", name: "boom" },
            { do: "crash" },
          ],
        },
      ],
    },
    { next: {} },
  );
  const id = await h.newSession();
  const prompt = h.client.prompt(id, "crash");
  await h.until("it asks", () => h.client.asked.length === 1);
  h.fake.go("boom");
  const reply = await h.settle(prompt, 2_000);
  expect(reply.error?.message).toMatch(/exit code 137/);
  expect(h.client.withdrawn).toEqual([h.client.asked[0]?.id]);
  expect(h.client.card("c1")["status"]).toBe("failed");
  expect((await h.settle(h.client.prompt(id, "again"))).result?.["stopReason"]).toBe("end_turn");
  expect(h.fakes).toHaveLength(2);
  expect(calls(h.fake, "session/subscribe")).toHaveLength(1);
});

test("H18d a load and a prompt at the same time share one resume", async () => {
  h = await harness({ sessions: [stored(1)] });
  const [loaded, prompted] = await h.settle(Promise.all([load(), h.client.prompt("sess_old", "hi")]));
  expect(loaded?.error).toBeUndefined();
  expect(prompted?.result?.["stopReason"]).toBe("end_turn");
  expect(calls(h.fake, "session/resume")).toHaveLength(1);
});

test("H9 a load in mid-turn gives history first, then the live text, each piece once", async () => {
  h = await harness({
    sessions: [stored(1)],
    knobs: { messagesDelayMs: 500 },
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "live1 ", message: "mL" },
          { do: "until", name: "more" },
          { do: "text", text: "live2 ", message: "mL" },
          { do: "until", name: "end" },
          { do: "text", text: "live3", message: "mL" },
        ],
      },
    ],
  });
  await h.settle(load());
  const prompt = h.client.prompt("sess_old", "go");
  await h.until("it streams", () => h.client.text("mL") === "live1 ");
  const mark = h.client.frames.length;
  const loading = load(2);
  await h.clock.advance(100);
  h.fake.go("more");
  const reply = await h.settle(loading);
  h.fake.go("end");
  await h.settle(prompt);
  const seen = h.client.frames.slice(mark).flatMap((frame) => {
    const update = objectAt(objectAt(frame, "params"), "update");
    return update?.["messageId"] === "mL" ? [stringAt(objectAt(update, "content"), "text") ?? ""] : [];
  });
  expect(seen.join("")).toBe("live1 live2 live3");
  expect(objectAt(reply.result, "replayMeta")).toMatchObject({ turnActive: true });
});

test("row 118 a session open under two ids is told under both", async () => {
  const store = new MemorySessionMap();
  await store.save("u1", { cwd: "/project-a", zcodeSid: "sess_old", createdAt: 1 });
  h = await harness({ sessions: [stored(1)] }, { store });
  await h.settle(load(0, "u1"));
  await h.settle(load(0, "sess_old"));
  const mark = h.client.frames.length;
  await h.settle(h.client.prompt("u1", "hi"));
  const ids = h.client.frames.slice(mark).flatMap((frame) => {
    const params = objectAt(frame, "params");
    return objectAt(params, "update")?.["sessionUpdate"] === "agent_message_chunk" ? [params?.["sessionId"]] : [];
  });
  expect(ids.sort()).toEqual(["sess_old", "u1"]);
  expect(calls(h.fake, "session/resume")).toHaveLength(1);
});

test("a model with levels is created with its level, in both places; runtimeModel never", async () => {
  h = await harness({}, { config: { model: "zai\\GLM-5.3", thought: "max" } });
  await h.settle(h.client.prompt(await h.newSession(), "hi"));
  expect(calls(h.fake, "session/create")[0]).toMatchObject({
    model: { providerId: "zai", modelId: "GLM-5.3", options: { reasoningLevel: "max" } },
    thoughtLevel: "max",
  });
});

test("row 80 a model chosen without a level is set with its own, and the choice outlives a resume", async () => {
  const store = new MemorySessionMap();
  h = await harness({}, { store });
  const id = await h.newSession();
  const reply = await h.settle(
    h.client.request("session/set_config_option", { sessionId: id, configId: "model", value: "zai\\GLM-5.3" }),
  );
  expect(reply.error).toBeUndefined();
  expect(calls(h.fake, "session/setModel")[0]).toEqual({
    sessionId: "sess_1",
    model: { providerId: "zai", modelId: "GLM-5.3", options: { reasoningLevel: "high" } },
  });
  expect((await store.read()).get(id)?.choice).toMatchObject({ model: "zai\\GLM-5.3" });
  expect(JSON.stringify(reply.result)).toContain("thought_level");
});

test("a close ends the session here and in the backend", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  expect((await h.settle(h.client.request("session/close", { sessionId: id }))).result).toEqual({});
  expect(calls(h.fake, "session/close")).toEqual([{ sessionId: "sess_1" }]);
});
