/** Questions of the backend: shown once, answered once, in the shape their method wants. */
import { afterEach, expect, test } from "vitest";
import { type JsonObject, objectAt } from "../../../../src/protocol/json.ts";
import { type Harness, type HarnessOptions, harness } from "../../../support/fake-zcode/harness.ts";
import type { Step } from "../../../support/fake-zcode/scenario.ts";
import { planDecision } from "../../../support/fake-zcode/schemas.ts";

let h: Harness;
afterEach(() => h.end());

const FORMS: HarnessOptions = { capabilities: { elicitation: { form: {} } } };
const RULES = {
  decision: "allow",
  reason: "Approved for this project",
  permissionUpdates: [{ type: "addRules", behavior: "allow", rules: [{ toolName: "Bash", ruleContent: "ls" }] }],
};
const PERMISSION: JsonObject = {
  requestId: "r1",
  toolCallId: "c1",
  toolName: "Bash",
  reason: "run",
  riskLevel: "medium",
  input: { command: "ls" },
  options: [
    {
      optionId: "allow_once",
      kind: "allow_once",
      name: "Allow once",
      response: { decision: "allow", reason: "Approved once" },
    },
    { optionId: "allow_project", kind: "allow_always", name: "Always allow in this project", response: RULES },
    { optionId: "deny", kind: "deny", name: "Deny", response: { decision: "deny" } },
  ],
};
const PLAN: JsonObject = {
  requestId: "p1",
  toolCallId: "c2",
  toolName: "ExitPlanMode",
  prompt: "Review",
  questions: [
    { header: "Plan", question: "Review this implementation plan.", options: [{ label: "Approve", value: "approve" }] },
  ],
  input: { plan: "1. Implement login\n2. Implement signup" },
  schema: { interaction: "plan_approval", toolName: "ExitPlanMode" },
};
const QUESTIONS: JsonObject = {
  requestId: "q1",
  toolCallId: "c3",
  toolName: "AskUserQuestion",
  prompt: "Questions",
  questions: [
    {
      question: "Q1",
      header: "one",
      options: [
        { label: "a", value: "a" },
        { label: "b", value: "b" },
      ],
    },
    {
      question: "Q2",
      header: "two",
      multiSelect: true,
      options: [
        { label: "x", value: "x" },
        { label: "y", value: "y" },
      ],
    },
  ],
  schema: { toolName: "AskUserQuestion" },
  input: {},
};

const asking = (method: string, params: JsonObject): Step[] => [
  { do: "ask", name: "ask", method, params },
  { do: "expectAnswer", name: "ask" },
  { do: "text", text: "after" },
];

async function ask(
  method: string,
  params: JsonObject,
  options: HarnessOptions = {},
): Promise<{ id: string; prompt: ReturnType<Harness["client"]["prompt"]> }> {
  h = await harness({ prompts: [{ match: "", steps: asking(method, params) }] }, options);
  const id = await h.newSession();
  const prompt = h.client.prompt(id, "go");
  await h.until("the question is shown", () => h.client.asked.length === 1);
  return { id, prompt };
}

const permission = (options?: HarnessOptions) => ask("interaction/requestPermission", PERMISSION, options);
const input = (params: JsonObject, options?: HarnessOptions) => ask("interaction/requestUserInput", params, options);
const select = (optionId: string): JsonObject => ({ outcome: { outcome: "selected", optionId } });
/** The result the backend got. */
const given = (): JsonObject | undefined => h.fake.asks.all.findLast((wait) => wait.name === "ask")?.result;
const answers = (): JsonObject[] =>
  h.fake.received.filter(
    (frame) => String(frame["id"]).startsWith("server-") && objectAt(frame, "result") !== undefined,
  );

test("H1 the chosen option's own response goes back verbatim, rules included, on every id it was announced under", async () => {
  const { prompt } = await permission();
  await h.clock.advance(1_500);
  expect(h.client.asked).toHaveLength(1);
  const asked = h.client.asked[0];
  expect(asked?.method).toBe("session/request_permission");
  expect(asked?.params["options"]).toEqual([
    { optionId: "allow_once", kind: "allow_once", name: "Allow once" },
    { optionId: "allow_project", kind: "allow_always", name: "Always allow in this project" },
    { optionId: "deny", kind: "reject_once", name: "Deny" },
  ]);
  const card = h.client.frames.findIndex(
    (frame) => objectAt(objectAt(frame, "params"), "update")?.["toolCallId"] === "c1",
  );
  expect(card).toBeGreaterThan(-1);
  expect(card).toBeLessThan(h.client.frames.findIndex((frame) => frame["method"] === "session/request_permission"));
  asked?.answer(select("allow_project"));
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  expect(given()).toEqual(RULES);
  expect(
    answers()
      .slice(-2)
      .map((frame) => frame["result"]),
  ).toEqual([RULES, RULES]);
});

