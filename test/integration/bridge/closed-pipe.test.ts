import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import { runBridge } from "../../../src/bridge/bridge.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { memoryPair } from "../../../src/transport/memory.ts";
import { Recorder } from "../../support/recorder.ts";

const SCRIPTED = fileURLToPath(new URL("../../support/scripted-agent.mjs", import.meta.url));

// It says something when its turn begins: before its stdout goes, and after its stdin has gone.
const STEPS: Readonly<Record<string, readonly JsonObject[]>> = {
  stdout: [{ say: "hi" }, { close: "stdout" }],
  stdin: [{ close: "stdin" }, { say: "hi" }],
};

for (const [pipe, steps] of Object.entries(STEPS)) {
  it(`S8 an agent that closes its ${pipe} alone and lives on is ended: who waits is answered, and so is the next request`, async () => {
    const script = { turns: [[...steps, { never: true }]], onEof: "ignore" };
    const backend = acpBackend({
      command: process.execPath,
      args: [SCRIPTED, JSON.stringify(script)],
      eofMs: 100,
      termMs: 1000,
    });
    const [editor, primary] = memoryPair();
    const recorder = Recorder.on(editor);
    const ended = runBridge({
      backend,
      sharing: undefined,
      isHeadless: false,
      workspace: "/",
      version: "0.0.0-test",
      forms: "any",
      primary,
    });
    const send = (message: JsonObject): void => void editor.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
    const messages = (): JsonObject[] => recorder.texts.map((text) => JSON.parse(text) as JsonObject);
    const answer = (id: number): JsonObject | undefined => messages().find((message) => message["id"] === id);
    send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
    send({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
    await recorder.until(() => answer(2) !== undefined);
    send({ id: 3, method: "session/prompt", params: { sessionId: "s1", prompt: [{ type: "text", text: "go" }] } });
    await recorder.until(() => messages().some((message) => message["method"] === "session/update"));
    // Only a write shows that nobody reads any more.
    send({ method: "session/cancel", params: { sessionId: "s1" } });
    send({ id: 4, method: "session/list", params: {} });
    await recorder.until(() => answer(3) !== undefined && answer(4) !== undefined);
    expect(answer(3)).toMatchObject({ error: { code: -32603, data: { code: "agent-exited" } } });
    await ended;
  });
}
