/** The ZCode backend behind the multiplexer, as `acp-hub bridge zcode` runs it for one editor. */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { zcodeBackend } from "../../../src/backends/zcode/backend.ts";
import { runBridge } from "../../../src/bridge/bridge.ts";
import { type JsonObject, stringAt } from "../../../src/protocol/json.ts";
import { memoryPair } from "../../../src/transport/memory.ts";
import { type FakeExecutable, fakeExecutable } from "../../support/fake-zcode/executable.ts";
import { TestClient } from "../../support/fake-zcode/harness.ts";
import type { Step } from "../../support/fake-zcode/scenario.ts";
import { until } from "../../support/until.ts";

const RULES = {
  decision: "allow",
  permissionUpdates: [{ type: "addRules", behavior: "allow", rules: [{ toolName: "Bash" }] }],
};
const PERMISSION: JsonObject = {
  requestId: "r1",
  toolCallId: "c1",
  toolName: "Bash",
  reason: "run",
  riskLevel: "low",
  input: { command: "ls" },
  options: [
    { optionId: "allow_project", kind: "allow_always", name: "Always", response: RULES },
    { optionId: "deny", kind: "deny", name: "Deny", response: { decision: "deny" } },
  ],
};
const PLAN: JsonObject = {
  requestId: "p1",
  toolCallId: "c2",
  toolName: "ExitPlanMode",
  prompt: "?",
  input: { plan: "1. Do" },
  schema: { interaction: "plan_approval" },
  questions: [],
};
const asks = (method: string, params: JsonObject): Step[] => [
  { do: "ask", name: "ask", method: `interaction/${method}`, params },
  { do: "expectAnswer", name: "ask" },
  { do: "text", text: "after" },
];

let fake: FakeExecutable;
let client: TestClient;
let ended: Promise<number>;
let sessionId: string;

beforeEach(async () => {
  fake = fakeExecutable({
    prompts: [
      { match: "permission", steps: asks("requestPermission", PERMISSION) },
      { match: "plan", steps: asks("requestUserInput", PLAN) },
      { match: "hang", steps: [{ do: "text", text: "x" }, { do: "hang" }] },
    ],
  });
  const home = mkdtempSync(join(tmpdir(), "zcode-bridge-"));
  const [editor, primary] = memoryPair();
  const backend = zcodeBackend({ home, env: { ...process.env, ZCODE_BIN: fake.bin, ...fake.env } });
  ended = runBridge({
    backend,
    primary,
    sharing: undefined,
    isHeadless: false,
    workspace: home,
    version: "0",
    forms: "primary",
  });
  client = new TestClient(editor);
  await client.initialize({ elicitation: { form: {} } });
  const reply = await client.request("session/new", { cwd: home, mcpServers: [] });
  sessionId = stringAt(reply.result, "sessionId") ?? "";
});

afterEach(async () => {
  client.close();
  expect(await ended).toBe(0);
  expect(fake.violations()).toEqual([]);
});

/** Results the backend got for its questions. */
const given = (): JsonObject[] =>
  fake.records().flatMap((entry) => {
    const frame = entry.in === undefined ? undefined : (JSON.parse(entry.in) as JsonObject);
    const isAnswer = String(frame?.["id"]).startsWith("server-") && frame?.["result"] !== undefined;
    return isAnswer ? [frame["result"] as JsonObject] : [];
  });

test("a prompt streams through and ends", async () => {
  expect((await client.prompt(sessionId, "hello")).result).toMatchObject({ stopReason: "end_turn" });
  expect(client.text()).toBe("echo: hello");
});

test("H1 an always-allow reaches ZCode with its rules", async () => {
  const prompt = client.prompt(sessionId, "permission");
  await until("it asks", () => client.asked.length === 1);
  client.asked[0]?.answer({ outcome: { outcome: "selected", optionId: "allow_project" } });
  expect((await prompt).result).toMatchObject({ stopReason: "end_turn" });
  expect(given().at(-1)).toEqual(RULES);
});

test("H7 feedback on a plan reaches ZCode as feedback", async () => {
  const prompt = client.prompt(sessionId, "plan");
  await until("it asks", () => client.asked.length === 1);
  expect(client.asked[0]?.method).toBe("elicitation/create");
  client.asked[0]?.answer({ action: "accept", content: { feedback: "use sqlite" } });
  expect((await prompt).result).toMatchObject({ stopReason: "end_turn" });
  expect(given().at(-1)).toEqual({ action: "accept", content: { answer_0: "use sqlite" } });
});

test("X7 a cancel during a question answers everything: the prompt, the editor's dialog, ZCode in its own shape", async () => {
  const prompt = client.prompt(sessionId, "permission");
  await until("it asks", () => client.asked.length === 1);
  client.notify("session/cancel", { sessionId });
  expect((await prompt).result).toMatchObject({ stopReason: "cancelled" });
  await until("ZCode has its answer", () => given().some((result) => result["decision"] === "deny"));
  expect((await client.prompt(sessionId, "hello")).result).toMatchObject({ stopReason: "end_turn" });
});

test("P1 the editor's own second prompt preempts the first", async () => {
  const first = client.prompt(sessionId, "hang");
  await until("it speaks", () => client.text() === "x");
  const second = client.prompt(sessionId, "hello");
  expect((await first).result).toMatchObject({ stopReason: "cancelled" });
  expect((await second).result).toMatchObject({ stopReason: "end_turn" });
  expect(client.text()).toBe("xecho: hello");
});
