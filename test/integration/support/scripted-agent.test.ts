import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { methods } from "@agentclientprotocol/sdk";
import { afterEach, expect, test } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import type { Backend } from "../../../src/backends/backend.ts";
import { Recorder } from "../../support/recorder.ts";
import { SdkClient, type SdkClientAnswers } from "../../support/sdk-client.ts";

const AGENT = fileURLToPath(new URL("../../support/scripted-agent.mjs", import.meta.url));

const backends: Backend[] = [];
const folders: string[] = [];
afterEach(async () => {
  for (const backend of backends.splice(0)) await backend.stop();
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true });
});

function agent(script: object): Backend {
  const backend = acpBackend({
    command: process.execPath,
    args: [AGENT, JSON.stringify(script)],
    stderr: new PassThrough(),
    eofMs: 500,
    termMs: 200,
  });
  backends.push(backend);
  return backend;
}

async function opened(script: object, answers: SdkClientAnswers = {}) {
  const backend = agent(script);
  const client = new SdkClient(backend.start(), answers);
  await client.initialize();
  const { sessionId } = await client.newSession();
  return { backend, client, sessionId };
}

const allow: SdkClientAnswers = {
  permission: () => Promise.resolve({ outcome: { outcome: "selected", optionId: "allow" } }),
};

test("turns play in order, the last one again, and a matching prompt plays its own", async () => {
  const { client, sessionId } = await opened({
    turns: [[{ say: "one" }], { match: "special", steps: [{ say: "own" }] }, [{ say: "two in $cwd" }]],
  });
  for (const text of ["a", "special", "b", "c"]) await client.prompt(sessionId, text);
  expect(client.of("agent_message_chunk").map((chunk) => chunk.content)).toEqual(
    ["one", "own", "two in /work", "two in /work"].map((text) => ({ type: "text", text })),
  );
});

test("a stream has the asked number, size and message id", async () => {
  const { client, sessionId } = await opened({
    turns: [[{ stream: { count: 300, bytes: 50, messageId: "m1" } }, { stream: { count: 3, everyMs: 1 } }]],
  });
  await client.prompt(sessionId, "go");
  const chunks = client.of("agent_message_chunk");
  expect(chunks.length).toBe(303);
  expect(chunks[299]?.content).toEqual({ type: "text", text: "299 ".padEnd(50, "x") });
  expect(chunks[299]?.messageId).toBe("m1");
});