test("H3 an announcement that comes after the answer is answered from memory, without a dialog", async () => {
  const { prompt } = await permission();
  h.client.asked[0]?.answer(select("allow_once"));
  await h.settle(prompt);
  const session = [...h.fake.sessions.values()][0];
  const before = answers().length;
  h.fake.write({
    id: "server-99",
    method: "interaction/requestPermission",
    params: { sessionId: session?.id, ...PERMISSION },
  });
  await h.until("it is answered", () => answers().length === before + 1);
  expect(answers().at(-1)).toMatchObject({ id: "server-99", result: { decision: "allow", reason: "Approved once" } });
  expect(h.client.asked).toHaveLength(1);
  h.fake.violations.length = 0;
});

test("H6 a cancel denies in the permission's shape, takes the dialog down, and later questions of the turn never show", async () => {
  const { id, prompt } = await permission();
  h.client.notify("session/cancel", { sessionId: id });
  expect((await h.settle(prompt, 100)).result?.["stopReason"]).toBe("cancelled");
  expect(h.client.withdrawn).toEqual([h.client.asked[0]?.id]);
  await h.until("it is denied", () => answers().some((frame) => objectAt(frame, "result")?.["decision"] === "deny"));
  const session = [...h.fake.sessions.values()][0];
  h.fake.asks.ask(
    "again",
    "interaction/requestPermission",
    { sessionId: session?.id, turnId: "turn_1", ...PERMISSION, requestId: "r2" },
    false,
  );
  await h.until("it is denied too", () => h.fake.asks.open.length === 0);
  expect(h.client.asked).toHaveLength(1);
});

test.each([
  ["approve", { action: "accept", content: {} }, { action: "accept", content: { answer_0: "approve" } }],
  [
    "text",
    { action: "accept", content: { feedback: "use sqlite" } },
    { action: "accept", content: { answer_0: "use sqlite" } },
  ],
  ["decline", { action: "decline" }, { action: "decline" }],
  ["cancel", { action: "cancel" }, { action: "decline" }],
])("H7 plan approval by form: %s", async (name, answer, expected) => {
  const { prompt } = await input(PLAN, FORMS);
  const asked = h.client.asked[0];
  expect(asked?.method).toBe("elicitation/create");
  expect(objectAt(asked?.params, "requestedSchema")).toEqual({
    type: "object",
    properties: {
      feedback: {
        type: "string",
        title: "Feedback",
        description: "Empty = approve the plan. Anything typed = reject and use this text as the redirection.",
      },
    },
    required: [],
  });
  expect(asked?.params["message"]).toBe(
    "Ready to code?\n\n1. Implement login\n2. Implement signup\n\nLeave the box empty and submit to approve; type feedback to reject and redirect.",
  );
  asked?.answer(answer);
  await h.settle(prompt);
  expect(given()).toEqual(expected);
  // What the backend makes of it: only so does the text arrive as feedback.
  const feedback = name === "text" ? { feedback: "use sqlite" } : {};
  expect(planDecision(given() ?? {})).toEqual({ allowed: name === "approve", ...feedback });
});

test("X8 the plan form carries the two buttons a client without forms gets", async () => {
  const { prompt } = await input(PLAN, FORMS);
  const hub = objectAt(objectAt(h.client.asked[0]?.params, "_meta"), "acp-hub");
  expect(hub?.["downgrade"]).toMatchObject([
    {
      options: [
        { optionId: "approve", kind: "allow_once", action: "accept", set: {} },
        { optionId: "reject", kind: "reject_once", action: "decline" },
      ],
    },
  ]);
  h.client.asked[0]?.answer({ action: "decline" });
  await h.settle(prompt);
});

