import { methods } from "@agentclientprotocol/sdk";
import { afterEach, expect, test } from "vitest";
import type { Backend } from "../../../src/backends/backend.ts";
import { demoBackend } from "../../../src/backends/demo/demo-backend.ts";
import type { Pace } from "../../../src/backends/demo/turn.ts";
import { SdkClient, type SdkClientAnswers } from "../../support/sdk-client.ts";

const backends: Backend[] = [];
afterEach(async () => {
  for (const backend of backends.splice(0)) await backend.stop();
});

const noWait: Pace = (_ms, signal) => {
  signal.throwIfAborted();
  return Promise.resolve();
};

/** Waits for ever: the scene stands still until it is cancelled. */
const standStill: Pace = (_ms, signal) =>
  new Promise((_resolve, reject) => {
    const stop = () => reject(new Error("stopped"));
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });

async function opened(answers: SdkClientAnswers = {}, options: { pace?: Pace; forms?: boolean } = {}) {
  const backend = demoBackend({ pace: options.pace ?? noWait, now: () => 1_700_000_000_000 });
  backends.push(backend);
  const client = new SdkClient(backend.start(), answers);
  const initialized = await client.initialize(options.forms ? { elicitation: { form: {} } } : {});
  const session = await client.newSession();
  return { backend, client, initialized, session, sessionId: session.sessionId };
}

const choose = (optionId: string): SdkClientAnswers => ({
  permission: () => Promise.resolve({ outcome: { outcome: "selected", optionId } }),
});

test("the demo agent tells what it can do, and commands follow the session's response", async () => {
  const { client, initialized, session } = await opened();
  expect(initialized.agentCapabilities?.loadSession).toBe(true);
  expect(initialized.agentCapabilities?.promptCapabilities?.image).toBe(true);
  expect(session.modes?.currentModeId).toBe("ask");
  expect(session.configOptions?.map((option) => option.id)).toEqual(["speed"]);
  await client.until(() => client.of("available_commands_update").length === 1);
  const names = client.of("available_commands_update")[0]?.availableCommands.map((command) => command.name);
  expect(names).toContain("diff");
  expect(names).toContain("help");
});

test("help names every scene, and each scene is picked by its word and by its slash command", async () => {
  const { client, sessionId } = await opened();
  expect(await client.prompt(sessionId, "help")).toEqual({ stopReason: "end_turn" });
  for (const name of ["diff", "plan", "terminal", "form", "two", "long", "image", "later", "fail"]) {
    expect(client.said).toContain(`\`${name}\``);
  }
  const before = client.said.length;
  await client.prompt(sessionId, "/long 3");
  expect(client.said.slice(before).match(/of 3\./g)?.length).toBe(3);
});

test("text streams in small chunks under one message id, after thoughts, and the session gets a title", async () => {
  const { client, sessionId } = await opened();
  await client.prompt(sessionId, "Hello there");
  const chunks = client.of("agent_message_chunk");
  expect(chunks.length).toBeGreaterThan(5);
  expect(new Set(chunks.map((chunk) => chunk.messageId)).size).toBe(1);
  expect(client.said).toContain("**demo agent**: nothing it shows is real");
  expect(client.said).toContain("\n\nIt can show");
  expect(client.of("agent_thought_chunk").length).toBeGreaterThan(0);
  expect(client.of("session_info_update")[0]?.title).toBe("Hello there");
  expect(client.of("usage_update")[0]?.used).toBeGreaterThan(0);
});

test("a plan advances step by step to its end", async () => {
  const { client, sessionId } = await opened();
  await client.prompt(sessionId, "make a plan");
  const done = client.of("plan").map((plan) => plan.entries.filter((entry) => entry.status === "completed").length);
  expect(done).toEqual([0, 1, 2, 3, 4]);
});

test("an edit shows its diff, asks, and is done when it is allowed once", async () => {
  let asked: string[] = [];
  const { client, sessionId } = await opened({
    permission: (params) => {
      asked = params.options.map((option) => option.kind);
      const card = client.of("tool_call").at(-1);
      expect(card?.content?.[0]?.type).toBe("diff");
      expect(params.toolCall.toolCallId).toBe(card?.toolCallId);
      return Promise.resolve({ outcome: { outcome: "selected", optionId: "allow-once" } });
    },
  });
  await client.prompt(sessionId, "show a diff");
  expect(asked).toEqual(["allow_once", "allow_always", "reject_once"]);
  expect(client.of("tool_call_update").at(-1)?.status).toBe("completed");
});

