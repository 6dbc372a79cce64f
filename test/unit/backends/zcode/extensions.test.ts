/** Extensions, slash commands and the builds that differ. */
import { afterEach, expect, test } from "vitest";
import { type JsonObject, objectAt, stringAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import type { ProfileName, Step } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

test("a compaction answers with its outcome, is told as a turn of the backend, and shows nothing of its summary", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  const reply = await h.settle(h.client.request("session/compact", { sessionId: id }));
  expect(reply.result).toEqual({ outcome: "compacted" });
  expect(h.client.text()).toBe("echo: hi");
  expect(
    h.client.notices("_acp-hub/backend_turn").filter((notice) => notice["kind"] === "compact").length,
  ).toBeGreaterThanOrEqual(2);
  // Zero is a real value: it is what a compaction leaves.
  expect(h.client.of("usage_update").at(-1)).toMatchObject({ used: 0 });
});

test("row 54 a prompt during a compaction waits for its end", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  const [compacted, prompted] = await h.settle(
    Promise.all([h.client.request("session/compact", { sessionId: id }), h.client.prompt(id, "next")]),
  );
  expect(compacted?.result).toEqual({ outcome: "compacted" });
  expect(prompted?.result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("echo: hiecho: next");
});

test("row 5 a fork is read from forkedSessionId and can be prompted", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  const reply = await h.settle(h.client.request("session/fork", { sessionId: id, cwd: "/project", mcpServers: [] }));
  const forked = stringAt(reply.result, "sessionId") ?? "";
  expect(forked).toMatch(/^sess_fork_/);
  expect((await h.settle(h.client.prompt(forked, "on"))).result?.["stopReason"]).toBe("end_turn");
});

test("modes: set_mode and the option both tell mode and options, as the backend's own change does", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.request("session/set_mode", { sessionId: id, modeId: "plan" }));
  expect(h.client.of("current_mode_update")).toEqual([{ sessionUpdate: "current_mode_update", currentModeId: "plan" }]);
  expect(h.client.of("config_option_update").length).toBeGreaterThan(0);
  const session = h.fake.sessions.get("sess_1");
  if (session !== undefined) h.fake.state(session, "mode_changed", { mode: { current: "yolo" } });
  await h.until("it is told", () => h.client.of("current_mode_update").at(-1)?.["currentModeId"] === "yolo");
});

test("row 35 entering plan mode by a tool is shown at once", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "tool", payload: { kind: "scheduled", toolCallId: "e", toolName: "EnterPlanMode", input: {} } },
          { do: "set", members: { mode: "plan" } },
          { do: "tool", payload: { kind: "result", toolCallId: "e", result: { content: "ok" } } },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(h.client.of("current_mode_update").map((update) => update["currentModeId"])).toEqual(["plan"]);
});

test("row 35 plan mode that a tool could not enter is not shown", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "tool", payload: { kind: "scheduled", toolCallId: "e", toolName: "EnterPlanMode", input: {} } },
          { do: "tool", payload: { kind: "error", toolCallId: "e", error: { message: "denied" } } },
          { do: "tool", payload: { kind: "scheduled", toolCallId: "f", toolName: "EnterPlanMode", input: {} } },
          { do: "tool", payload: { kind: "result", toolCallId: "f", result: { success: false, content: "denied" } } },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(h.client.of("current_mode_update")).toEqual([]);
});

test("row 22 todos that come late are read again, also when another tool ended just before", async () => {
  const todo: JsonObject = { content: "login", status: "pending", priority: "high" };
  const tool = (id: string, toolName: string): Step[] => [
    { do: "tool", payload: { kind: "scheduled", toolCallId: id, toolName, input: { command: "ls" } } },
    { do: "tool", payload: { kind: "result", toolCallId: id, result: { content: "ok" } } },
  ];
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          ...tool("b", "Bash"),
          ...tool("t", "TodoWrite"),
          { do: "sleep", ms: 300 },
          { do: "set", members: { todos: [todo] } },
          { do: "until", name: "end" },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("the plan is told", () => h.client.of("plan").length === 1, 10_000);
  h.fake.go("end");
  await h.settle(prompt);
});

