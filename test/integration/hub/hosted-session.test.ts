import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runBridge } from "../../../src/bridge/bridge.ts";
import { type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { isRunning } from "../../support/processes.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const ALL = { fs: { readTextFile: true, writeTextFile: true }, terminal: true };

describe("files and terminals of a session the editor did not open", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  let editor: RawClient;
  let phone: RawClient;
  let cwd: string;
  let ended: Promise<number>;

  const begin = async (capabilities: JsonObject): Promise<void> => {
    harness = await startHub();
    agent = puppetAgent();
    const started = harness.bridge(agent.backend);
    ended = started.ended;
    editor = rawClient(started.editor);
    await editor.initialize(capabilities);
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "owner:phone");
    await phone.initialize();
  };
  beforeEach(() => {
    cwd = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-hosted-")));
    mkdirSync(join(cwd, "src"));
    writeFileSync(join(cwd, "a.txt"), "on disk");
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(cwd, { recursive: true, force: true });
  });

  const updatesOf = (client: RawClient, key: string): JsonObject[] =>
    client.updates().flatMap((update) => {
      const shown = objectAt(objectAt(update, "_meta"), key);
      return shown === undefined ? [] : [{ toolCallId: update["toolCallId"] ?? null, ...shown }];
    });

  it("S7 the bridge serves files of a remote session, the editor those of its own", async () => {
    await begin(ALL);
    const own = String((await editor.call("session/new", { cwd, mcpServers: [] }))["sessionId"]);
    const remote = String((await phone.call("session/new", { cwd, mcpServers: [] }))["sessionId"]);
    const path = join(cwd, "a.txt");
    expect(await agent.ask("fs/read_text_file", { sessionId: remote, path })).toEqual({ content: "on disk" });
    await agent.ask("fs/write_text_file", { sessionId: remote, path, content: "written" });
    expect(await agent.ask("fs/read_text_file", { sessionId: remote, path })).toEqual({ content: "written" });
    const asked = agent.ask("fs/read_text_file", { sessionId: own, path });
    const copy = await editor.nextRequest("fs/read_text_file");
    expect(copy.params).toEqual({ sessionId: own, path });
    editor.answer(copy.id, { content: "unsaved" });
    expect(await asked).toEqual({ content: "unsaved" });
    expect(editor.frames.filter((frame) => frame.kind === "request")).toHaveLength(1);
  });

  it("S7 what a hosted terminal prints reaches the others as updates of the card that shows it, early output too", async () => {
    await begin(ALL);
    const sessionId = String((await phone.call("session/new", { cwd, mcpServers: [] }))["sessionId"]);
    const { terminalId = "" } = await agent.ask("terminal/create", {
      sessionId,
      command: "echo before; while [ ! -f go ]; do sleep 0.01; done; echo after; exit 2",
    });
    await expect
      .poll(async () => (await agent.ask("terminal/output", { sessionId, terminalId }))["output"])
      .toBe("before\n");
    const content = [{ type: "terminal", terminalId }];
    agent.update(sessionId, { sessionUpdate: "tool_call", toolCallId: "t1", title: "run", content });
    const ours = { toolCallId: "t1", terminal_id: terminalId };
    await expect.poll(() => updatesOf(phone, "terminal_output")).toEqual([{ ...ours, data: "before\n" }]);
    writeFileSync(join(cwd, "go"), "");
    const status = await agent.ask("terminal/wait_for_exit", { sessionId, terminalId });
    expect(status).toEqual({ exitCode: 2, signal: null });
    await expect.poll(() => updatesOf(phone, "terminal_exit")).toEqual([{ ...ours, exit_code: 2, signal: null }]);
    const printed = updatesOf(phone, "terminal_output").map((shown) => shown["data"]);
    expect(printed.join("")).toBe("before\nafter\n");
    expect(updatesOf(editor, "terminal_output")).toEqual(updatesOf(phone, "terminal_output"));
  });

  it("S7 a hosted terminal ends with its session and with the bridge", async () => {
    await begin(ALL);
    agent.on("session/close", () => ({}));
    const pidIn = async (sessionId: string): Promise<number> => {
      const created = await agent.ask("terminal/create", { sessionId, command: "echo $$; exec sleep 300" });
      const terminalId = String(created["terminalId"]);
      const output = async () => (await agent.ask("terminal/output", { sessionId, terminalId }))["output"];
      await expect.poll(output).toMatch(/^\d+\n$/);
      return Number(await output());
    };
    const [first, second] = await Promise.all([
      phone.call("session/new", { cwd, mcpServers: [] }),
      phone.call("session/new", { cwd, mcpServers: [] }),
    ]);
    const pids = [await pidIn(String(first["sessionId"])), await pidIn(String(second["sessionId"]))];
    expect(pids.map(isRunning)).toEqual([true, true]);
    await phone.call("session/close", { sessionId: String(first["sessionId"]) });
    await expect.poll(() => pids.map(isRunning)).toEqual([false, true]);
    editor.close();
    await ended;
    expect(pids.map(isRunning)).toEqual([false, false]);
  });

  it("S7 what the editor never declared does not exist: -32601", async () => {
    await begin({ fs: { readTextFile: true } });
    const sessionId = String((await phone.call("session/new", { cwd, mcpServers: [] }))["sessionId"]);
    const path = join(cwd, "a.txt");
    expect(await agent.ask("fs/read_text_file", { sessionId, path })).toEqual({ content: "on disk" });
    for (const [method, params] of [
      ["fs/write_text_file", { path, content: "" }],
      ["terminal/create", { command: "ls" }],
    ] as const)
      await expect(agent.ask(method, { sessionId, ...params })).rejects.toMatchObject({ code: -32601 });
  });

  it("S7 I4 a headless bridge serves none", async () => {
    harness = await startHub();
    agent = puppetAgent();
    const running = runBridge({
      backend: agent.backend,
      isHeadless: true,
      workspace: cwd,
      version: "0",
      forms: "any",
      sharing: { instanceId: "headless", name: "puppet", launch: undefined, paths: harness.paths },
    });
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=headless`, "owner:phone");
    await phone.initialize();
    const sessionId = String((await phone.call("session/new", { cwd, mcpServers: [] }))["sessionId"]);
    for (const [method, params] of [
      ["fs/read_text_file", { path: join(cwd, "a.txt") }],
      ["terminal/create", { command: "ls" }],
    ] as const)
      await expect(agent.ask(method, { sessionId, ...params })).rejects.toMatchObject({ code: -32601 });
    await agent.backend.stop();
    await running;
  });
});
