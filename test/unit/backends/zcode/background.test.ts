/** Background tasks: one card each, closed in every case. */
import { afterEach, expect, test } from "vitest";
import { type JsonObject, objectAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import type { Step } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

const TERMINAL = { capabilities: { _meta: { terminal_output: true } } };
const LAUNCH: Step[] = [
  {
    do: "event",
    type: "model.streaming",
    payload: {
      kind: "tool_call",
      toolCallId: "c9",
      toolName: "Bash",
      input: { command: "make", run_in_background: true },
    },
  },
  { do: "tool", payload: { kind: "scheduled", toolCallId: "c9", toolName: "Bash", inputOmitted: true } },
  { do: "tool", payload: { kind: "started", toolCallId: "c9" } },
  {
    do: "tool",
    payload: { kind: "result", toolCallId: "c9", result: { content: "Command running in background with ID: exec_1" } },
  },
  { do: "text", text: "started" },
];

async function launched(): Promise<string> {
  h = await harness({ prompts: [{ match: "", steps: LAUNCH }] }, TERMINAL);
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "go"));
  return id;
}

function task(members: JsonObject): void {
  const session = h.fake.sessions.get("sess_1");
  if (session !== undefined)
    h.fake.event(session, "session.updated", { taskId: "exec_1", toolCallId: "c9", toolName: "Bash", ...members });
}

test("H17 a background command goes on in its launch card: output once although the tail slides, then exit 0", async () => {
  await launched();
  expect(h.client.card("c9")).toMatchObject({ status: "in_progress", title: "Bash: make" });
  task({ status: "running", outputTail: "a\n" });
  task({ status: "running", outputTail: "a\nb\n" });
  task({ status: "running", outputTail: "b\nc\n" });
  task({ status: "completed", outputTail: "b\nc\n" });
  await h.until("it ends", () => h.client.card("c9")["status"] === "completed");
  expect(h.client.terminal("c9")).toBe("a\nb\nc\n");
  expect(h.client.of("tool_call")).toHaveLength(1);
  expect(h.client.card("c9")["_meta"]).toMatchObject({
    terminal_exit: { terminal_id: "c9", exit_code: 0, signal: null },
    backgroundTask: { taskId: "exec_1", completed: true },
  });
});

test.each(["failed", "timed_out", "cancelled", "spawn_error", "lost"])(
  "row 153 a task that ends %s closes its card failed",
  async (status) => {
    await launched();
    task({ status: "running", outputTail: "a\n" });
    task({ status });
    await h.until("it ends", () => h.client.card("c9")["status"] === "failed");
    expect(objectAt(h.client.card("c9")["_meta"] as JsonObject, "terminal_exit")?.["exit_code"]).toBe(1);
    const count = h.client.updates.length;
    task({ status });
    await h.clock.advance(100);
    expect(h.client.updates.length).toBe(count);
  },
);

test("L6 how many tasks run is told with every change, and none once the backend is gone", async () => {
  await launched();
  const told = (): unknown[] => h.client.notices("_acp-hub/backend_tasks").map(({ running }) => running);
  const started = told().length;
  task({ status: "running", outputTail: "a\n" });
  task({ status: "running", outputTail: "a\nb\n" });
  task({ taskId: "exec_2", toolCallId: "c10", status: "running" });
  await h.until("two are told", () => told().at(-1) === 2);
  expect(told().slice(started)).toEqual([1, 2]);
  task({ status: "completed" });
  await h.until("one is left", () => told().at(-1) === 1);
  await h.end();
  await h.until("none is", () => told().at(-1) === 0);
  expect(told().slice(started)).toEqual([1, 2, 1, 0]);
});

test("row 151 shutdown closes what still runs", async () => {
  await launched();
  task({ status: "running", outputTail: "a\n" });
  await h.until("it is seen", () => h.client.terminal("c9") === "a\n");
  await h.end();
  await h.until("it is closed", () => h.client.card("c9")["status"] === "failed");
  expect(h.client.card("c9")["_meta"]).toMatchObject({ backgroundTask: { shutdown: true } });
});

test("a background sub-agent gets a card of its own, and cancelling closes it", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "go"));
  const session = h.fake.sessions.get("sess_1");
  if (session === undefined) throw new Error("no session");
  const record = {
    taskId: "agent_88",
    toolCallId: "call_orig",
    toolName: "Agent",
    status: "running",
    description: "Read README",
    outputPath: "/o",
  };
  h.fake.event(session, "session.updated", record);
  await h.until("the card is there", () => h.client.of("tool_call").length === 1);
  const card = h.client.of("tool_call")[0];
  expect(card).toMatchObject({
    title: "[background] Read README",
    kind: "other",
    status: "in_progress",
    _meta: {
      backgroundTask: { taskId: "agent_88", agentId: "agent_88", outputPath: "/o", sourceToolCallId: "call_orig" },
    },
  });
  expect(String(card?.["toolCallId"])).toMatch(/^bg_[0-9a-f]{12}$/);
  const reply = await h.settle(h.client.request("session/cancelBackgroundTask", { sessionId: id, taskId: "agent_88" }));
  expect(reply.result).toMatchObject({ cancelled: true });
  expect(calls(h.fake, "session/cancelBackgroundTask")).toEqual([{ sessionId: "sess_1", taskId: "agent_88" }]);
  expect(h.client.card(String(card?.["toolCallId"]))).toMatchObject({
    status: "failed",
    _meta: { backgroundTask: { cancelled: true } },
  });
});

test("rows 146 150 the report of a finished task is a message of its own, one per notification turn", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "go"));
  const session = h.fake.sessions.get("sess_1");
  if (session === undefined) throw new Error("no session");
  for (const turn of ["tA", "tB"]) {
    h.fake.event(
      session,
      "turn.started",
      { inputSource: "background_task", inputVisibility: "model-only", input: "<task-notification>" },
      turn,
    );
    h.fake.event(session, "model.streaming", { kind: "text_delta", delta: `report ${turn}` }, turn);
    h.fake.event(session, "turn.completed", { resultType: "success", response: `report ${turn}` }, turn);
  }
  await h.until("both are shown", () => h.client.text().includes("tB"));
  const ids = h.client
    .of("agent_message_chunk")
    .map((update) => String(update["messageId"]))
    .filter((messageId) => messageId.startsWith("bg_msg_"));
  expect(new Set(ids).size).toBe(2);
});

test("a sub-agent's result says what it cost", async () => {
  const content =
    "Found it.\nagentId: agent_73c7c63d-1\n<usage>subagent_tokens: 40904\ntool_uses: 1\nduration_ms: 10559</usage>";
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          {
            do: "tool",
            payload: {
              kind: "scheduled",
              toolCallId: "a1",
              toolName: "Agent",
              input: { description: "Look", prompt: "x" },
            },
          },
          {
            do: "tool",
            payload: {
              kind: "scheduled",
              toolCallId: "in1",
              toolName: "Read",
              input: { file_path: "/a" },
              parentToolCallId: "a1",
              source: "subagent",
            },
          },
          { do: "tool", payload: { kind: "result", toolCallId: "in1", result: { content: "t" } } },
          { do: "tool", payload: { kind: "result", toolCallId: "a1", result: { content } } },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(h.client.card("a1")).toMatchObject({
    status: "completed",
    _meta: {
      claudeCode: { toolName: "Agent" },
      subagent: { agentId: "agent_73c7c63d-1", tokens: 40904, toolUses: 1, durationMs: 10559 },
    },
  });
  expect(h.client.card("in1")["_meta"]).toMatchObject({ claudeCode: { toolName: "Read", parentToolUseId: "a1" } });
});
