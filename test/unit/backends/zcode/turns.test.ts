/** Turns: what a prompt sends, what is shown of its turn, and how its end is found. */
import { afterEach, expect, test } from "vitest";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";

let h: Harness;
afterEach(() => h.end());

test("a prompt creates the session, subscribes before it sends, streams, and ends", async () => {
  h = await harness({});
  const id = await h.newSession();
  expect(h.fakes).toHaveLength(0);
  const reply = await h.settle(h.client.prompt(id, "hello"));
  expect(reply.result).toMatchObject({ stopReason: "end_turn" });
  expect(h.client.text()).toBe("echo: hello");
  const order = h.fake.received.map((frame) => frame["method"]).filter((method) => method !== undefined);
  expect(order.lastIndexOf("session/subscribe")).toBeLessThan(order.indexOf("session/send"));
  expect(calls(h.fake, "session/create")).toHaveLength(1);
});

test("row 18 the subscription asks for no window and no snapshot", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "hello"));
  expect(calls(h.fake, "session/subscribe")).toEqual([
    { sessionId: "sess_1", deliveryKind: "desktop-continuous", includeSnapshot: false },
  ]);
});

test("row 57 a session born here is named by its first prompt, once, when it is sent", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "\n  fix the build\nplease"));
  await h.settle(h.client.prompt(id, "another"));
  expect(h.client.of("session_info_update").map((update) => update["title"])).toEqual(["fix the build"]);
});

test("an empty prompt is refused before anything is created", async () => {
  h = await harness({});
  const reply = await h.settle(h.client.prompt(await h.newSession(), "  "));
  expect(reply.error?.code).toBe(-32602);
  expect(h.fakes).toHaveLength(0);
});

test("row 39 a path that looks like a command is sent neutralised, a command of the backend as it is", async () => {
  h = await harness({ knobs: { slashCommands: [{ name: "review", description: "Review" }] } });
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "/Users/me/file is wrong"));
  await h.settle(h.client.prompt(id, "/review this"));
  expect(calls(h.fake, "session/send").map((params) => params["content"])).toEqual([
    "\u200b/Users/me/file is wrong",
    "/review this",
  ]);
});

test("the outcome of every result type is told in ACP's words", async () => {
  const types = [
    "success",
    "error_max_turns",
    "error_max_tool_calls",
    "error_max_budget",
    "cancelled",
    "something_new",
  ];
  h = await harness({
    prompts: types.map((resultType) => ({
      match: `<${resultType}>`,
      steps: [
        { do: "text", text: "x" },
        { do: "complete", resultType },
      ],
    })),
  });
  const id = await h.newSession();
  const reasons: unknown[] = [];
  for (const type of types) reasons.push((await h.settle(h.client.prompt(id, `<${type}>`))).result?.["stopReason"]);
  expect(reasons).toEqual([
    "end_turn",
    "max_turn_requests",
    "max_turn_requests",
    "max_tokens",
    "cancelled",
    "end_turn",
  ]);
});

test("row 40 an error during execution is an error, not an end", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "x" },
          { do: "complete", resultType: "error_during_execution" },
        ],
      },
    ],
  });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.error?.message).toMatch(/error during its execution/);
});

test("the usage of the turn is in the answer and the meter shows the context, not the lifetime", async () => {
  const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cacheReadTokens: 3, reasoningTokens: 2 };
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "event", type: "session.updated", payload: { usage: { inputTokens: 40 }, contextWindow: 0 } },
          { do: "text", text: "x" },
          { do: "set", members: { contextUsed: 40, contextWindow: 0, totalTokenCount: 999_999 } },
          { do: "complete", usage },
        ],
      },
    ],
  });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.result?.["usage"]).toEqual({
    inputTokens: 10,
    outputTokens: 5,
    totalTokens: 15,
    cachedReadTokens: 3,
    thoughtTokens: 2,
  });
  // The window comes from the model table where the backend says 0; the same value is said once.
  expect(h.client.of("usage_update")).toEqual([{ sessionUpdate: "usage_update", used: 40, size: 200_000 }]);
});

test("H14 a notification turn inside a prompt's turn shows once, apart, and does not end the prompt", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "one ", message: "own" },
          {
            do: "event",
            type: "turn.started",
            turnId: "tG",
            payload: { inputSource: "background_task", input: "<task-notification>" },
          },
          {
            do: "event",
            type: "model.streaming",
            turnId: "tG",
            payload: { kind: "text_delta", delta: "report", assistantMessageId: "bgm" },
          },
          { do: "event", type: "turn.completed", turnId: "tG", payload: { response: "report", resultType: "success" } },
          { do: "until", name: "later" },
          { do: "text", text: "two" },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("the report is shown", () => h.client.text().includes("report"));
  h.fake.go("later");
  const reply = await h.settle(prompt);
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  const foreign = h.client
    .of("agent_message_chunk")
    .filter((update) => String(update["messageId"]).startsWith("bg_msg_"));
  expect(foreign).toHaveLength(1);
  expect(h.client.text("own")).toBe("one two");
  expect(h.client.notices("_acp-hub/backend_turn").map((notice) => [notice["running"], notice["kind"]])).toEqual([
    [true, "background"],
    [false, "background"],
  ]);
});

