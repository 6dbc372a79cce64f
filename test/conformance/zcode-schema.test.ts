/** Everything the ZCode backend says to its client is valid ACP, by the SDK's own schemas. */
import { afterAll, beforeAll, expect, test } from "vitest";
import * as schema from "../../node_modules/@agentclientprotocol/sdk/dist/v1/schema/zod.gen.js";
import { type JsonObject, stringAt } from "../../src/protocol/json.ts";
import { type Harness, harness } from "../support/fake-zcode/harness.ts";
import type { Step } from "../support/fake-zcode/scenario.ts";

const OPTIONS = [
  { optionId: "a", kind: "allow_once", name: "Allow", response: { decision: "allow" } },
  { optionId: "d", kind: "deny", name: "Deny", response: { decision: "deny" } },
];
const PATCH = [{ oldStart: 1, oldLines: 1, newStart: 1, newLines: 1, lines: ["-a", "+b"] }];
const EVERYTHING: Step[] = [
  { do: "reasoning", text: "hm" },
  { do: "text", text: "hello" },
  { do: "tool", payload: { kind: "scheduled", toolCallId: "b", toolName: "Bash", input: { command: "ls" } } },
  { do: "tool", payload: { kind: "progress", toolCallId: "b", stdoutTail: "x" } },
  { do: "tool", payload: { kind: "result", toolCallId: "b", result: { content: "x" } } },
  { do: "tool", payload: { kind: "scheduled", toolCallId: "e", toolName: "Edit", input: { file_path: "/f" } } },
  {
    do: "tool",
    payload: {
      kind: "result",
      toolCallId: "e",
      result: { content: "ok", display: { kind: "file_diff", filePath: "/f", structuredPatch: PATCH } },
    },
  },
  { do: "tool", payload: { kind: "scheduled", toolCallId: "x", toolName: "Grep", input: { path: "/", pattern: "a" } } },
  { do: "tool", payload: { kind: "error", toolCallId: "x", error: { message: "no" } } },
  { do: "event", type: "session.updated", payload: { usage: { inputTokens: 5 }, contextWindow: 100 } },
  { do: "event", type: "session.updated", payload: { taskId: "agent_1", description: "d", status: "running" } },
  { do: "event", type: "session.titleUpdated", payload: { title: "T", source: "generated" } },
  { do: "set", members: { todos: [{ content: "c", status: "pending", priority: "low" }] } },
  { do: "state", reason: "mode_changed", patch: { mode: { current: "plan" } } },
  {
    do: "ask",
    name: "p",
    method: "interaction/requestPermission",
    params: {
      requestId: "r1",
      toolCallId: "w",
      toolName: "Write",
      reason: "x",
      riskLevel: "low",
      input: { file_path: "/w" },
      options: OPTIONS,
    },
  },
  { do: "expectAnswer", name: "p" },
  {
    do: "ask",
    name: "plan",
    method: "interaction/requestUserInput",
    params: {
      requestId: "r2",
      toolCallId: "pl",
      toolName: "ExitPlanMode",
      prompt: "p",
      schema: { interaction: "plan_approval" },
      input: { plan: "1" },
      questions: [],
    },
  },
  { do: "expectAnswer", name: "plan" },
  {
    do: "ask",
    name: "q",
    method: "interaction/requestUserInput",
    params: {
      requestId: "r3",
      toolCallId: "qu",
      toolName: "AskUserQuestion",
      prompt: "p",
      schema: {},
      input: {},
      questions: [
        { question: "Q", options: [{ label: "a" }] },
        { question: "M", multiSelect: true, options: [{ label: "b" }] },
      ],
    },
  },
  { do: "expectAnswer", name: "q" },
];

let h: Harness;
const results = new Map<string, JsonObject>();

async function keep(name: string, method: string, params: JsonObject): Promise<JsonObject> {
  const reply = await h.settle(h.client.request(method, params));
  expect(reply.error, name).toBeUndefined();
  results.set(name, reply.result ?? {});
  return reply.result ?? {};
}

