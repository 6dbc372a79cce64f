/** The backend with a real process behind it: starting, dying, and leaving nothing behind. */
import { spawn } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import type { Backend } from "../../../src/backends/backend.ts";
import { zcodeBackend } from "../../../src/backends/zcode/backend.ts";
import { silentLog } from "../../../src/backends/zcode/log.ts";
import { type ChildExit, childStarter } from "../../../src/backends/zcode/process/child.ts";
import { startWatchdog } from "../../../src/backends/zcode/process/watchdog.ts";
import { stringAt } from "../../../src/protocol/json.ts";
import { type FakeExecutable, fakeExecutable } from "../../support/fake-zcode/executable.ts";
import { TestClient } from "../../support/fake-zcode/harness.ts";
import type { Scenario } from "../../support/fake-zcode/scenario.ts";
import { isRunning } from "../../support/processes.ts";
import { until } from "../../support/until.ts";

let backend: Backend;
let fake: FakeExecutable;
let client: TestClient;
let home: string;

async function begin(scenario: Scenario, env: Record<string, string> = {}): Promise<string> {
  fake = fakeExecutable(scenario);
  home = mkdtempSync(join(tmpdir(), "zcode-process-"));
  backend = zcodeBackend({
    home,
    env: { ...process.env, ZCODE_BIN: fake.bin, ...fake.env, ...env },
    config: { showsThinkingHint: false },
  });
  client = new TestClient(backend.start());
  await client.initialize();
  const reply = await client.request("session/new", { cwd: home, mcpServers: [] });
  return stringAt(reply.result, "sessionId") ?? "";
}

const pids = (): number[] => fake.records().flatMap((entry) => (entry.started === undefined ? [] : [entry.started]));

afterEach(async () => {
  await backend.stop();
  expect(fake.violations()).toEqual([]);
  await until("no process is left", () => pids().every((pid) => !isRunning(pid)));
});

test("a prompt runs through a process that is started for it and ends with the backend", async () => {
  const id = await begin({});
  expect(pids()).toEqual([]);
  const reply = await client.prompt(id, "hello");
  expect(reply.result).toMatchObject({ stopReason: "end_turn" });
  expect(client.text()).toBe("echo: hello");
  expect(fake.records().find((entry) => entry.args !== undefined)?.args).toEqual([
    "app-server",
    "--stdio",
    "--disallowed-tools",
    "CronCreate CronList CronUpdate CronDelete",
  ]);
  await backend.stop();
  await expect(backend.exited).resolves.toMatchObject({ code: 0 });
});

test("H18c a crash is told with its last words, and the next prompt works on a fresh process", async () => {
  const id = await begin({ prompts: [{ match: "crash", steps: [{ do: "text", text: "x" }, { do: "crash" }] }] });
  const reply = await client.prompt(id, "crash");
  expect(reply.error?.message).toMatch(/exit code 137; its last words: fake zcode ends with 137/);
  // The fake's store died with it, so the old conversation is gone; a new one is not.
  const fresh = await client.request("session/new", { cwd: home, mcpServers: [] });
  expect((await client.prompt(stringAt(fresh.result, "sessionId") ?? "", "again")).result).toMatchObject({
    stopReason: "end_turn",
  });
  expect(pids()).toHaveLength(2);
});

test("T2 noise, half lines and a 5 MB line on stdout disturb nothing", async () => {
  const id = await begin({
    prompts: [
      {
        match: "",
        steps: [
          { do: "raw", line: "Warning: experimental" },
          { do: "raw", line: '{"method":"session/ev' },
          { do: "text", text: "y".repeat(5_000_000), stored: false },
          { do: "complete", response: "" },
        ],
      },
    ],
  });
  expect((await client.prompt(id, "go")).result).toMatchObject({ stopReason: "end_turn" });
  expect(client.text()).toHaveLength(5_000_000);
});

for (const [pipe, script] of [
  ["stdout", "require('fs').closeSync(1)"],
  // Told by its line: what is written to it before would still be taken.
  ["stdin", "require('fs').closeSync(0); console.log('closed')"],
] as const) {
  test(`row 155 a process that closes its ${pipe} alone and lives on is ended (T3: politely first)`, async () => {
    await begin({});
    const lastWords = "process.on('SIGTERM', () => process.exit(7)); setInterval(() => {}, 1e6)";
    const ended = await new Promise<ChildExit>((resolve) => {
      const child = childStarter(silentLog, { hasWatchdog: false })(
        { command: process.execPath, args: ["-e", `${lastWords}; ${script}`], env: process.env },
        { onLine: () => child.write("{}"), onExit: resolve },
      );
    });
    expect(ended.code).toBe(7);
  });
}

test("row 155 a program that is not there is an error of the request, and the bridge lives on", async () => {
  const id = await begin({}, { ZCODE_BIN: "/nowhere/zcode" });
  const reply = await client.prompt(id, "go");
  expect(reply.error?.message).toMatch(/was not found; set ZCODE_BIN/);
  expect((await client.initialize()).result).toMatchObject({ protocolVersion: 1 });
});

test("row 155 a program that ends at once is an error of the request", async () => {
  const id = await begin({}, { ZCODE_BIN: "/bin/false" });
  const reply = await client.prompt(id, "go");
  expect(reply.error?.message).toMatch(/right after its start with exit code 1/);
});

test("a build that is too old is named with the version it says", async () => {
  const id = await begin({ profile: "0.14.7" });
  const reply = await client.prompt(id, "go");
  expect(reply.error?.message).toMatch(/version zcode 0\.0\.0-fake/);
});

test("row 154 the watchdog ends the group when the bridge is killed", async () => {
  await begin({});
  const group = spawn("sleep", ["60"], { detached: true, stdio: "ignore" });
  const bridge = spawn("sleep", ["60"], { stdio: "ignore" });
  const [groupId, bridgePid] = [group.pid ?? 0, bridge.pid ?? 0];
  startWatchdog(groupId, bridgePid);
  bridge.kill("SIGKILL");
  await until("the group is gone", () => !isRunning(groupId));
});

test("the client leaving ends the agent and its process", async () => {
  const id = await begin({});
  await client.prompt(id, "hello");
  client.close();
  await expect(backend.exited).resolves.toMatchObject({ code: 0 });
});
