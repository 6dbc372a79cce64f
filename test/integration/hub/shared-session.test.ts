import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoBackend } from "../../../src/backends/demo/demo-backend.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const instantly = (_ms: number, signal: AbortSignal): Promise<void> =>
  signal.aborted ? Promise.reject(signal.reason) : new Promise((resolve) => setImmediate(resolve));

describe("a session shared through a hub", () => {
  let harness: HubHarness;
  beforeEach(async () => {
    harness = await startHub();
  });
  afterEach(() => harness.stop());

  const editorOf = async (): Promise<{ editor: RawClient; instanceId: string }> => {
    const { editor, instanceId } = harness.bridge(demoBackend({ pace: instantly }));
    const client = rawClient(editor);
    await client.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    return { editor: client, instanceId };
  };

  const phoneOf = (instanceId: string, preset = "driver", name = "phone"): Promise<RawClient> =>
    connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=${instanceId}`, `${preset}:${name}`);

  it("B1 B3 a remote client sees the editor's turn as it runs, and the editor sees the remote's prompt", async () => {
    const { editor, instanceId } = await editorOf();
    const session = await editor.call("session/new", { cwd: "/", mcpServers: [] });
    const sessionId = String(session["sessionId"]);
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const phone = await phoneOf(instanceId);
    await phone.initialize();
    await phone.call("session/load", { sessionId, cwd: "/", mcpServers: [] });
    const answer = await editor.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
    expect(answer["stopReason"]).toBe("end_turn");
    await expect.poll(() => phone.textOf("agent_message_chunk").length).toBeGreaterThan(0);
    expect(phone.textOf("user_message_chunk")).toBe("hello");
    expect(editor.textOf("user_message_chunk")).toBe("");
    await phone.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "hello from the phone" }] });
    expect(editor.textOf("user_message_chunk")).toBe("hello from the phone");
    expect(phone.textOf("agent_message_chunk")).toBe(editor.textOf("agent_message_chunk"));
  });

  it("X1 X2 R3 a permission is answered by the phone and the editor's dialog closes", async () => {
    const { editor, instanceId } = await editorOf();
    const { sessionId } = await editor.call("session/new", { cwd: "/", mcpServers: [] });
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const phone = await phoneOf(instanceId);
    await phone.initialize();
    await phone.call("session/load", { sessionId: String(sessionId), cwd: "/", mcpServers: [] });
    const turn = editor.call("session/prompt", {
      sessionId: String(sessionId),
      prompt: [{ type: "text", text: "diff" }],
    });
    const ask = await phone.nextRequest("session/request_permission");
    const own = await editor.nextRequest("session/request_permission");
    const options = ask.params["options"] as { optionId: string; kind: string }[];
    phone.answer(ask.id, {
      outcome: { outcome: "selected", optionId: options.find((o) => o.kind === "allow_once")?.optionId ?? "" },
    });
    const cancel = await editor.nextNotification("$/cancel_request");
    expect(cancel["requestId"]).toBe(own.id);
    expect((await turn)["stopReason"]).toBe("end_turn");
  });

  it("C4.scope a hub-wide connection lists sessions, and loads and prompts them by id", async () => {
    const { editor } = await editorOf();
    const { sessionId } = await editor.call("session/new", { cwd: "/", mcpServers: [] });
    await editor.call("session/prompt", { sessionId: String(sessionId), prompt: [{ type: "text", text: "hello" }] });
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp`, "driver:phone");
    await phone.initialize();
    await expect.poll(async () => ((await phone.call("session/list", {}))["sessions"] as unknown[]).length).toBe(1);
    const loaded = await phone.call("session/load", { sessionId: String(sessionId), cwd: "/", mcpServers: [] });
    await expect.poll(() => phone.textOf("agent_message_chunk")).toBe(editor.textOf("agent_message_chunk"));
    expect(JSON.stringify(loaded)).toContain('"instance":"i-0"');
  });
});