beforeAll(async () => {
  const stored = [
    {
      info: { id: "u", role: "user" },
      parts: [
        { type: "text", text: "hi" },
        { type: "file", mime: "image/png", url: "data:image/png;base64,aGk=" },
        { type: "file", mime: "text/plain", url: "file:///a" },
      ],
    },
    {
      info: { id: "a", role: "assistant" },
      parts: [
        { type: "reasoning", text: "r" },
        { type: "text", text: "t" },
        { type: "tool", callID: "t1", tool: "Bash", state: { status: "error", input: {}, error: "x" } },
        { type: "patch", hash: "h", files: ["/a"] },
      ],
    },
  ];
  h = await harness(
    {
      sessions: [{ sessionId: "sess_old", cwd: "/p", messages: stored }],
      prompts: [{ match: "go", steps: EVERYTHING }],
    },
    { capabilities: { elicitation: { form: {} }, _meta: { terminal_output: true } } },
  );
  await keep("Initialize", "initialize", {
    protocolVersion: 1,
    clientCapabilities: { elicitation: { form: {} }, _meta: { terminal_output: true } },
  });
  const made = await keep("NewSession", "session/new", { cwd: "/p", mcpServers: [] });
  const sessionId = stringAt(made, "sessionId") ?? "";
  const prompting = keep("Prompt", "session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
  for (const [at, answer] of [
    { outcome: { outcome: "selected", optionId: "a" } },
    { action: "accept", content: {} },
    { action: "accept", content: { q_0: "a" } },
  ].entries()) {
    await h.until(`question ${at}`, () => h.client.asked.length > at);
    h.client.asked[at]?.answer(answer);
  }
  await prompting;
  await keep("LoadSession", "session/load", { sessionId: "sess_old", cwd: "/p", mcpServers: [] });
  await keep("ResumeSession", "session/resume", { sessionId, cwd: "/p", mcpServers: [] });
  await keep("ListSessions", "session/list", {});
  await keep("SetSessionConfigOption", "session/set_config_option", { sessionId, configId: "thought", value: "max" });
  await keep("SetSessionMode", "session/set_mode", { sessionId, modeId: "build" });
  await keep("CloseSession", "session/close", { sessionId });
});

afterAll(() => h.end());

const valid = (parser: { safeParse(value: unknown): { success: boolean; error?: unknown } }, value: unknown): void => {
  const parsed = parser.safeParse(value);
  expect(parsed.success, `${JSON.stringify(value)}\n${String(parsed.error)}`).toBe(true);
};

test("every update is a valid session/update, of all kinds there are", () => {
  const kinds = new Set<string>();
  for (const params of h.client.notices("session/update")) {
    valid(schema.zSessionNotification, params);
    kinds.add(String((params["update"] as JsonObject)["sessionUpdate"]));
  }
  expect([...kinds].sort()).toEqual([
    "agent_message_chunk",
    "agent_thought_chunk",
    "available_commands_update",
    "config_option_update",
    "current_mode_update",
    "plan",
    "session_info_update",
    "tool_call",
    "tool_call_update",
    "usage_update",
    "user_message_chunk",
  ]);
});

test("every question is a valid request", () => {
  for (const asked of h.client.asked) {
    const isPermission = asked.method === "session/request_permission";
    valid(isPermission ? schema.zRequestPermissionRequest : schema.zCreateElicitationRequest, asked.params);
  }
  expect(h.client.asked.map((asked) => asked.method)).toEqual([
    "session/request_permission",
    "elicitation/create",
    "elicitation/create",
  ]);
});

test.each([
  ["Initialize", schema.zInitializeResponse],
  ["NewSession", schema.zNewSessionResponse],
  ["Prompt", schema.zPromptResponse],
  ["LoadSession", schema.zLoadSessionResponse],
  ["ResumeSession", schema.zResumeSessionResponse],
  ["ListSessions", schema.zListSessionsResponse],
  ["SetSessionConfigOption", schema.zSetSessionConfigOptionResponse],
  ["SetSessionMode", schema.zSetSessionModeResponse],
  ["CloseSession", schema.zCloseSessionResponse],
])("the result of %s is valid", (name, parser) => {
  valid(parser, results.get(name));
});