test("a rejected edit fails its card and the turn goes on", async () => {
  const { client, sessionId } = await opened(choose("reject"));
  expect(await client.prompt(sessionId, "diff")).toEqual({ stopReason: "end_turn" });
  expect(client.of("tool_call_update").at(-1)?.status).toBe("failed");
  expect(client.said).toContain("leave");
});

test("after always the next edit asks nothing, and neither does mode Auto", async () => {
  let count = 0;
  const { client, sessionId } = await opened({
    permission: () => {
      count += 1;
      return Promise.resolve({ outcome: { outcome: "selected", optionId: "allow-always" } });
    },
  });
  await client.prompt(sessionId, "diff");
  await client.prompt(sessionId, "diff");
  expect(count).toBe(1);
  const other = (await client.newSession()).sessionId;
  await client.connection.agent.request(methods.agent.session.setMode, { sessionId: other, modeId: "auto" });
  await client.prompt(other, "diff");
  expect(count).toBe(1);
  expect(client.of("tool_call_update").at(-1)?.status).toBe("completed");
});

test("a command's coloured output grows in its card", async () => {
  const { client, sessionId } = await opened();
  await client.prompt(sessionId, "terminal");
  const texts = client
    .of("tool_call_update")
    .flatMap((update) =>
      (update.content ?? []).map((part) =>
        part.type === "content" && part.content.type === "text" ? part.content.text : "",
      ),
    );
  expect(texts.length).toBeGreaterThan(3);
  for (const [index, text] of texts.slice(1).entries()) expect(text.startsWith(texts[index] ?? "?")).toBe(true);
  expect(texts.at(-1)).toContain("\u001b[31m");
});

test("a form goes to a client that shows forms, and buttons to one that does not", async () => {
  const { client, sessionId } = await opened(
    { form: () => Promise.resolve({ action: "accept", content: { language: "rs", tests: true } }) },
    { forms: true },
  );
  await client.prompt(sessionId, "form");
  expect(client.said).toContain('language: `"rs"`');
  const plain = await opened(choose("ts"));
  await plain.client.prompt(plain.sessionId, "form");
  expect(plain.client.said).toContain("`ts`");
});

test("X10 two permissions are open at once and settle on their own", async () => {
  const release: (() => void)[] = [];
  const { client, sessionId } = await opened({
    permission: (params) =>
      new Promise((resolve) => {
        const optionId = params.toolCall.title === "Delete one.txt" ? "reject" : "allow-once";
        release.push(() => resolve({ outcome: { outcome: "selected", optionId } }));
        if (release.length === 2) for (const answer of release) answer();
      }),
  });
  await client.prompt(sessionId, "two");
  expect(client.said).toContain("one.txt: rejected");
  expect(client.said).toContain("two.txt: allowed");
});

test("a cancel ends a turn that waits, fails its open card, and comes before the response", async () => {
  const { client, sessionId } = await opened({}, { pace: standStill });
  const turn = client.prompt(sessionId, "terminal");
  await client.until(() => client.of("tool_call_update").length > 0);
  await client.cancel(sessionId);
  expect(await turn).toEqual({ stopReason: "cancelled" });
  expect(client.of("tool_call_update").at(-1)?.status).toBe("failed");
});

