import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoBackend } from "../../../src/backends/demo/demo-backend.ts";
import { objectAt } from "../../../src/protocol/json.ts";
import { readStamp } from "../../../src/protocol/meta.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const briefly = (_ms: number, signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.reject(signal.reason) : new Promise((resolve) => setTimeout(resolve, 2));

describe("a hub that restarts", () => {
  let harness: HubHarness;
  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
  });
  afterEach(() => harness.stop());

  const cursorOf = (client: RawClient): { epoch: string; seq: number } => {
    const last = readStamp(client.notifications("session/update").at(-1));
    if (last === undefined) throw new Error("no update carried a stamp");
    return { epoch: last.epoch, seq: last.seq };
  };

  it("L2 S3 gives a client that returns with its cursor exactly what it missed, and the editor notices nothing", async () => {
    const { editor: transport, instanceId } = harness.bridge(demoBackend({ pace: briefly }));
    const editor = rawClient(transport);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const sessionId = String((await editor.call("session/new", { cwd: "/", mcpServers: [] }))["sessionId"]);
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const url = `ws://127.0.0.1:${harness.port}/acp?instance=${instanceId}`;
    const before = await connectClient(url, "driver:phone");
    await before.initialize();
    await before.call("session/load", { sessionId, cwd: "/", mcpServers: [] });
    const turn = editor.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "long 60" }] });
    await expect.poll(() => before.textOf("agent_message_chunk").length).toBeGreaterThan(40);
    await harness.restart();
    await expect.poll(() => harness.hub.registry.list().length, { timeout: 5000 }).toBe(1);
    expect(before.closed?.code).toBe(1001);
    const after = await connectClient(url, "driver:phone");
    await after.initialize();
    const loaded = await after.call("session/load", {
      sessionId,
      cwd: "/",
      mcpServers: [],
      _meta: { "acp-hub": { cursor: cursorOf(before) } },
    });
    expect(objectAt(objectAt(loaded, "_meta"), "acp-hub")?.["verdict"]).toBe("ok");
    expect((await turn)["stopReason"]).toBe("end_turn");
    await expect
      .poll(() => before.textOf("agent_message_chunk") + after.textOf("agent_message_chunk"))
      .toBe(editor.textOf("agent_message_chunk"));
    const fresh = await connectClient(url, "driver:other");
    await fresh.initialize();
    await fresh.call("session/load", { sessionId, cwd: "/", mcpServers: [] });
    expect(fresh.textOf("agent_message_chunk")).toBe(editor.textOf("agent_message_chunk"));
  });
});