test("rows 22 23 24 the plan follows the todos, late ones too, and says nothing twice", async () => {
  const todo = (content: string): JsonObject => ({ content, status: "pending", priority: "high" });
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "tool", payload: { kind: "scheduled", toolCallId: "t", toolName: "TodoWrite", input: {} } },
          { do: "tool", payload: { kind: "result", toolCallId: "t", result: { content: "ok" } } },
          { do: "sleep", ms: 300 },
          { do: "set", members: { todos: [todo("login")] } },
          { do: "sleep", ms: 1_000 },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(h.client.of("plan")).toEqual([
    { sessionUpdate: "plan", entries: [{ content: "login", status: "pending", priority: "high" }] },
  ]);
});

test("row 29 an edit shows its diff at its result, by hunk", async () => {
  const patch = [{ oldStart: 3, oldLines: 2, newStart: 3, newLines: 2, lines: [" same", "-old", "+new"] }];
  const state = {
    status: "completed",
    input: {},
    output: "ok",
    metadata: { display: { kind: "file_diff", filePath: "/f.ts", structuredPatch: patch } },
  };
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          {
            do: "tool",
            payload: { kind: "scheduled", toolCallId: "e1", toolName: "Edit", input: { file_path: "/f.ts" } },
          },
          {
            do: "store",
            message: {
              info: { id: "mE", role: "assistant" },
              parts: [{ id: "p", type: "tool", callID: "e1", tool: "Edit", state }],
            },
          },
          { do: "tool", payload: { kind: "result", toolCallId: "e1", result: { content: "ok" } } },
          { do: "until", name: "end" },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("the diff is there", () => JSON.stringify(h.client.card("e1")).includes('"diff"'));
  expect(h.client.card("e1")).toMatchObject({
    content: [{ type: "diff", path: "/f.ts", oldText: "same\nold", newText: "same\nnew" }],
    locations: [{ path: "/f.ts", line: 3 }],
  });
  h.fake.go("end");
  await h.settle(prompt);
});

test("slash commands of ours never reach the backend as prompts", async () => {
  h = await harness({});
  const id = await h.newSession();
  for (const text of ["/mode yolo", "/thought max", "/model GLM-5.3-Flash", "/goal show", "/fork"]) {
    expect((await h.settle(h.client.prompt(id, text))).result?.["stopReason"]).toBe("end_turn");
  }
  expect(calls(h.fake, "session/send")).toHaveLength(0);
  expect(calls(h.fake, "session/setMode")[0]).toMatchObject({ mode: "yolo" });
  expect(h.client.text()).toContain("Mode: yolo.");
});