test.each([
  ["approve", { action: "accept", content: { answer_0: "approve" } }],
  ["reject", { action: "decline" }],
])("H7 plan approval by buttons, the plan in the card: %s", async (optionId, expected) => {
  const { prompt } = await input(PLAN);
  const asked = h.client.asked[0];
  expect(asked?.method).toBe("session/request_permission");
  expect(JSON.stringify(objectAt(asked?.params, "toolCall")?.["content"])).toContain("Implement login");
  asked?.answer(select(optionId));
  await h.settle(prompt);
  expect(given()).toEqual(expected);
});

test("row 112 a form the client refuses falls back to buttons", async () => {
  const { prompt } = await input(PLAN, FORMS);
  h.client.asked[0]?.fail(-32602);
  await h.until("the buttons come", () => h.client.asked.length === 2);
  expect(h.client.asked[1]?.method).toBe("session/request_permission");
  h.client.asked[1]?.answer(select("approve"));
  await h.settle(prompt);
  expect(given()).toMatchObject({ action: "accept" });
});

test("H8 questions by form in the seed's shape, answers by question text", async () => {
  const { prompt, id } = await input(QUESTIONS, FORMS);
  const asked = h.client.asked[0];
  expect(asked?.params["sessionId"]).toBe(id);
  expect(objectAt(objectAt(asked?.params, "requestedSchema"), "properties")).toEqual({
    q_0: {
      type: "string",
      title: "Q1",
      oneOf: [
        { const: "a", title: "a" },
        { const: "b", title: "b" },
        { const: "__skip__", title: "Skip this question" },
      ],
    },
    q_0_other: { type: "string", title: "↳    or type a custom value (overrides the selection)" },
    q_1: {
      type: "array",
      title: "Q2",
      items: {
        anyOf: [
          { const: "x", title: "x" },
          { const: "y", title: "y" },
        ],
      },
    },
    q_1_other: { type: "string", title: "↳    or type a custom value (added to the selection)" },
  });
  asked?.answer({ action: "accept", content: { q_0: "a", q_1: ["x"], q_1_other: "y" } });
  await h.settle(prompt);
  expect(given()).toEqual({ action: "accept", content: { answers: { Q1: "a", Q2: "x, y" } } });
});

test("row 113 110 a single question stands in its field alone, and the form names its session", async () => {
  const [only] = QUESTIONS["questions"] as JsonObject[];
  const { prompt, id } = await input({ ...QUESTIONS, questions: [only ?? {}] }, FORMS);
  const { params } = h.client.asked[0] ?? {};
  expect(params?.["message"]).toBe("Please answer 1 question.");
  expect(params?.["sessionId"]).toBe(id);
  expect(JSON.stringify(params?.["requestedSchema"]).match(/"Q1"/g)).toHaveLength(1);
  h.client.asked[0]?.answer({ action: "accept", content: { q_0: "a" } });
  await h.settle(prompt);
});

test("a skipped form goes on without answers", async () => {
  const { prompt } = await input(QUESTIONS, FORMS);
  h.client.asked[0]?.answer({ action: "accept", content: { q_0: "__skip__" } });
  await h.settle(prompt);
  expect(given()).toEqual({ action: "accept", content: { answers: {} } });
});

test("questions without forms come one popup after the other, on cards that are closed again", async () => {
  const { prompt } = await input(QUESTIONS);
  h.client.asked[0]?.answer(select("o_1"));
  await h.until("x is asked", () => h.client.asked.length === 2);
  h.client.asked[1]?.answer(select("yes"));
  await h.until("y is asked", () => h.client.asked.length === 3);
  h.client.asked[2]?.answer(select("no"));
  await h.settle(prompt);
  expect(given()).toEqual({ action: "accept", content: { answers: { Q1: "b", Q2: "x" } } });
  for (const card of ["c3_0", "c3_1_0", "c3_1_1"]) expect(h.client.card(card)["status"]).toBe("completed");
});

test("row 103 a client that cannot answer gives exactly one decline", async () => {
  const { prompt } = await permission();
  h.client.asked[0]?.fail(-32601);
  await h.settle(prompt);
  expect(given()).toMatchObject({ decision: "deny" });
});

test("row 114 an answer cancelled ends the turn instead of going on", async () => {
  const { prompt } = await permission();
  h.client.asked[0]?.answer({ outcome: { outcome: "cancelled" } });
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("cancelled");
  expect(given()).toMatchObject({ decision: "deny" });
});