test("row 15 a reply that only the store has, and late, is shown", async () => {
  h = await harness({
    knobs: { messagesLagMs: 900 },
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "late reply", live: false },
          { do: "lose", all: true },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  const reply = await h.settle(prompt);
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("late reply");
});

test("a turn that ended without any output is an error", async () => {
  h = await harness({ prompts: [{ match: "", steps: [{ do: "lose", all: true }] }] });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.error?.message).toMatch(/without any output/);
});

test("H16 what the store has beyond the stream is shown once, and nothing twice", async () => {
  const tool = (id: string) => ({
    info: { id: "m3", role: "assistant" },
    parts: [
      {
        id: "p",
        type: "tool",
        callID: id,
        tool: "Read",
        state: { status: "completed", input: { file_path: "/a" }, output: "text" },
      },
    ],
  });
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "reasoning", text: "why", message: "m1", live: false },
          { do: "text", text: "m1 text", message: "m1" },
          {
            do: "tool",
            payload: { kind: "scheduled", toolCallId: "c1", toolName: "Read", input: { file_path: "/a" } },
          },
          { do: "tool", payload: { kind: "result", toolCallId: "c1", result: { content: "text" } } },
          { do: "text", text: "m2 text", message: "m2", live: false },
          { do: "store", message: tool("c2") },
        ],
      },
    ],
  });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text("m1")).toBe("m1 text");
  expect(h.client.text("m2")).toBe("m2 text");
  expect(h.client.text()).toBe("m1 textm2 text");
  expect(h.client.thoughts).toBe("why");
  expect(h.client.of("tool_call").map((update) => update["toolCallId"])).toEqual(["c1", "c2"]);
});

test("text without message ids is matched by its order", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "first ", message: "m1", anonymous: true },
          { do: "text", text: "second", message: "m2", anonymous: true },
        ],
      },
    ],
  });
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(h.client.text()).toBe("first second");
});

test("turn.terminal ends the turn when completed and failed are missing", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "text", text: "x" },
          {
            do: "event",
            type: "turn.terminal",
            payload: {
              kind: "turn.terminal",
              status: "success",
              resultType: "end_turn",
              totalTokens: 7,
              inputTokens: 4,
              outputTokens: 3,
            },
          },
          { do: "lose", all: true },
        ],
      },
    ],
  });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"), 3_000);
  expect(reply.result).toEqual({ stopReason: "end_turn", usage: { inputTokens: 4, outputTokens: 3, totalTokens: 7 } });
});

test("row 16 a network failure before any output is tried again, a bounded number of times", async () => {
  const fail = {
    do: "fail",
    error: { type: "UNKNOWN_ERROR", message: "wrapped", cause: { code: "ECONNRESET", message: "socket hang up" } },
  } as const;
  h = await harness({
    prompts: [
      { match: "flaky", once: true, steps: [fail] },
      { match: "flaky", steps: [{ do: "text", text: "better" }] },
      { match: "dead", steps: [fail] },
    ],
  });
  const id = await h.newSession();
  expect((await h.settle(h.client.prompt(id, "flaky"))).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("better");
  const before = calls(h.fake, "session/send").length;
  const reply = await h.settle(h.client.prompt(id, "dead"));
  expect(reply.error?.message).toMatch(/socket hang up/);
  expect(calls(h.fake, "session/send").length - before).toBe(6);
});

test("a failure after output is not sent again", async () => {
  const fail = { do: "fail", error: { type: "rate_limit", message: "slow down", code: "rate_limit" } } as const;
  h = await harness({ prompts: [{ match: "", steps: [{ do: "text", text: "half" }, fail] }] });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"));
  expect(reply.error?.message).toBe("slow down");
  expect(calls(h.fake, "session/send")).toHaveLength(1);
});

test("hints are tagged and never agent text", async () => {
  h = await harness(
    {
      prompts: [
        {
          match: "",
          steps: [
            { do: "sleep", ms: 3_000 },
            { do: "text", text: "x" },
          ],
        },
      ],
    },
    { config: { showsThinkingHint: true } },
  );
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  const hints = h.client.of("agent_thought_chunk");
  expect(hints).toHaveLength(1);
  expect(hints[0]).toMatchObject({ _meta: { zcode: { note: "thinking" } } });
  expect(h.client.text()).toBe("x");
});