test("an instruction for the running turn goes as a guided input", async () => {
  h = await harness({
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
  const reply = await h.settle(h.client.request("session/steer", { sessionId: id, content: "use TypeScript" }));
  expect(reply.result?.["status"]).toBe("accepted");
  expect(calls(h.fake, "v4/command")[0]).toMatchObject({
    type: "sendText",
    payload: { text: "use TypeScript", requestedDelivery: "guide" },
  });
  expect(h.client.notices("_acp-hub/backend_queue")[0]).toMatchObject({
    sessionId: id,
    entries: [{ title: "use TypeScript" }],
  });
  h.fake.go("end");
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
});

test("an extension answers under its plain and its underscored name; an unknown method is -32601", async () => {
  h = await harness({});
  const id = await h.newSession();
  expect(
    (await h.settle(h.client.request("_zcode/session/goal", { sessionId: id, action: "show" }))).result?.["response"],
  ).toBe("goal show");
  expect((await h.settle(h.client.request("session/nonsense", { sessionId: id }))).error?.code).toBe(-32601);
});

interface Row {
  readonly profile: ProfileName;
  readonly steer: "v4" | "legacy";
  readonly rewind: boolean;
  readonly keepsModel: boolean;
}

const MATRIX: readonly Row[] = [
  { profile: "0.15", steer: "legacy", rewind: true, keepsModel: false },
  { profile: "0.16.5-aug", steer: "v4", rewind: false, keepsModel: false },
  { profile: "3.12", steer: "v4", rewind: false, keepsModel: true },
  { profile: "0.16.9", steer: "v4", rewind: false, keepsModel: true },
];

test.each(MATRIX)(
  "build $profile: prompt, permission, steer and rewind behave as that build allows",
  async ({ profile, steer, rewind, keepsModel }) => {
    const params = {
      requestId: "r",
      toolCallId: "c",
      toolName: "Bash",
      reason: "x",
      riskLevel: "low",
      input: { command: "ls" },
      options: [
        { optionId: "allow", kind: "allow_once", name: "Allow" },
        { optionId: "deny", kind: "deny_once", name: "Deny" },
      ],
    };
    h = await harness(
      {
        profile,
        prompts: [
          {
            match: "go",
            steps: [
              { do: "ask", name: "ask", method: "interaction/requestPermission", params },
              { do: "expectAnswer", name: "ask" },
              { do: "text", text: "ok" },
            ],
          },
        ],
      },
      { config: { model: "zai\\GLM-5.3", thought: "high" }, allows: (violation) => violation.includes("reasoning") },
    );
    const id = await h.newSession();
    const prompt = h.client.prompt(id, "go");
    await h.until("it asks", () => h.client.asked.length === 1);
    h.client.asked[0]?.answer({ outcome: { outcome: "selected", optionId: "allow" } });
    expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
    // The seed's options carry no response of their own: the decision follows from the option.
    expect(h.fake.asks.all.find((wait) => wait.name === "ask")?.result).toEqual({ decision: "allow" });
    await h.settle(h.client.request("session/steer", { sessionId: id, content: "more" }));
    expect(calls(h.fake, "session/steer")).toHaveLength(steer === "legacy" ? 1 : 0);
    const rewound = await h.settle(
      h.client.request("session/rewind", { sessionId: id, target: { kind: "latestCheckpoint" } }),
    );
    expect(rewound.error?.code).toBe(rewind ? undefined : -32601);
    const creates = calls(h.fake, "session/create");
    expect(creates.at(-1)?.["model"] !== undefined).toBe(keepsModel);
    expect(h.fake.sessions.get("sess_1")?.model).toMatchObject({ modelId: "GLM-5.3" });
  },
);

test("a build without session/subscribe is refused at first use, naming both versions, before anything is created", async () => {
  h = await harness({ profile: "0.14.7" });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.error?.message).toMatch(/no session\/subscribe; version 0\.14\.8 or newer/);
  expect(calls(h.fake, "session/create")).toHaveLength(0);
});

test("a cold boot is waited for, even when it drops what comes too early", async () => {
  h = await harness({ knobs: { bootDelayMs: 25_000, bootDropsFrames: true } });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(calls(h.fake, "session/create")).toHaveLength(1);
});

test("a process that ends while it boots is an error with its last words", async () => {
  h = await harness({ knobs: { needsProviderEnv: true } });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.error?.message).toMatch(/right after its start with exit code 1; its last words: fake ended/);
});

test("initialize declares what the agent can do, and a second one declares the client anew", async () => {
  h = await harness({});
  const reply = await h.settle(h.client.initialize({ elicitation: { form: {} } }));
  expect(reply.result).toMatchObject({
    protocolVersion: 1,
    agentInfo: { name: "zcode" },
    agentCapabilities: {
      loadSession: true,
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, fork: {} },
    },
  });
  expect(objectAt(reply.result, "agentCapabilities")?.["promptCapabilities"]).toEqual({
    image: true,
    audio: false,
    embeddedContext: true,
  });
});