test("row 117 a question the backend settled itself is taken down and not answered", async () => {
  h = await harness({
    prompts: [
      {
        match: "",
        steps: [
          { do: "ask", name: "ask", method: "interaction/requestPermission", params: PERMISSION },
          { do: "until", name: "resolved" },
          {
            do: "event",
            type: "permission.resolved",
            payload: { requestId: "r1", toolCallId: "c1", decision: "allow" },
          },
          { do: "text", text: "x" },
        ],
      },
    ],
  });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it is shown", () => h.client.asked.length === 1);
  h.fake.asks.abort((wait) => wait.name === "ask");
  h.fake.go("resolved");
  await h.settle(prompt);
  expect(h.client.withdrawn).toHaveLength(1);
  expect(answers()).toHaveLength(1);
});

test("row 116 a sub-agent's question says who asks", async () => {
  const origin = {
    kind: "subagent",
    agentId: "agent_1",
    agentType: "Explore",
    childSessionId: "s",
    parentSessionId: "p",
    description: "Look around",
  };
  const { prompt } = await ask("interaction/requestPermission", { ...PERMISSION, origin });
  const asked = h.client.asked[0];
  expect(objectAt(asked?.params, "toolCall")?.["title"]).toBe("[Look around] Bash: ls");
  expect(objectAt(objectAt(asked?.params, "_meta"), "zcode")).toMatchObject({ origin: { agentId: "agent_1" } });
  asked?.answer(select("deny"));
  await h.settle(prompt);
});

test("row 97 a question of a session nobody has open is declined in its own shape", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  h.fake.asks.ask("stray", "interaction/requestPermission", { sessionId: "sess_unknown", ...PERMISSION }, false);
  h.fake.asks.ask("stray2", "interaction/requestUserInput", { sessionId: "sess_unknown", ...QUESTIONS }, false);
  await h.until("both are declined", () => h.fake.asks.open.length === 0);
  expect(h.fake.asks.all.slice(-2).map((wait) => wait.result)).toMatchObject([
    { decision: "deny" },
    { action: "decline" },
  ]);
});

test("I3 forms stop when the clients that had them are gone", async () => {
  const { prompt } = await input(QUESTIONS, FORMS);
  h.client.asked[0]?.answer({ action: "accept", content: {} });
  await h.settle(prompt);
  await h.settle(h.client.initialize({}));
  const session = [...h.fake.sessions.values()][0];
  h.fake.asks.ask(
    "next",
    "interaction/requestUserInput",
    { sessionId: session?.id, ...QUESTIONS, requestId: "q2" },
    false,
  );
  await h.until("it is shown", () => h.client.asked.length === 2);
  expect(h.client.asked[1]?.method).toBe("session/request_permission");
});

test("row 102 nothing decides for the person, unless a time was set", async () => {
  const { prompt, id } = await permission();
  await h.clock.advance(3 * 3_600_000);
  expect(given()).toBeUndefined();
  expect(h.client.asked).toHaveLength(1);
  h.client.notify("session/cancel", { sessionId: id });
  await h.settle(prompt);
  await h.end();
  const timed = await permission({ config: { interactionTimeoutMs: 5_000 } });
  await h.settle(timed.prompt);
  expect(given()).toMatchObject({ decision: "deny" });
});

test("rows 58 55 questions to the host are answered on arrival, auto-resolution off", async () => {
  h = await harness({ knobs: { asksHeaders: true } });
  const reply = await h.settle(h.client.prompt(await h.newSession(), "go"), 2_000);
  expect(reply.result?.["stopReason"]).toBe("end_turn");
  const preferences = h.fake.asks.all.find((wait) => wait.method === "session/requestRuntimePreferences");
  expect(preferences?.result).toMatchObject({ askUserQuestionAutoResolutionEnabled: false });
  const headers = h.fake.asks.all.find((wait) => wait.method === "interaction/requestProviderRuntimeHeaders");
  expect(headers?.result).toMatchObject({ headersApplied: false });
  h.fake.asks.ask("automation", "automation/list", {}, false);
  await h.until("it is refused", () => h.fake.asks.open.length === 0);
  expect(h.fake.received.at(-1)).toMatchObject({ error: { code: -32601 } });
});
