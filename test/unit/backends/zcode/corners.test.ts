/** Corners where two things meet: aliases and questions, cancels and late stores, sub-agents and turns, deaths and others. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { answersResult, readQuestions } from "../../../../src/backends/zcode/interactions/questions.ts";
import { MemorySessionMap } from "../../../../src/backends/zcode/sessions/session-map.ts";
import { readMessages } from "../../../../src/backends/zcode/translate/messages.ts";
import { answersTo } from "../../../../src/backends/zcode/translate/snapshot-diff.ts";
import { type JsonObject, objectAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import type { StoredSession } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

const OLD: StoredSession = { sessionId: "sess_old", cwd: "/elsewhere", title: "Old talk", messages: [] };
const OPTIONS = [{ optionId: "a", kind: "allow_once", name: "A", response: { decision: "allow" } }];
const PERMISSION: JsonObject = {
  requestId: "r1",
  toolCallId: "c1",
  toolName: "Bash",
  reason: "x",
  riskLevel: "low",
  input: {},
  options: OPTIONS,
};

test("H4d a session opened under a second id gets its open question under that id; one answer settles both", async () => {
  const store = new MemorySessionMap();
  await store.save("u1", { cwd: "/project-a", zcodeSid: "sess_old", createdAt: 1 });
  h = await harness(
    {
      sessions: [OLD],
      prompts: [
        {
          match: "",
          steps: [
            { do: "ask", name: "ask", method: "interaction/requestPermission", params: PERMISSION },
            { do: "expectAnswer", name: "ask" },
            { do: "text", text: "ok" },
          ],
        },
      ],
    },
    { store },
  );
  const prompt = h.client.prompt("u1", "go");
  await h.until("it asks", () => h.client.asked.length === 1);
  const loaded = await h.settle(h.client.request("session/load", { sessionId: "sess_old", cwd: "/", mcpServers: [] }));
  expect(loaded.error).toBeUndefined();
  await h.until("it asks again", () => h.client.asked.length === 2);
  expect(h.client.asked.map((asked) => asked.params["sessionId"])).toEqual(["u1", "sess_old"]);
  h.client.asked[1]?.answer({ outcome: { outcome: "selected", optionId: "a" } });
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.withdrawn).toEqual([h.client.asked[0]?.id]);
});

test("row 47 what a cancelled turn leaves in the store later is not the next prompt's reply", async () => {
  h = await harness({
    knobs: { messagesLagMs: 400 },
    prompts: [
      { match: "A", steps: [{ do: "text", text: "late A", live: false }, { do: "hang" }] },
      {
        match: "B",
        steps: [
          { do: "sleep", ms: 2_000 },
          { do: "text", text: "B" },
        ],
      },
    ],
  });
  const id = await h.newSession();
  const first = h.client.prompt(id, "A");
  await h.until("A runs", () => h.fakes.length === 1 && h.fake.sessions.get("sess_1")?.turn !== undefined);
  const second = h.client.prompt(id, "B");
  await h.settle(Promise.all([first, second]));
  expect(h.client.text()).toBe("B");
  expect(JSON.stringify(h.fake.sessions.get("sess_1")?.messages)).toContain("late A");
});

const message = (id: string, role: string, text: string, parent?: string): JsonObject => ({
  info: { id, role, ...(parent === undefined ? {} : { parentMessageId: parent }) },
  parts: [{ type: "text", text }],
});
const idsOf = (values: JsonObject[], isAfterCancel = false): unknown =>
  answersTo(readMessages(values), "go", isAfterCancel)?.map((answer) => answer.id);

test("the answers of a prompt are those after it, by their parent where it is named", () => {
  expect(
    idsOf([message("u", "user", "go"), message("a", "assistant", "x"), message("b", "assistant", "y", "u")]),
  ).toEqual(["a", "b"]);
  expect(
    idsOf([
      message("u", "user", "go"),
      message("a", "assistant", "x"),
      message("v", "user", "more"),
      message("b", "assistant", "y"),
    ]),
  ).toEqual(["a"]);
  expect(
    idsOf([message("o", "user", "old"), message("u", "user", "go"), message("a", "assistant", "late", "o")]),
  ).toEqual([]);
  // Stored in other words: the last prompt there is, but not when a cancelled one may be about.
  expect(idsOf([message("u", "user", "expanded"), message("a", "assistant", "x")])).toEqual(["a"]);
  expect(idsOf([message("u", "user", "expanded"), message("a", "assistant", "x")], true)).toBeUndefined();
  expect(idsOf([message("u", "user", "go"), message("a", "assistant", "x", "unseen")])).toEqual(["a"]);
  expect(idsOf([message("u", "user", "go"), message("a", "assistant", "x", "unseen")], true)).toEqual([]);
});

test("a sub-agent's call that names its own turn is shown in the turn that called it", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          {
            do: "tool",
            payload: { kind: "scheduled", toolCallId: "a1", toolName: "Agent", input: { description: "d" } },
          },
          {
            do: "event",
            type: "tool.updated",
            turnId: "child",
            payload: {
              kind: "scheduled",
              toolCallId: "in1",
              toolName: "Read",
              input: { file_path: "/a" },
              source: "subagent",
              parentToolCallId: "a1",
            },
          },
          {
            do: "event",
            type: "tool.updated",
            turnId: "child",
            payload: {
              kind: "scheduled",
              toolCallId: "bg1",
              toolName: "Read",
              input: {},
              source: "subagent",
              background: true,
            },
          },
          { do: "tool", payload: { kind: "result", toolCallId: "a1", result: { content: "done" } } },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(h.client.of("tool_call").map((update) => update["toolCallId"])).toEqual(["a1", "in1"]);
  expect(h.client.card("in1")["status"]).toBe("failed");
  expect(h.client.notices("_acp-hub/backend_turn")).toEqual([]);
});

test("row 152 every session that was live is brought back when the backend starts anew", async () => {
  h = await harness({ prompts: [{ match: "crash", steps: [{ do: "crash" }] }] }, { next: {} });
  const [one, two] = [await h.newSession("/one"), await h.newSession("/two")];
  await h.settle(h.client.prompt(one, "hi"));
  await h.settle(h.client.prompt(two, "hi"));
  await h.settle(h.client.prompt(one, "crash"));
  await h.settle(h.client.prompt(one, "back"));
  await h.until("the other is back", () => calls(h.fake, "session/subscribe").length === 2);
  expect(
    calls(h.fake, "session/resume")
      .map((params) => params["sessionId"])
      .sort(),
  ).toEqual(["sess_1", "sess_2"]);
  const session = h.fake.sessions.get("sess_2");
  if (session !== undefined)
    h.fake.event(session, "session.updated", { taskId: "t", description: "d", status: "running" });
  await h.until("its tasks are seen", () =>
    h.client.of("tool_call").some((update) => update["title"] === "[background] d"),
  );
});

test("row 115 two questions of one text keep both answers", () => {
  const questions = readQuestions({
    questions: [
      { question: "Q", options: [{ label: "a" }] },
      { question: "Q", options: [{ label: "b" }] },
    ],
  });
  const picks = new Map(questions.map((question, at) => [question, [String(at)]]));
  expect(answersResult(picks)).toEqual({ action: "accept", content: { answers: { Q: "0" }, answer_1: "1" } });
});

test("H17 a client that loads while a background command runs sees its card running", async () => {
  const launch = { command: "make", run_in_background: true };
  h = await harness(
    {
      prompts: [
        {
          match: "",
          steps: [
            { do: "tool", payload: { kind: "scheduled", toolCallId: "c9", toolName: "Bash", input: launch } },
            { do: "tool", payload: { kind: "result", toolCallId: "c9", result: { content: "in background" } } },
            {
              do: "store",
              message: {
                info: { id: "mT", role: "assistant" },
                parts: [
                  {
                    type: "tool",
                    callID: "c9",
                    tool: "Bash",
                    state: { status: "completed", input: launch, output: "in background" },
                  },
                ],
              },
            },
            { do: "text", text: "x" },
          ],
        },
      ],
    },
    { capabilities: { _meta: { terminal_output: true } } },
  );
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "go"));
  const mark = h.client.updates.length;
  await h.settle(h.client.request("session/load", { sessionId: id, cwd: "/project", mcpServers: [] }));
  const replayed = h.client.updates.slice(mark).find((update) => update["toolCallId"] === "c9");
  expect(replayed).toMatchObject({
    sessionUpdate: "tool_call",
    status: "in_progress",
    content: [{ type: "terminal", terminalId: "c9" }],
  });
});

test("a pinned provider leaves the others out of the choice", async () => {
  const model = (providerId: string): JsonObject => ({
    ref: { providerId, modelId: `${providerId}-1` },
    label: providerId,
  });
  h = await harness(
    { knobs: { models: [{ ref: { providerId: "zai", modelId: "GLM-5.3" }, label: "GLM" }, model("other")] } },
    { config: { env: { ZCODE_PROVIDER: "zai" } } },
  );
  const id = await h.newSession();
  await h.settle(h.client.request("session/set_mode", { sessionId: id, modeId: "plan" }));
  const options = h.client.of("config_option_update").at(-1)?.["configOptions"];
  expect(JSON.stringify(options)).toContain("GLM-5.3");
  expect(JSON.stringify(options)).not.toContain("other-1");
});

test("two notification turns at once: the end is told when the last of them ends", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "hi"));
  const session = h.fake.sessions.get("sess_1");
  if (session === undefined) throw new Error("no session");
  for (const turn of ["tA", "tB"])
    h.fake.event(session, "turn.started", { inputSource: "background_task", input: "n" }, turn);
  h.fake.event(session, "turn.completed", { resultType: "success" }, "tA");
  await h.clock.advance(100);
  expect(h.client.notices("_acp-hub/backend_turn").map((notice) => notice["running"])).toEqual([true, true]);
  h.fake.event(session, "turn.completed", { resultType: "success" }, "tB");
  await h.until("the end is told", () => h.client.notices("_acp-hub/backend_turn").at(-1)?.["running"] === false);
});

test("a turn of the backend's own whose end was lost is found idle and told to be over", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "hi"));
  const session = h.fake.sessions.get("sess_1");
  if (session === undefined) throw new Error("no session");
  h.fake.event(session, "turn.started", { inputSource: "background_task", input: "n" }, "tA");
  h.fake.event(session, "tool.updated", { kind: "scheduled", toolCallId: "z", toolName: "Read", input: {} }, "tA");
  await h.until("its card is open", () => h.client.card("z")["status"] === "pending");
  await h.until("it is over", () => h.client.notices("_acp-hub/backend_turn").at(-1)?.["running"] === false, 40_000);
  expect(h.client.card("z")["status"]).toBe("failed");
});

test("the load tells the title the store has", async () => {
  h = await harness({ sessions: [OLD] });
  await h.settle(h.client.request("session/load", { sessionId: "sess_old", cwd: "/", mcpServers: [] }));
  expect(h.client.of("session_info_update")).toEqual([{ sessionUpdate: "session_info_update", title: "Old talk" }]);
  expect(objectAt(h.client.frames[0], "result")).toBeDefined();
});

test("row 97 a background agent's question outlives the turn that launched it", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "hi"));
  const origin = {
    kind: "subagent",
    agentId: "agent_1",
    agentType: "Explore",
    childSessionId: "s",
    parentSessionId: "sess_1",
  };
  h.fake.asks.ask(
    "bg",
    "interaction/requestPermission",
    { sessionId: "sess_1", turnId: "turn_1", origin, ...PERMISSION },
    true,
  );
  await h.until("it is shown", () => h.client.asked.length === 1);
  h.client.asked[0]?.answer({ outcome: { outcome: "selected", optionId: "a" } });
  await h.until("it is answered", () => h.fake.asks.open.length === 0);
  expect(h.fake.asks.all.at(-1)?.result).toEqual({ decision: "allow" });
});

test("a question taken down with its turn comes back when the backend asks again", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "ask", name: "bg", method: "interaction/requestPermission", params: PERMISSION },
          { do: "until", name: "end" },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it is shown", () => h.client.asked.length === 1);
  h.fake.go("end");
  await h.settle(prompt);
  expect(h.client.withdrawn).toHaveLength(1);
  await h.until("it is shown again", () => h.client.asked.length === 2, 20_000);
  h.client.asked[1]?.answer({ outcome: { outcome: "selected", optionId: "a" } });
  await h.until("it is answered", () => h.fake.asks.open.length === 0);
});

test("the backend's model table replaces the configured one, shorter or not", async () => {
  h = await harness(
    { knobs: { models: [{ ref: { providerId: "zai", modelId: "GLM-5.3" }, label: "Only" }] } },
    { config: { model: "zai\\GLM-5.3" } },
  );
  const home = join(h.home, ".zcode", "v2");
  mkdirSync(home, { recursive: true });
  writeFileSync(
    join(home, "config.json"),
    JSON.stringify({ provider: { zai: { models: { "GLM-5.3": {}, "GLM-4": {} } } } }),
  );
  const made = await h.settle(h.client.request("session/new", { cwd: "/p", mcpServers: [] }));
  expect(JSON.stringify(made.result)).toContain("GLM-4");
  await h.settle(h.client.prompt(String(made.result?.["sessionId"]), "hi"));
  expect(JSON.stringify(h.client.of("config_option_update").at(-1))).not.toContain("GLM-4");
});

test("a turn another program started on the session is shown with what it was asked", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "hi"));
  const session = h.fake.sessions.get("sess_1");
  if (session === undefined) throw new Error("no session");
  h.fake.event(session, "turn.started", { input: "from the desktop" }, "tD");
  h.fake.event(session, "model.streaming", { kind: "text_delta", delta: "reply", assistantMessageId: "mD" }, "tD");
  h.fake.event(session, "turn.completed", { resultType: "success", response: "reply" }, "tD");
  await h.until("it is shown", () => h.client.text("mD") === "reply");
  expect(h.client.of("user_message_chunk")).toMatchObject([{ content: { text: "from the desktop" } }]);
});

test("row 55 a compaction whose outcome was lost does not hold the next prompt for long", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  const session = h.fake.sessions.get("sess_1");
  if (session !== undefined) h.fake.state(session, "compact_started", { status: "running" });
  await h.clock.advance(100);
  expect((await h.settle(h.client.prompt(id, "next"), 8_000)).result?.["stopReason"]).toBe("end_turn");
});

test("asking for the goal in mid-turn is refused or answered as the build does, and never taken for a sign of life", async () => {
  for (const [profile, isAnswered] of [
    ["0.15", true],
    ["0.16.9", false],
  ] as const) {
    h = await harness({
      profile,
      prompts: [
        {
          match: "",
          steps: [
            { do: "text", text: "x" },
            { do: "until", name: "end" },
          ],
        },
      ],
    });
    const id = await h.newSession();
    const prompt = h.client.prompt(id, "go");
    await h.until("it runs", () => h.client.text() === "x");
    const reply = await h.settle(h.client.request("session/goal", { sessionId: id, action: "show" }));
    expect(reply.error === undefined).toBe(isAnswered);
    h.fake.go("end");
    expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
    if (profile === "0.15") await h.end();
  }
});

test("a second compaction at the same time is refused and does not end the first", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  const compact = () => h.client.request("session/compact", { sessionId: id });
  const [first, second] = await h.settle(Promise.all([compact(), compact()]));
  expect(first?.result).toEqual({ outcome: "compacted" });
  expect(second?.error?.data).toMatchObject({ zcode: { kind: "busy" } });
});

test("a tool result that is the text itself is shown", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "tool", payload: { kind: "result", toolCallId: "t", toolName: "Read", result: "plain text" } },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(h.client.card("t")).toMatchObject({ status: "completed", rawOutput: "plain text" });
});
