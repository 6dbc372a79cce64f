import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isRunning } from "../support/processes.ts";
import type { RpcFailed } from "../support/raw-client.ts";
import { loadOf, processesOf, Stage, scripted, textPrompt, until } from "../support/stage.ts";

const STUBBORN = fileURLToPath(new URL("../support/stubborn-agent.mjs", import.meta.url));

const exitOf = (child: ReturnType<Stage["home"]["spawn"]>): Promise<{ code: number | null; signal: string | null }> =>
  new Promise((resolve) => child.once("exit", (code, signal) => resolve({ code, signal })));

describe("an agent's life", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(() => stage.end());

  const others = (word: string): number[] =>
    processesOf(stage.home.dir)
      .filter(({ command }) => command.includes(word) && !command.includes("main.js"))
      .map(({ pid }) => pid);
  const agents = (): number[] => others("-agent.mjs");
  /** The stubborn agent and its child. */
  const stubborn = (): number[] => others("").filter((pid) => isRunning(pid));

  it("L1 T3 ends an agent that ignores the end of its input and TERM, and the whole of its group", async () => {
    const { editor, child } = stage.home.bridge([
      "--",
      process.execPath,
      STUBBORN,
      "ignore-eof",
      "ignore-term",
      "grandchild",
    ]);
    await expect.poll(() => stubborn().length, { timeout: 5000 }).toBe(2);
    const pids = stubborn();
    editor.notify("initialized", {});
    const exit = exitOf(child);
    editor.close();
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(pids.filter(isRunning)).toEqual([]);
    expect(stubborn()).toEqual([]);
  });

  it("L1 ends an agent in mid-turn with an open question, in an instant", async () => {
    await stage.serve();
    const { editor, child, sessionId } = await stage.share({ turns: [[{ ask: true }]] });
    editor.call("session/prompt", textPrompt(sessionId, "go")).catch(() => undefined);
    await editor.nextRequest("session/request_permission");
    const exit = exitOf(child);
    editor.close();
    expect((await exit).code).toBe(0);
    expect(agents()).toEqual([]);
    await expect.poll(() => stage.instances(), { timeout: 10_000 }).toEqual([]);
  });

  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
    it(`L1 ends its agent when the bridge itself gets ${signal}`, async () => {
      const { child } = await stage.share({ onEof: "ignore" });
      const exit = exitOf(child);
      child.kill(signal);
      expect(await exit).toEqual({ code: 0, signal: null });
      expect(agents()).toEqual([]);
    });
  }

  it("S8 an agent that dies in mid-turn: exit code and last words to everyone, dialogs close, the bridge ends", async () => {
    await stage.serve();
    const script = {
      turns: [
        [
          { say: "So far" },
          { ask: true, wait: false },
          { stderr: "out of memory: the very end" },
          { waitFor: "test/die" },
          { exit: 7 },
        ],
      ],
    };
    const { editor, child, sessionId } = await stage.share(script);
    const id = (await stage.linked())[0]?.id;
    const phone = await stage.client("driver", `?instance=${id}`);
    await phone.call("session/load", loadOf(sessionId));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    await phone.nextRequest("session/request_permission");
    const queued = phone.call("session/prompt", textPrompt(sessionId, "and then"));
    const failures = Promise.all(
      [turn, queued].map((each) =>
        each.then(
          () => undefined,
          (error: RpcFailed) => error,
        ),
      ),
    );
    await expect.poll(() => phone.notifications("_acp-hub/turn").at(-1)?.["queue"]).toHaveLength(1);
    const exit = exitOf(child);
    editor.notify("test/die", {});
    for (const error of await failures) {
      expect(error?.message).toContain("exit code 7");
      expect(error?.message).toContain("out of memory: the very end");
      expect(error?.data).toMatchObject({ code: "agent-exited", exitCode: 7 });
    }
    expect(await exit).toEqual({ code: 7, signal: null });
    await expect.poll(() => phone.closed?.code).toBe(4404);
    expect(phone.notifications("_acp-hub/interaction_settled").at(-1)).toMatchObject({ outcome: { action: "ended" } });
    expect(phone.notifications("_acp-hub/detached")).toMatchObject([{ sessionId, reason: "instance-gone" }]);
    await expect.poll(() => editor.notifications("$/cancel_request").length).toBe(1);
    expect(editor.textOf("agent_message_chunk")).toBe("So far");
    expect(agents()).toEqual([]);
  });

  it("S8 an agent killed by a signal says which, one that cannot start says why, and nothing hangs", async () => {
    const killed = await stage.share({ turns: [[{ kill: "SIGKILL" }]] });
    const exit = exitOf(killed.child);
    await expect(killed.editor.call("session/prompt", textPrompt(killed.sessionId, "go"))).rejects.toThrow(
      "signal SIGKILL",
    );
    expect((await exit).code).toBe(1);
    const missing = stage.home.bridge(["--", "/does/not/exist"]);
    const missingExit = exitOf(missing.child);
    let words = "";
    missing.child.stderr?.on("data", (chunk: Buffer) => {
      words += chunk.toString("utf8");
    });
    await expect(missing.editor.initialize({})).rejects.toThrow(/ENOENT/);
    expect((await missingExit).code).toBe(1);
    await expect.poll(() => words).toMatch(/could not be started: spawn \/does\/not\/exist ENOENT/);
    const brief = stage.home.bridge(["--", "sh", "-c", "echo no such model >&2; exit 3"]);
    await expect(brief.editor.initialize({})).rejects.toThrow(/exit code 3.*no such model/);
  });

  it("L1 ends an agent that ignores the end of its input when the editor is gone without closing anything first", async () => {
    const script = { onEof: "ignore", turns: [[{ stream: { count: 1e6, bytes: 100, everyMs: 1 } }]] };
    const { editor, child, sessionId } = await stage.share(script);
    editor.call("session/prompt", textPrompt(sessionId, "go")).catch(() => undefined);
    await expect.poll(() => editor.updates().length).toBeGreaterThan(10);
    const exit = exitOf(child);
    // A killed editor: its ends of both pipes are gone at once, in the middle of a stream.
    child.stdout?.destroy();
    child.stdin?.destroy();
    expect((await exit).signal).toBeNull();
    expect(agents()).toEqual([]);
  });

  it("S8 gives an editor that reads slowly all an agent said before it ended", async () => {
    const script = { turns: [[{ stream: { count: 1, bytes: 8_000_000 } }, { exit: 5 }]] };
    const { editor, child, sessionId } = await stage.share(script);
    const exit = exitOf(child);
    child.stdout?.pause();
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    const failed = turn.then(
      () => undefined,
      (error: RpcFailed) => error,
    );
    await expect.poll(() => agents().length, { timeout: 5000 }).toBe(0);
    child.stdout?.resume();
    expect((await failed)?.message).toContain("exit code 5");
    expect(editor.textOf("agent_message_chunk").length).toBe(8_000_000);
    expect((await exit).code).toBe(5);
  });

  it("S8 an agent that ends well between turns ends the bridge well", async () => {
    const { child } = await stage.share({ new: { after: [{ waitMs: 50 }, { exit: 0 }] } });
    expect(await exitOf(child)).toEqual({ code: 0, signal: null });
  });

  it("T2 an agent that logs on stdout, asks under id 0 and speaks after its response disturbs nobody", async () => {
    await stage.serve();
    const script = {
      start: [{ raw: "Loading…" }, { raw: "{not json" }, { raw: "" }],
      lineEnd: "\r\n",
      turns: [
        [
          { raw: "debug: [1,2,3]" },
          { ask: true },
          { raw: '"just a string"' },
          { say: "$answer" },
          { respond: { result: { stopReason: "end_turn" } } },
          { say: " and more" },
          { update: { sessionUpdate: "session_info_update", title: "Named late" } },
        ],
      ],
    };
    const { editor, sessionId } = await stage.share(script);
    const id = (await stage.linked())[0]?.id;
    const phone = await stage.client("driver", `?instance=${id}`);
    await phone.call("session/load", loadOf(sessionId));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    const asked = await phone.nextRequest("session/request_permission");
    phone.answer(asked.id, { outcome: { outcome: "selected", optionId: "reject" } });
    expect(await turn).toEqual({ stopReason: "end_turn" });
    for (const client of [editor, phone]) {
      await expect
        .poll(() => client.textOf("agent_message_chunk"))
        .toBe('{"outcome":{"outcome":"selected","optionId":"reject"}} and more');
      await expect.poll(() => client.updates().some((update) => update["title"] === "Named late")).toBe(true);
    }
    await expect.poll(() => phone.notifications("_acp-hub/turn").at(-1)).toMatchObject({ state: "idle" });
    expect((await stage.instances())[0]?.sessions).toMatchObject([{ title: "Named late", status: "idle" }]);
  });

  it("X7 P4 an agent that never answers a prompt is cancelled from the phone; the question it had is closed", async () => {
    await stage.serve();
    const { editor, sessionId } = await stage.share({
      turns: [[{ ask: true, wait: false }, { never: true }, { waitMs: 60_000 }]],
    });
    const id = (await stage.linked())[0]?.id;
    const phone = await stage.client("approver", `?instance=${id}`);
    await phone.call("session/load", loadOf(sessionId));
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    turn.catch(() => undefined);
    await phone.nextRequest("session/request_permission");
    phone.notify("session/cancel", { sessionId });
    expect(await phone.nextNotification("_acp-hub/interaction_settled")).toMatchObject({
      outcome: { action: "cancelled" },
    });
    await editor.nextNotification("$/cancel_request");
    expect((await stage.api("GET", "/api/interactions")).body).toEqual([]);
  });

  it("T2 a 20 MB message of the agent reaches the editor whole and the phone too", async () => {
    await stage.serve();
    const { editor, sessionId } = await stage.share({
      turns: [[{ stream: { count: 1, bytes: 20_000_000 } }, { say: "!" }]],
    });
    const id = (await stage.linked())[0]?.id;
    const phone = await stage.client("driver", `?instance=${id}`);
    await phone.call("session/load", loadOf(sessionId));
    expect(await editor.call("session/prompt", textPrompt(sessionId, "go"))).toEqual({ stopReason: "end_turn" });
    expect(editor.textOf("agent_message_chunk").length).toBe(20_000_001);
    await expect.poll(() => phone.textOf("agent_message_chunk").length, { timeout: 15_000 }).toBe(20_000_001);
  });

  it("B5 an editor that stops reading holds its agent, and the phone can still see and cancel", async () => {
    await stage.serve();
    const record = join(stage.home.dir, "record");
    const script = { record, turns: [[{ stream: { count: 100_000, bytes: 200 } }]] };
    const child = stage.home.spawn(["bridge", ...scripted(script)], { ACP_HUB_NO_AUTOSTART: "1" });
    child.stderr?.resume();
    const say = (message: object): void =>
      void child.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    say({ id: 1, method: "initialize", params: { protocolVersion: 1, clientCapabilities: {} } });
    say({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
    await new Promise<void>((resolve) => {
      child.stdout?.on("data", (chunk: Buffer) => chunk.includes('"id":2') && resolve());
    });
    child.stdout?.removeAllListeners("data").pause();
    const id = (await stage.linked())[0]?.id;
    const phone = await stage.client("driver", `?instance=${id}`);
    await phone.call("session/load", loadOf("s1"));
    say({ id: 3, method: "session/prompt", params: textPrompt("s1", "go") });
    let seen = -1;
    const isStill = (): boolean => {
      const was = seen;
      seen = phone.frames.length;
      return seen > 100 && seen === was;
    };
    await expect.poll(isStill, { interval: 400, timeout: 20_000 }).toBe(true);
    expect(phone.updates().length).toBeLessThan(90_000);
    phone.notify("session/cancel", { sessionId: "s1" });
    await expect.poll(() => readFileSync(record, "utf8"), { timeout: 5000 }).toContain("session/cancel");
    // It reads again: the turn ends, for both.
    let out = "";
    child.stdout?.on("data", (chunk: Buffer) => {
      out = out.slice(-1000) + chunk.toString("utf8");
    });
    child.stdout?.resume();
    await expect.poll(() => out, { timeout: 10_000 }).toContain('"id":3,"result":{"stopReason":"cancelled"}');
    await expect.poll(() => phone.notifications("_acp-hub/turn").at(-1)).toMatchObject({ stopReason: "cancelled" });
    const exit = exitOf(child);
    child.stdin?.end();
    await exit;
    expect(await until(() => agents().length === 0, 1000)).toBe(true);
  });
});