test("questions count their ids from 0, their answers can be said, and all that came in is recorded", async () => {
  const folder = await mkdtemp(join(tmpdir(), "acp-hub-scripted-"));
  folders.push(folder);
  const record = join(folder, "received.ndjson");
  const backend = agent({
    record,
    turns: [
      [
        { ask: true, wait: false },
        { request: { method: "fs/read_text_file", params: { path: "/a" } } },
        { answers: true },
        { say: "$answer" },
      ],
    ],
  });
  const recorder = Recorder.on(backend.start());
  const transport = backend.start();
  const call = (id: number, method: string, params: object) =>
    transport.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
  call(10, "initialize", { protocolVersion: 1 });
  call(11, "session/new", { cwd: "/work", mcpServers: [] });
  call(12, "session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: "x" }] });
  await recorder.untilFrames(4);
  const asked = recorder.frames.flatMap((frame) => (frame.kind === "request" ? [frame.msg] : []));
  expect(asked.map((one) => [one.id, one.method])).toEqual([
    [0, "session/request_permission"],
    [1, "fs/read_text_file"],
  ]);
  transport.send('{"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"allow"}}}');
  transport.send('{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}');
  await recorder.untilFrames(6);
  expect(recorder.texts.at(-2)).toContain("-32601");
  expect(recorder.texts.at(-1)).toBe('{"jsonrpc":"2.0","id":12,"result":{"stopReason":"end_turn"}}');
  const lines = (await readFile(record, "utf8")).trim().split("\n");
  expect(lines.map((line) => JSON.parse(line).id)).toEqual([10, 11, 12, 0, 1]);
});

test("a form is asked with its schema", async () => {
  const { client, sessionId } = await opened(
    {
      turns: [
        [{ form: { type: "object", properties: { a: { type: "string" } } }, message: "Which?" }, { say: "$answer" }],
      ],
    },
    { form: () => Promise.resolve({ action: "accept", content: { a: "b" } }) },
  );
  await client.prompt(sessionId, "x");
  expect(client.said).toBe('{"action":"accept","content":{"a":"b"}}');
});

test("a cancel ends the turn, or waits for the open answers, or is ignored", async () => {
  const turns = [[{ say: "on" }, { waitFor: "never" }]];
  const ended = await opened({ turns });
  const turn = ended.client.prompt(ended.sessionId, "x");
  await ended.client.until(() => ended.client.said === "on");
  await ended.client.cancel(ended.sessionId);
  expect(await turn).toEqual({ stopReason: "cancelled" });

  const patient = await opened(
    { turns: [[{ ask: true }]], onCancel: "afterAnswers" },
    {
      permission: async () => {
        await patient.client.cancel(patient.sessionId);
        return { outcome: { outcome: "cancelled" } };
      },
    },
  );
  expect(await patient.client.prompt(patient.sessionId, "x")).toEqual({ stopReason: "cancelled" });

  const deaf = await opened({
    turns: [[{ say: "on" }, { waitFor: "session/cancel" }, { say: " and on" }]],
    onCancel: "ignore",
  });
  const deafTurn = deaf.client.prompt(deaf.sessionId, "x");
  await deaf.client.until(() => deaf.client.said === "on");
  await deaf.client.cancel(deaf.sessionId);
  expect(await deafTurn).toEqual({ stopReason: "end_turn" });
  expect(deaf.client.said).toBe("on and on");
});

test("a second prompt can cancel the first, as some agents do", async () => {
  const { client, sessionId } = await opened({
    onSecond: "cancelFirst",
    turns: [[{ say: "first" }, { waitFor: "never" }], [{ say: "second" }]],
  });
  const first = client.prompt(sessionId, "x");
  await client.until(() => client.said === "first");
  expect(await client.prompt(sessionId, "y")).toEqual({ stopReason: "end_turn" });
  expect(await first).toEqual({ stopReason: "cancelled" });
});

test("updates may come before the session's result, and after a prompt's response", async () => {
  const backend = agent({
    sessionIds: ["fixed"],
    new: { before: [{ say: "early" }], after: [{ say: "late" }] },
    turns: [[{ respond: { result: { stopReason: "refusal" } } }, { say: "after" }]],
  });
  const transport = backend.start();
  const recorder = Recorder.on(transport);
  transport.send('{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}');
  await recorder.untilFrames(3);
  transport.send('{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"fixed","prompt":[]}}');
  await recorder.untilFrames(5);
  const order = recorder.texts.map((text) => /early|late|after|refusal|"result":\{"sessionId"/.exec(text)?.[0]);
  expect(order).toEqual(["early", '"result":{"sessionId"', "late", "refusal", "after"]);
});

test("a load replays what was sent, and can refuse a session that is live", async () => {
  const { client, sessionId } = await opened({ turns: [[{ say: "hello" }]] });
  await client.prompt(sessionId, "hi");
  client.notes.length = 0;
  const load = (on: SdkClient) =>
    on.connection.agent.request(methods.agent.session.load, { sessionId, cwd: "/work", mcpServers: [] });
  await load(client);
  expect(client.updates.map((update) => update.sessionUpdate)).toEqual(["user_message_chunk", "agent_message_chunk"]);
  const refusing = await opened({ load: { errorIfLive: true } });
  await expect(load(refusing.client)).rejects.toMatchObject({ code: -32603 });
});

test("T2 junk on stdout, CRLF and output in 1-byte pieces reach the owner as they are", async () => {
  const backend = agent({
    lineEnd: "\r\n",
    chunkBytes: 1,
    start: [{ raw: "warming up é" }, { notify: { method: "_hello", params: {} } }],
  });
  const recorder = Recorder.on(backend.start());
  await recorder.untilFrames(1);
  expect(recorder.texts).toEqual(['{"jsonrpc":"2.0","method":"_hello","params":{}}']);
  expect(recorder.junk[0]?.bytes).toBe(Buffer.byteLength("warming up é"));
});

test("S8 an agent that dies in mid-turn tells its code and its stderr, after its last update", async () => {
  const { backend, client, sessionId } = await opened({
    turns: [[{ say: "working" }, { stderr: "panic: out of luck" }, { exit: 3 }]],
  });
  await expect(client.prompt(sessionId, "x")).rejects.toThrow();
  expect(client.said).toBe("working");
  expect(await backend.exited).toEqual({ code: 3, signal: null, stderrTail: "panic: out of luck" });
});

test("fixed answers go before everything, and a turn may never be answered", async () => {
  const { client, sessionId } = await opened(
    {
      methods: { "session/set_mode": { result: { _meta: { ok: true } } } },
      turns: [[{ ask: true }, { never: true }, { say: "$answer" }]],
    },
    allow,
  );
  expect(await client.connection.agent.request(methods.agent.session.setMode, { sessionId, modeId: "x" })).toEqual({
    _meta: { ok: true },
  });
  let isAnswered = false;
  void client
    .prompt(sessionId, "x")
    .catch(() => undefined)
    .then(() => {
      isAnswered = true;
    });
  await client.until(() => client.said.includes("allow"));
  await expect(client.connection.agent.request("_unknown", {})).rejects.toMatchObject({ code: -32601 });
  expect(isAnswered).toBe(false);
});
