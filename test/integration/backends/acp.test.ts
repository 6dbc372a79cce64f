import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { afterEach, expect, test } from "vitest";
import { type AcpBackendOptions, acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import type { Backend } from "../../../src/backends/backend.ts";
import { paramsOf } from "../../../src/protocol/envelope.ts";
import { arrayAt, type Json } from "../../../src/protocol/json.ts";
import { running } from "../../support/processes.ts";
import { Recorder } from "../../support/recorder.ts";

const STUBBORN = fileURLToPath(new URL("../../support/stubborn-agent.mjs", import.meta.url));

const backends: Backend[] = [];
const pidsSeen: number[] = [];
afterEach(async () => {
  for (const backend of backends.splice(0)) await backend.stop();
  for (const pid of running(pidsSeen.splice(0))) process.kill(pid, "SIGKILL");
});

/** A backend over the stubborn agent, its stderr collected. Who ends by itself has the time; who does not is soon made to. */
function stubborn(words: readonly string[], options: Partial<AcpBackendOptions> = {}) {
  const stderr = new PassThrough();
  const backend = acpBackend({
    command: process.execPath,
    args: [STUBBORN, ...words],
    stderr,
    eofMs: words.includes("ignore-eof") ? 150 : 10_000,
    termMs: 150,
    ...options,
  });
  backends.push(backend);
  return { backend, stderr };
}

/** Starts the agent and waits until it has told its pids. */
async function started(backend: Backend): Promise<{ recorder: Recorder; pids: number[]; env: Json[] }> {
  const recorder = Recorder.on(backend.start());
  await recorder.untilFrames(1);
  const [first] = recorder.frames;
  if (first?.kind !== "notification") throw new Error("the agent said something else");
  const pids = (arrayAt(paramsOf(first.msg), "pids") ?? []).map(Number);
  pidsSeen.push(...pids);
  return { recorder, pids, env: arrayAt(paramsOf(first.msg), "env") ?? [] };
}

test("T3 an agent that honours the end of its input ends by itself", async () => {
  const { backend } = stubborn([]);
  const { recorder, pids } = await started(backend);
  await backend.stop();
  expect(await backend.exited).toEqual({ code: 0, signal: null, stderrTail: "" });
  await recorder.untilClosed();
  expect(running(pids)).toEqual([]);
});

test("T3 an agent that ignores the end of its input gets TERM", async () => {
  const { backend } = stubborn(["ignore-eof"], { termMs: 10_000 });
  const { pids } = await started(backend);
  await backend.stop();
  expect(await backend.exited).toMatchObject({ code: null, signal: "SIGTERM" });
  expect(running(pids)).toEqual([]);
});

test("T3 an agent that ignores TERM too gets KILL", async () => {
  const { backend } = stubborn(["ignore-eof", "ignore-term"]);
  const { pids } = await started(backend);
  await backend.stop();
  expect(await backend.exited).toMatchObject({ code: null, signal: "SIGKILL" });
  expect(running(pids)).toEqual([]);
});

test("T3 a grandchild that ignores everything and holds the pipes is gone too", async () => {
  const { backend } = stubborn(["grandchild"]);
  const { pids } = await started(backend);
  expect(running(pids).length).toBe(2);
  await backend.stop();
  expect((await backend.exited).code).toBe(0);
  expect(running(pids)).toEqual([]);
});

test("T3 what an agent that died leaves in its group is ended, and its exit is told", async () => {
  const { backend } = stubborn(["grandchild", "ignore-eof"]);
  const { recorder, pids } = await started(backend);
  process.kill(pids[0] ?? 0, "SIGKILL");
  expect(await backend.exited).toMatchObject({ code: null, signal: "SIGKILL" });
  await backend.stop();
  await recorder.untilClosed();
  expect(running(pids)).toEqual([]);
});

test("T3 stop can be asked for twice, before the start and after the end", async () => {
  const { backend } = stubborn([]);
  await backend.stop();
  await started(backend);
  await Promise.all([backend.stop(), backend.stop()]);
  await backend.stop();
  expect((await backend.exited).code).toBe(0);
});

test("S8 the exit of an agent is told with its code and the end of its stderr, after its last message", async () => {
  const { backend, stderr } = stubborn(["exit=7", "stderr=Error: no API key"]);
  const { recorder } = await started(backend);
  expect(await backend.exited).toEqual({ code: 7, signal: null, stderrTail: "Error: no API key" });
  await recorder.untilClosed();
  expect(recorder.texts.length).toBe(1);
  expect(String(stderr.read())).toBe("Error: no API key\n");
});

test("T4 stderr passes through whole however long its lines are, and only its end is kept", async () => {
  const { backend, stderr } = stubborn(["exit=1", "bytes=300000"]);
  const sizes: number[] = [];
  stderr.on("data", (chunk: Buffer) => sizes.push(chunk.length));
  backend.start().start(new Recorder());
  const exit = await backend.exited;
  expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(300_001);
  expect(exit.stderrTail.length).toBeLessThanOrEqual(8192);
});

test("S8 a command that does not exist is an exit with its error, not a throw", async () => {
  const { backend } = stubborn([], { command: "no-such-agent-anywhere" });
  const recorder = Recorder.on(backend.start());
  const exit = await backend.exited;
  expect(exit).toMatchObject({ code: null, signal: null, error: { code: "ENOENT" } });
  await recorder.untilClosed();
  await backend.stop();
});

test("S8 a working directory that does not exist is named as the reason", async () => {
  const { backend } = stubborn([], { cwd: "/no/such/directory" });
  Recorder.on(backend.start());
  expect((await backend.exited).error?.message).toContain("working directory");
});

test("S8 arguments no process can be started with are an exit too", async () => {
  const { backend } = stubborn(["\0"]);
  const recorder = Recorder.on(backend.start());
  expect((await backend.exited).error).toBeInstanceOf(Error);
  await recorder.untilClosed();
});

test("C2.environment the agent's environment holds none of our variables", async () => {
  const env = {
    PATH: process.env["PATH"],
    KEEP: "1",
    ACP_HUB_TOKEN: "s",
    acp_hub_home: "h",
    ZCODE_ACP_REMOTE_TOKEN: "t",
  };
  const { backend } = stubborn(["env"], { env });
  const names = (await started(backend)).env;
  expect(names).toContain("KEEP");
  expect(names.filter((name) => /acp_/i.test(String(name)))).toEqual([]);
});

test("the name of a backend is the command's base name unless it is given", () => {
  expect(acpBackend({ command: "/usr/bin/agent" }).name).toBe("agent");
  expect(acpBackend({ command: "agent" }).name).toBe("agent");
  expect(acpBackend({ command: "/usr/bin/agent", name: "Mine" }).name).toBe("Mine");
});
