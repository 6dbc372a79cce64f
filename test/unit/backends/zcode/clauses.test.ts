/** What is known of the backend and stood in no other test: each of these could have been taken out unseen. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { type JsonObject, objectAt, stringAt } from "../../../../src/protocol/json.ts";
import { calls, type Harness, harness } from "../../../support/fake-zcode/harness.ts";
import { asking, PERMISSION, permission, plan, USER_INPUT } from "../../../support/fake-zcode/questions.ts";
import type { Step } from "../../../support/fake-zcode/scenario.ts";

let h: Harness;
afterEach(() => h.end());

const select = (optionId: string): JsonObject => ({ outcome: { outcome: "selected", optionId } });
const tool = (id: string, toolName: string): Step[] => [
  { do: "tool", payload: { kind: "scheduled", toolCallId: id, toolName, input: { command: "ls" } } },
  { do: "tool", payload: { kind: "result", toolCallId: id, result: { content: "ok" } } },
];

test("row 55 a provider with a key of its own is given it when ZCode asks for headers", async () => {
  h = await harness({ knobs: { asksHeaders: true } });
  mkdirSync(join(h.home, ".zcode", "v2"), { recursive: true });
  const provider = { zai: { name: "Z", options: { apiKey: "key-1" }, models: {} } };
  writeFileSync(join(h.home, ".zcode", "v2", "config.json"), JSON.stringify({ provider }));
  await h.settle(h.client.prompt(await h.newSession(), "go"));
  const headers = h.fake.asks.all.find((wait) => wait.method === "interaction/requestProviderRuntimeHeaders");
  expect(headers?.result).toEqual({ headersApplied: true, requestAuth: { apiKey: "key-1" } });
});

test("row 35 the mode is read again a second after a plan was approved, in the middle of its turn", async () => {
  const steps: Step[] = [
    ...asking(USER_INPUT, plan("p", "c_p")),
    { do: "sleep", ms: 500 },
    { do: "set", members: { mode: "build" } },
    { do: "until", name: "end" },
  ];
  h = await harness({ prompts: [{ match: "", steps }] }, { config: { mode: "plan" } });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it is asked", () => h.client.asked.length === 1);
  h.client.asked[0]?.answer(select("approve"));
  await h.until("it is told", () => h.client.of("current_mode_update").at(-1)?.["currentModeId"] === "build", 2_000);
  h.fake.go("end");
  await h.settle(prompt);
});

test("row 22 the plan is read at the end of every tool of a turn, not of the first alone", async () => {
  const todo = (content: string): JsonObject => ({ content, status: "pending", priority: "high" });
  const steps = ["one", "two", "three"].flatMap((content, at): Step[] => [
    { do: "set", members: { todos: [todo(content)] } },
    ...tool(`t${at}`, "TodoWrite"),
    { do: "sleep", ms: 2_000 },
  ]);
  h = await harness({ prompts: [{ match: "", steps: [...steps, { do: "until", name: "end" }] }] });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("all are told", () => h.client.of("plan").length === 3, 10_000);
  h.fake.go("end");
  await h.settle(prompt);
});

test("row 82 what comes after an older page is shown, and once", async () => {
  const messages = Array.from({ length: 20 }, (_, at) => [
    { info: { id: `u${at}`, role: "user" }, parts: [{ type: "text", text: `q${at}` }] },
    { info: { id: `a${at}`, role: "assistant" }, parts: [{ type: "text", text: `a${at} ` }] },
  ]).flat();
  h = await harness({ sessions: [{ sessionId: "sess_old", cwd: "/p", messages }] });
  const sessionId = "sess_old";
  const _meta = { zcode: { limit: 4 } };
  const loaded = await h.settle(h.client.request("session/load", { sessionId, cwd: "/", mcpServers: [], _meta }));
  const before = stringAt(objectAt(loaded.result, "replayMeta"), "cursor") ?? "";
  const page = await h.settle(h.client.request("session/load_earlier", { sessionId, before, limit: 4 }));
  expect(page.error).toBeUndefined();
  const from = h.client.text().length;
  await h.settle(h.client.prompt(sessionId, "hello"));
  expect(h.client.text().slice(from)).toBe("echo: hello");
});

test("row 142 the name ZCode gave is told once, however often it says so", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "fix the build"));
  const session = h.fake.sessions.get("sess_1");
  for (const title of ["Fixing the build", "Fixing the build", "Fixed"])
    if (session !== undefined) h.fake.event(session, "session.titleUpdated", { title, source: "generated" });
  const titles = (): unknown[] => h.client.of("session_info_update").map((update) => update["title"]);
  await h.until("the last is told", () => titles().at(-1) === "Fixed");
  expect(titles()).toEqual(["fix the build", "Fixing the build", "Fixed"]);
});

test("row 44 a build that was seen to refuse sends in mid-turn is asked again after a cancel, not restarted", async () => {
  h = await harness({
    knobs: { ignoresStop: "v4", busy: { times: 1, code: -32010, message: "A prompt is already running" } },
    prompts: [
      {
        match: "first",
        steps: [
          { do: "text", text: "x" },
          { do: "sleep", ms: 12_000 },
        ],
      },
    ],
  });
  const id = await h.newSession();
  const first = h.client.prompt(id, "first");
  await h.until("it speaks", () => h.client.text() === "x");
  const second = h.client.prompt(id, "second");
  expect((await h.settle(first)).result?.["stopReason"]).toBe("cancelled");
  expect((await h.settle(second)).result?.["stopReason"]).toBe("end_turn");
  expect(calls(h.fake, "session/close")).toEqual([]);
  expect(h.client.text()).toBe("xecho: second");
});

test("row 97 the card of a background agent's question goes on with the call it was about", async () => {
  h = await harness({});
  await h.settle(h.client.prompt(await h.newSession(), "hi"));
  const origin = { kind: "subagent", agentId: "agent_1", childSessionId: "s", parentSessionId: "sess_1" };
  const params = { sessionId: "sess_1", origin, ...permission("r1", "c_bg") };
  h.fake.asks.ask("bg", PERMISSION, params, true);
  await h.until("it is shown", () => h.client.asked.length === 1);
  h.client.asked[0]?.answer(select("allow_once"));
  await h.until("it is answered", () => h.fake.asks.open.length === 0);
  const session = h.fake.sessions.get("sess_1");
  const event = (payload: JsonObject): void => {
    if (session !== undefined)
      h.fake.event(session, "tool.updated", { background: true, source: "subagent", ...payload }, "turn_child");
  };
  event({ kind: "scheduled", toolCallId: "c_other", toolName: "Read", input: { file_path: "/a" } });
  event({ kind: "result", toolCallId: "c_bg", result: { content: "listed" } });
  await h.until("the card is done", () => h.client.card("c_bg")["status"] === "completed");
  expect(h.client.card("c_other")).toEqual({});
});

test("row 49 a cancel closes the cards of a turn of the backend's own", async () => {
  const steps: Step[] = [
    { do: "tool", payload: { kind: "started", toolCallId: "g1", toolName: "Bash", input: { command: "sleep 9" } } },
    { do: "hang" },
  ];
  h = await harness({ knobs: { ignoresStop: "v4" }, prompts: [{ match: "goal", steps }] });
  const id = await h.newSession();
  await h.settle(h.client.request("session/goal", { sessionId: id, action: "set", objective: "goal" }));
  await h.until("the card is there", () => h.client.card("g1")["status"] === "in_progress");
  h.client.notify("session/cancel", { sessionId: id });
  await h.until("it is closed", () => h.client.card("g1")["status"] === "failed", 1_000);
});

test("H15d a computer that slept is not a turn that froze", async () => {
  const steps: Step[] = [
    { do: "text", text: "x" },
    { do: "until", name: "end" },
    { do: "text", text: "y" },
  ];
  h = await harness({ prompts: [{ match: "", steps }] });
  const prompt = h.client.prompt(await h.newSession(), "go");
  await h.until("it speaks", () => h.client.text() === "x");
  await h.clock.advance(60_000);
  h.clock.sleep(8 * 3_600_000);
  await h.clock.advance(60_000);
  h.fake.go("end");
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("xy");
});

test("row 13 prompt_completed of the turn before does not end one that thinks in silence", async () => {
  const steps: Step[] = [
    { do: "state", reason: "prompt_completed" },
    { do: "text", text: "x" },
    { do: "sleep", ms: 40_000 },
    { do: "text", text: "y" },
  ];
  h = await harness({ prompts: [{ match: "", steps }] });
  const prompt = h.client.prompt(await h.newSession(), "go");
  expect((await h.settle(prompt)).result?.["stopReason"]).toBe("end_turn");
  expect(h.client.text()).toBe("xy");
});

test("row 53 a cancel reaches a compaction whose turn has not begun", async () => {
  h = await harness({});
  const id = await h.newSession();
  await h.settle(h.client.prompt(id, "hi"));
  const session = h.fake.sessions.get("sess_1");
  if (session !== undefined) h.fake.state(session, "compact_started", { status: "running" });
  await h.until("it is known", () => h.fake.sent.some((frame) => JSON.stringify(frame).includes("compact_started")));
  h.client.notify("session/cancel", { sessionId: id });
  await h.until("it is stopped", () => calls(h.fake, "session/stop").length === 1);
});