test("X9 a cancel during a question withdraws it and ends the turn without waiting for the answer", async () => {
  let withdrawn = false;
  const { client, sessionId } = await opened({
    permission: (_params, signal) =>
      new Promise(() => {
        signal.addEventListener("abort", () => {
          withdrawn = true;
        });
        void client.cancel(sessionId);
      }),
  });
  expect(await client.prompt(sessionId, "diff")).toEqual({ stopReason: "cancelled" });
  expect(withdrawn).toBe(true);
  expect(await client.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
});

test("prompts of one session run one after another, and a cancel ends those that wait too", async () => {
  const { client, sessionId } = await opened({}, { pace: standStill });
  const first = client.prompt(sessionId, "long");
  const second = client.prompt(sessionId, "long");
  await client.until(() => client.of("session_info_update").length > 0);
  await client.cancel(sessionId);
  expect(await Promise.all([first, second])).toEqual([{ stopReason: "cancelled" }, { stopReason: "cancelled" }]);
});

test("a load replays whole messages and final cards before its response, a resume replays nothing", async () => {
  const { client, sessionId } = await opened(choose("allow-once"));
  await client.prompt(sessionId, "diff please");
  const said = client.said;
  const ids = new Set(client.of("agent_message_chunk").map((chunk) => chunk.messageId));
  client.notes.length = 0;
  const loaded = await client.connection.agent.request(methods.agent.session.load, {
    sessionId,
    cwd: "/work",
    mcpServers: [],
  });
  expect(loaded?.modes?.currentModeId).toBe("ask");
  expect(client.updates.map((update) => update.sessionUpdate)).toEqual([
    "user_message_chunk",
    "tool_call",
    "tool_call",
    "agent_message_chunk",
  ]);
  expect(client.said).toBe(said);
  expect(new Set(client.of("agent_message_chunk").map((chunk) => chunk.messageId))).toEqual(ids);
  expect(client.of("tool_call").map((card) => card.status)).toEqual(["completed", "completed"]);
  client.notes.length = 0;
  await client.connection.agent.request(methods.agent.session.resume, { sessionId, cwd: "/work" });
  expect(client.updates.filter((update) => update.sessionUpdate.includes("chunk"))).toEqual([]);
});

test("sessions are listed once they were used, by folder, and an unknown one is not found", async () => {
  const { client, sessionId } = await opened();
  const list = (cwd?: string) =>
    client.connection.agent.request(methods.agent.session.list, cwd === undefined ? {} : { cwd });
  expect((await list()).sessions).toEqual([]);
  await client.prompt(sessionId, "hello");
  expect((await list("/work")).sessions).toEqual([
    { sessionId, cwd: "/work", title: "hello", updatedAt: "2023-11-14T22:13:20.000Z" },
  ]);
  expect((await list("/elsewhere")).sessions).toEqual([]);
  await expect(client.prompt("nope", "hello")).rejects.toMatchObject({ code: -32002 });
});

test("an image in the prompt is accepted and described", async () => {
  const { client, sessionId } = await opened();
  await client.connection.agent.request(methods.agent.session.prompt, {
    sessionId,
    prompt: [{ type: "image", mimeType: "image/png", data: Buffer.alloc(300).toString("base64") }],
  });
  expect(client.said).toContain("image/png, 300 bytes");
});

test("a configuration change is answered and announced; a wrong value is refused", async () => {
  const { client, sessionId } = await opened();
  const set = (value: string) =>
    client.connection.agent.request(methods.agent.session.setConfigOption, { sessionId, configId: "speed", value });
  expect((await set("calm")).configOptions[0]).toMatchObject({ currentValue: "calm" });
  expect(client.of("config_option_update").length).toBe(1);
  await expect(set("warp")).rejects.toMatchObject({ code: -32602 });
});

test("B6 work in the background is reported after the turn's response", async () => {
  const { client, sessionId } = await opened();
  expect(await client.prompt(sessionId, "later")).toEqual({ stopReason: "end_turn" });
  await client.until(() => client.said.includes("work is done."));
});

test("a turn that fails is an error to its caller, and the next one works", async () => {
  const { client, sessionId } = await opened();
  await expect(client.prompt(sessionId, "fail")).rejects.toMatchObject({ code: -32603 });
  expect(await client.prompt(sessionId, "hello")).toEqual({ stopReason: "end_turn" });
});

test("L1 stop ends a running turn and the backend; it can be asked for twice and before the start", async () => {
  const { backend, client, sessionId } = await opened({}, { pace: standStill });
  const turn = client.prompt(sessionId, "long").catch((error: unknown) => error);
  await client.until(() => client.of("session_info_update").length > 0);
  await Promise.all([backend.stop(), backend.stop()]);
  expect(await backend.exited).toEqual({ code: 0, signal: null, stderrTail: "" });
  await client.connection.closed;
  await turn;
  await demoBackend().stop();
});

test("the scenes wait in real time unless told otherwise", async () => {
  const backend = demoBackend();
  backends.push(backend);
  const client = new SdkClient(backend.start());
  await client.initialize();
  const { sessionId } = await client.newSession();
  const turn = client.prompt(sessionId, "plan");
  await client.until(() => client.of("plan").length > 0);
  await client.cancel(sessionId);
  expect(await turn).toEqual({ stopReason: "cancelled" });
  expect(client.of("plan").length).toBe(1);
});
