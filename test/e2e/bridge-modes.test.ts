import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { finished } from "../support/cli.ts";
import { connectClient, RpcFailed } from "../support/raw-client.ts";
import { openSession, Stage, scripted, textPrompt } from "../support/stage.ts";

/** Runs the command of its arguments on a terminal of its own, types what comes on stdin, and passes the exit status on. */
const PTY = "import pty,sys,os; s=pty.spawn(sys.argv[1:]); sys.exit(os.waitstatus_to_exitcode(s))";

describe("ways to run a bridge", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  it("T4 with a terminal on stdin it is the agent itself: its output, its arguments, its status, no link", async () => {
    await stage.serve();
    const agent = join(stage.home.dir, "agent.sh");
    const words = 'echo "args: $*"; tty; env | grep -c ^ACP_HUB_; exit 42';
    writeFileSync(agent, words);
    const child = stage.home.spawnCommand("python3", [
      "-c",
      PTY,
      ...stage.home.commandLine(["bridge", "--", "sh", agent, "--acp", "--login"]),
    ]);
    const { code, stdout } = await finished(child);
    expect(stdout).toContain("args: --acp --login");
    expect(stdout).toContain("/dev/pts/");
    expect(stdout).toMatch(/\n0\r?\n/);
    expect(code).toBe(42);
    expect(await stage.instances()).toEqual([]);
  });

  it("C1.bridge --no-share is a plain pipe: no link, no log, no hub started, the session runs", async () => {
    await stage.serve();
    const { editor, sessionId } = await stage.share({ turns: [[{ ask: true }, { say: "$answer" }]] }, ["--no-share"]);
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    const asked = await editor.nextRequest("session/request_permission");
    editor.refuse(asked.id, -32603);
    expect(await turn).toEqual({ stopReason: "end_turn" });
    expect(editor.textOf("agent_message_chunk")).toContain("-32603");
    expect(await stage.instances()).toEqual([]);
    expect(existsSync(join(stage.paths.logDir, "bridge.log"))).toBe(false);
  });

  it("C1.files why a bridge ended is in its log: its agent, its editor, a signal", async () => {
    await stage.serve();
    const lastEnd = (): unknown => {
      const lines = readFileSync(join(stage.paths.logDir, "bridge.log"), "utf8").trim().split("\n");
      return lines.map((line) => JSON.parse(line) as { msg: string }).findLast(({ msg }) => msg === "bridge ends");
    };
    const failing = stage.home.bridge(["--", "sh", "-c", "exit 7"]);
    expect((await finished(failing.child)).code).toBe(7);
    expect(lastEnd()).toMatchObject({ why: "agent-gone", code: 7 });
    const left = stage.home.bridge(scripted());
    await left.editor.initialize({});
    left.editor.close();
    await finished(left.child);
    expect(lastEnd()).toMatchObject({ why: "editor-gone" });
    const ended = stage.home.bridge(scripted());
    await ended.editor.initialize({});
    ended.child.kill("SIGTERM");
    await finished(ended.child);
    expect(lastEnd()).toMatchObject({ why: "signal" });
  });

  it("X3 with a hub and no phone the editor's refusal goes to the agent as it came", async () => {
    await stage.serve();
    const { editor, sessionId } = await stage.share({ turns: [[{ ask: true }, { say: "$answer" }]] });
    await stage.linked();
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    const asked = await editor.nextRequest("session/request_permission");
    editor.refuse(asked.id, -32001);
    expect(await turn).toEqual({ stopReason: "end_turn" });
    expect(editor.textOf("agent_message_chunk")).toBe('{"error":{"code":-32001,"message":"refused"}}');
  });

  it("I2 L6 a headless bridge has no editor: remote clients open, prompt and end; it ends on TERM with its agent", async () => {
    await stage.serve();
    const record = join(stage.home.dir, "record");
    const child = stage.home.spawn([
      "bridge",
      "--headless",
      "--name",
      "alone",
      ...scripted({ record, turns: [[{ say: "hi" }]] }),
    ]);
    const [instance] = await stage.linked();
    expect(instance).toMatchObject({ origin: "headless", name: "alone" });
    const owner = await stage.client("owner", `?instance=${instance?.id}`);
    const { sessionId } = await owner.call("session/new", { cwd: instance?.workspace ?? "/", mcpServers: [] });
    expect(await owner.call("session/prompt", textPrompt(String(sessionId), "hello"))).toMatchObject({
      stopReason: "end_turn",
    });
    await expect.poll(() => owner.textOf("agent_message_chunk")).toBe("hi");
    const first = JSON.parse(readFileSync(record, "utf8").split("\n")[0] ?? "{}") as Record<string, unknown>;
    expect(first).toMatchObject({ method: "initialize", params: { clientInfo: { name: "acp-hub" } } });
    const exit = finished(child);
    child.kill("SIGTERM");
    expect((await exit).code).toBe(0);
    await expect.poll(() => owner.closed?.code).toBe(4404);
  });

  it("I2 a failed initialize is returned and not remembered; a remote client that is early waits for the editor", async () => {
    await stage.serve();
    const { editor } = stage.home.bridge(scripted());
    const id = (await stage.linked())[0]?.id;
    const early = await connectClient(stage.acp(`?instance=${id}`), await stage.token("viewer"));
    const waiting = early.initialize();
    await expect(editor.call("initialize", { protocolVersion: "2" })).rejects.toBeInstanceOf(RpcFailed);
    await openSession(editor);
    expect(await waiting).toMatchObject({ agentInfo: { name: "scripted" } });
    early.close();
  });

  it("C1.bridge profiles of the configuration run with their environment; an unknown one names the known, exit 2", async () => {
    const [, command, ...args] = scripted({ turns: [[{ say: "from a profile" }]] });
    writeFileSync(stage.paths.configFile, JSON.stringify({ agents: { mine: { command, args } } }), { mode: 0o600 });
    const { editor } = stage.home.bridge(["mine"]);
    const sessionId = await openSession(editor);
    await editor.call("session/prompt", textPrompt(sessionId, "go"));
    expect(editor.textOf("agent_message_chunk")).toBe("from a profile");
    const unknown = await stage.home.run(["bridge", "nosuch"]);
    expect(unknown).toMatchObject({ code: 2, stdout: "" });
    expect(unknown.stderr).toContain("mine");
  });

  it("I1 T1 answers an editor's mistakes one by one: before initialize, junk, a batch, an id twice", async () => {
    const { editor } = stage.home.bridge(scripted({ turns: [[{ ask: true }]] }));
    await expect(editor.call("session/new", { cwd: "/", mcpServers: [] })).rejects.toMatchObject({ code: -32600 });
    editor.sendText("this is no JSON");
    editor.sendText('[{"jsonrpc":"2.0","id":7,"method":"initialize"}]');
    const refusals = (): unknown[] =>
      editor.frames.flatMap((frame) =>
        frame.kind === "response" && frame.msg.id === null && "error" in frame.msg ? [frame.msg.error.code] : [],
      );
    await expect.poll(refusals).toEqual([-32700, -32600]);
    // An editor that does not wait for the answers is served as its agent would.
    editor.sendText(
      '{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{}}}',
    );
    const created = await editor.callAs("n", "session/new", { cwd: "/", mcpServers: [] });
    expect(created["sessionId"]).toBe("s1");
  });
});
