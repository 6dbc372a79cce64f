import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import { SCRIPTED_AGENT } from "../../support/cli.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RpcFailed, rawClient } from "../../support/raw-client.ts";

describe("a prompt retried after its instance died", () => {
  let harness: HubHarness;
  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
  });
  afterEach(() => harness.stop());

  const instance = async (script: object, id: string) => {
    const backend = acpBackend({
      command: process.execPath,
      args: [SCRIPTED_AGENT, JSON.stringify(script)],
      name: "agent",
    });
    const { editor: transport, ended } = harness.bridge(backend, id);
    const editor = rawClient(transport);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await expect.poll(() => harness.hub.registry.get(id)).toBeDefined();
    const client = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=${id}`, "owner:phone");
    await client.initialize();
    return { editor, client, ended };
  };
  const promptOf = (sessionId: string, text: string) => ({
    sessionId,
    prompt: [{ type: "text", text }],
    _meta: { "acp-hub": { promptId: "p1" } },
  });

  it("P3 is answered outcome-unknown and never run again; other content under its id is refused", async () => {
    const first = await instance({ sessionIds: ["s1"], turns: [[{ say: "working" }, { exit: 3 }]] }, "one");
    await first.editor.call("session/new", { cwd: "/", mcpServers: [] });
    await first.client.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
    await first.client.call("session/prompt", promptOf("s1", "do it")).catch(() => undefined);
    await first.ended;
    const second = await instance({ load: { replay: [] }, turns: [[{ say: "ran" }]] }, "two");
    await second.editor.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
    await second.client.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
    const retried = await second.client
      .call("session/prompt", promptOf("s1", "do it"))
      .catch((error: RpcFailed) => error);
    expect(retried).toMatchObject({ code: -32603 });
    const other = await second.client
      .call("session/prompt", promptOf("s1", "something else"))
      .catch((error: RpcFailed) => error);
    expect(other).toMatchObject({ code: -32602, data: { code: "prompt-mismatch" } });
    await second.client.call("session/prompt", { ...promptOf("s1", "the next"), _meta: {} });
    expect(second.editor.textOf("agent_message_chunk")).toBe("ran");
  });
});
