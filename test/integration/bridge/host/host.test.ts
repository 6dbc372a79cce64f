import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { Host } from "../../../../src/bridge/host/host.ts";
import type { AnswerBody } from "../../../../src/core/interaction/answer.ts";
import { sessionId } from "../../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../../src/protocol/json.ts";
import { isRunning } from "../../../support/processes.ts";

describe("the bridge as host of a session's files and terminals", () => {
  let base: string;
  let root: string;
  let host: Host;
  let printed: string;
  const waiting = new Map<unknown, (body: AnswerBody) => void>();
  let nextId = 0;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-host-")));
    root = join(base, "project");
    mkdirSync(join(root, "src"), { recursive: true });
    mkdirSync(join(base, "out"));
    printed = "";
    host = new Host({
      answer: (id, body) => waiting.get(id)?.(body),
      onOutput: (_session, _terminal, text) => {
        printed += text;
      },
    });
  });
  afterEach(async () => {
    await host.stop();
    rmSync(base, { recursive: true, force: true });
  });

  const start = (method: string, params: JsonObject, session = "s1"): { id: number; answer: Promise<AnswerBody> } => {
    const id = nextId++;
    const answer = new Promise<AnswerBody>((resolve) => waiting.set(id, resolve));
    const hosted = { id: sessionId(session), cwd: root, roots: [root] };
    host.serve({ id, method, params: { sessionId: session, ...params } }, hosted);
    return { id, answer };
  };
  const ask = (method: string, params: JsonObject, session?: string): Promise<AnswerBody> =>
    start(method, params, session).answer;
  const result = async (method: string, params: JsonObject): Promise<JsonObject> => {
    const body = await ask(method, params);
    if ("error" in body) throw new Error(body.error.message);
    return body.result as JsonObject;
  };
  const codeOf = async (method: string, params: JsonObject, session?: string): Promise<number> => {
    const body = await ask(method, params, session);
    return "error" in body ? body.error.code : 0;
  };
  const run = async (command: string, more: JsonObject = {}): Promise<JsonObject> => ({
    terminalId: String((await result("terminal/create", { command, ...more }))["terminalId"]),
  });

  it("S7 reads whole files and windows of lines", async () => {
    writeFileSync(join(root, "src/a.ts"), "one\ntwo\nthree\n");
    const path = join(root, "src/a.ts");
    expect(await result("fs/read_text_file", { path })).toEqual({ content: "one\ntwo\nthree\n" });
    expect(await result("fs/read_text_file", { path, line: 2, limit: 1 })).toEqual({ content: "two\n" });
    expect(await result("fs/read_text_file", { path, line: null, limit: null })).toEqual({
      content: "one\ntwo\nthree\n",
    });
    expect(await codeOf("fs/read_text_file", { path, line: 9 })).toBe(-32602);
    expect(await codeOf("fs/read_text_file", { path, line: "2" })).toBe(-32602);
    expect(await codeOf("fs/read_text_file", {})).toBe(-32602);
  });

  it("S7 a file that does not exist reads as empty, one outside is refused", async () => {
    expect(await result("fs/read_text_file", { path: join(root, "new.ts") })).toEqual({ content: "" });
    writeFileSync(join(base, "out/secret"), "secret");
    symlinkSync(join(base, "out"), join(root, "door"));
    for (const path of [join(base, "out/secret"), join(root, "door/secret"), join(base, "out/none"), "src/a.ts"])
      expect(await codeOf("fs/read_text_file", { path })).toBe(-32602);
  });

  it("S7 writes files with their directories, replaces what was there, and writes nothing outside", async () => {
    const path = join(root, "deep/er/new.ts");
    expect(await result("fs/write_text_file", { path, content: "a long first text" })).toEqual({});
    expect(await result("fs/write_text_file", { path, content: "é" })).toEqual({});
    expect(readFileSync(path, "utf8")).toBe("é");
    symlinkSync(join(base, "out"), join(root, "door"));
    for (const bad of [join(base, "out/x"), join(root, "door/x")])
      expect(await codeOf("fs/write_text_file", { path: bad, content: "x" })).toBe(-32602);
    expect(existsSync(join(base, "out/x"))).toBe(false);
    expect(await codeOf("fs/write_text_file", { path })).toBe(-32602);
  });

  it("S7 runs a command in the session's directory, keeps its output and tells how it ended", async () => {
    const terminal = await run("pwd; echo err >&2; exit 3");
    expect(await result("terminal/wait_for_exit", terminal)).toEqual({ exitCode: 3, signal: null });
    const output = await result("terminal/output", terminal);
    expect(output).toMatchObject({ truncated: false, exitStatus: { exitCode: 3, signal: null } });
    expect(String(output["output"]).split("\n").sort()).toEqual(["", "err", root].sort());
    expect(printed.split("\n").sort()).toEqual(["", "err", root].sort());
    expect(await result("terminal/release", terminal)).toEqual({});
    expect(await codeOf("terminal/output", terminal)).toBe(-32002);
  });

  it("S7 gives arguments and environment as they are, and none of the hub's variables", async () => {
    process.env["ACP_HUB_TOKEN"] = "secret";
    try {
      const args = ["-c", 'printf "%s|%s|%s" "$1" "$EXTRA" "$ACP_HUB_TOKEN"', "sh", "a  b*"];
      const terminal = await run("/bin/sh", { args, env: [{ name: "EXTRA", value: "x y" }] });
      await result("terminal/wait_for_exit", terminal);
      expect((await result("terminal/output", terminal))["output"]).toBe("a  b*|x y|");
    } finally {
      delete process.env["ACP_HUB_TOKEN"];
    }
  });

  it("S7 output over the limit loses its beginning, between characters, and says so", async () => {
    const terminal = await run("printf 'éééé12345'", { outputByteLimit: 8 });
    await result("terminal/wait_for_exit", terminal);
    expect(await result("terminal/output", terminal)).toMatchObject({ output: "é12345", truncated: true });
  });

  it("S7 kill ends the whole group and leaves the output; release frees it", async () => {
    const terminal = await run("sleep 300 & echo $!; wait");
    await expect.poll(() => printed).toMatch(/^\d+\n$/);
    const child = Number(printed);
    expect(isRunning(child)).toBe(true);
    expect(await result("terminal/kill", terminal)).toEqual({});
    expect(await result("terminal/wait_for_exit", terminal)).toEqual({ exitCode: null, signal: "SIGTERM" });
    await expect.poll(() => isRunning(child)).toBe(false);
    expect((await result("terminal/output", terminal))["output"]).toBe(`${child}\n`);
  });

  it("S7 what ignores TERM is killed", async () => {
    const terminal = await run("trap '' TERM; echo ready; while :; do sleep 300 & wait $!; done");
    await expect.poll(() => printed).toBe("ready\n");
    await result("terminal/kill", terminal);
    expect(await result("terminal/wait_for_exit", terminal)).toEqual({ exitCode: null, signal: "SIGKILL" });
  });

  it("S7 a session's terminals end with it, others' do not, and none outlives the bridge", async () => {
    const first = await run("echo $$; exec sleep 300");
    await expect.poll(() => printed).toMatch(/^\d+\n$/);
    const pids = [Number(printed)];
    const other = start("terminal/create", { command: "echo $$; exec sleep 300" }, "s2");
    await expect.poll(() => printed).toMatch(/^\d+\n\d+\n$/);
    pids.push(Number(printed.split("\n")[1]));
    expect("result" in (await other.answer)).toBe(true);
    expect(await codeOf("terminal/output", first, "s2")).toBe(-32002);
    const waits = ask("terminal/wait_for_exit", first);
    host.release(sessionId("s1"));
    expect(await waits).toEqual({ result: { exitCode: null, signal: "SIGTERM" } });
    expect(pids.map(isRunning)).toEqual([false, true]);
    await host.stop();
    await expect.poll(() => pids.map(isRunning)).toEqual([false, false]);
  });

  it("S7 a wait the agent takes back is answered so, once", async () => {
    const terminal = await run("exec sleep 300");
    const { id, answer } = start("terminal/wait_for_exit", terminal);
    const answers: AnswerBody[] = [];
    const settle = waiting.get(id);
    waiting.set(id, (body) => {
      answers.push(body);
      settle?.(body);
    });
    host.cancel(id);
    expect(await answer).toMatchObject({ error: { code: -32800 } });
    host.cancel(id);
    await result("terminal/kill", terminal);
    await result("terminal/wait_for_exit", terminal);
    expect(answers).toHaveLength(1);
  });

  it("S7 a command that cannot run says why: in words, and by the status shells give", async () => {
    expect(await codeOf("terminal/create", { command: "ls", cwd: join(root, "none") })).toBe(-32602);
    expect(await codeOf("terminal/create", { command: "" })).toBe(-32602);
    const terminal = await run("no-such-program-anywhere");
    expect(await result("terminal/wait_for_exit", terminal)).toEqual({ exitCode: 127, signal: null });
    expect(String((await result("terminal/output", terminal))["output"])).toContain("no-such-program-anywhere");
  });

  it("S7 terminals are bounded: ended ones nobody released go first, running ones never", async () => {
    const first = await run("true");
    await result("terminal/wait_for_exit", first);
    for (let index = 1; index < 64; index += 1) await run("exec sleep 300");
    await run("exec sleep 300");
    expect(await codeOf("terminal/output", first)).toBe(-32002);
    expect(await codeOf("terminal/create", { command: "true" })).toBe(-32603);
  });

  it("S7 a method nobody knows is -32601", async () => {
    expect(await codeOf("terminal/resize", {})).toBe(-32601);
  });
});
