import { spawn } from "node:child_process";
import { createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { makePrivateDir } from "../../src/config/paths.ts";
import { paramsOf } from "../../src/protocol/envelope.ts";
import { ndjsonTransport } from "../../src/transport/ndjson.ts";
import { RawClient } from "../support/raw-client.ts";
import { openSession, Stage, scripted, textPrompt, until } from "../support/stage.ts";

const CHUNKS = 250;
const SCRIPT = {
  turns: [
    [
      { update: { sessionUpdate: "plan", entries: [], _meta: { "some.agent": { keep: 1 } } } },
      { update: { sessionUpdate: "of_the_future", unknown: ["\u2028", "ünï", "\\u0000", 1e21, { deep: null }] } },
      { stream: { count: CHUNKS, bytes: 60, everyMs: 3 } },
      { ask: true },
      { notify: { method: "agent/own_notice", params: { sessionId: "$session", n: 0.1 } } },
      { say: "The answer was $answer." },
    ],
  ],
};

/**
 * All lines of a whole conversation but the handshake's, as the editor got them. Questions are compared by what they ask: the id is
 * counted per connection (X2) and `_meta["acp-hub"]` names the interaction (R2).
 */
async function converse(editor: RawClient, midway: () => void = () => undefined): Promise<string[]> {
  const sessionId = await openSession(editor);
  const from = editor.frames.length;
  const turn = editor.callAs("p", "session/prompt", textPrompt(sessionId, "go"));
  expect(await until(() => editor.updates().length > CHUNKS / 3, 10_000)).toBe(true);
  midway();
  const asked = await editor.nextRequest("session/request_permission");
  editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
  expect(await turn).toEqual({ stopReason: "end_turn" });
  return editor.frames.slice(from).map((frame) => {
    if (frame.kind !== "request") return frame.text;
    const { _meta, ...params } = paramsOf(frame.msg) ?? {};
    return JSON.stringify([frame.msg.method, params]);
  });
}

/** The same conversation with the agent itself. */
async function alone(): Promise<string[]> {
  const [, command = "", ...args] = scripted(SCRIPT);
  const agent = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = await converse(new RawClient(ndjsonTransport(agent.stdout, agent.stdin)));
  const ended = new Promise((resolve) => agent.once("exit", resolve));
  agent.stdin.end();
  await ended;
  return lines;
}

describe("the editor first", () => {
  let stage: Stage;
  let expected: readonly string[];
  let silent: Server | undefined;
  const sockets = new Set<Socket>();
  beforeAll(async () => {
    expected = await alone();
    expect(expected.length).toBe(CHUNKS + 6);
  });
  beforeEach(() => {
    stage = new Stage();
  });
  afterEach(async () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
    await stage.end();
    await new Promise<void>((resolve) => (silent === undefined ? resolve() : silent.close(() => resolve())));
    silent = undefined;
  });

  it("B1 L2 runs a plain editor's session byte for byte as the agent alone: no hub, or one killed in mid-stream", async () => {
    expect(await converse(stage.home.bridge(scripted(SCRIPT)).editor)).toEqual(expected);
    const hub = await stage.serve();
    const shared = stage.home.bridge(scripted(SCRIPT));
    const linked = stage.linked();
    const lines = await converse(shared.editor, () => hub.child.kill("SIGKILL"));
    await linked;
    expect(lines).toEqual(expected);
  });

  it("B5 B1 runs it the same beside a hub that hangs: stopped in mid-stream, before the hello, or never answering it", async () => {
    const hub = await stage.serve();
    const early = stage.home.bridge(scripted(SCRIPT));
    await early.editor.initialize({});
    await stage.linked();
    expect(await converse(early.editor, () => hub.child.kill("SIGSTOP"))).toEqual(expected);
    expect(await converse(stage.home.bridge(scripted(SCRIPT)).editor)).toEqual(expected);
    hub.child.kill("SIGCONT");
    await stage.linked(2);
  });

  it("design 6.1 says nothing of a hub's faults to the editor: a socket that takes the link and is silent", async () => {
    makePrivateDir(stage.paths.runDir);
    const server = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
    silent = server;
    await new Promise<void>((resolve) => server.listen(stage.paths.linkSocket, resolve));
    const { editor, child } = stage.home.bridge(scripted(SCRIPT));
    let stderr = "";
    child.stderr?.on("data", (chunk: Buffer) => {
      stderr += chunk.toString("utf8");
    });
    expect(await converse(editor)).toEqual(expected);
    expect(sockets.size).toBe(1);
    expect(stderr).toBe("");
  });

  it("L1 ends with the editor while the hub hangs", async () => {
    const hub = await stage.serve();
    const { editor, child } = await stage.share(SCRIPT);
    await stage.linked();
    hub.child.kill("SIGSTOP");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    editor.close();
    expect(await ended).toBe(0);
    hub.child.kill("SIGCONT");
  });
});
