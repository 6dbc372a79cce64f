import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { demoBackend } from "../../../src/backends/demo/demo-backend.ts";
import { objectAt } from "../../../src/protocol/json.ts";
import { readStamp } from "../../../src/protocol/meta.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

/** An agent that goes as far as it is let. */
class Steps {
  #left = 0;
  #waiting: (() => void)[] = [];

  readonly pace = (_ms: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (this.#left === 0) return new Promise((resolve) => this.#waiting.push(resolve));
    this.#left -= 1;
    return Promise.resolve();
  };

  allow(count: number): void {
    const freed = this.#waiting.splice(0, count);
    this.#left += count - freed.length;
    for (const goOn of freed) goOn();
  }
}

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
    const steps = new Steps();
    const { editor: transport, instanceId } = harness.bridge(demoBackend({ pace: steps.pace }));
    const editor = rawClient(transport);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    const sessionId = String((await editor.call("session/new", { cwd: "/", mcpServers: [] }))["sessionId"]);
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const url = `ws://127.0.0.1:${harness.port}/acp?instance=${instanceId}`;
    const before = await connectClient(url, "driver:phone");
    await before.initialize();
    await before.call("session/load", { sessionId, cwd: "/", mcpServers: [] });
    const turn = editor.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "long 60" }] });
    steps.allow(10);
    await expect.poll(() => before.textOf("agent_message_chunk").length).toBeGreaterThan(40);
    const heard = editor.textOf("agent_message_chunk").length;
    const restarted = harness.restart();
    await expect.poll(() => before.closed?.code).toBe(1001);
    steps.allow(10);
    await expect.poll(() => editor.textOf("agent_message_chunk").length).toBeGreaterThan(heard);
    await restarted;
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const after = await connectClient(url, "driver:phone");
    await after.initialize();
    const loaded = await after.call("session/load", {
      sessionId,
      cwd: "/",
      mcpServers: [],
      _meta: { "acp-hub": { cursor: cursorOf(before) } },
    });
    expect(objectAt(objectAt(loaded, "_meta"), "acp-hub")?.["verdict"]).toBe("ok");
    steps.allow(Number.MAX_SAFE_INTEGER);
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
