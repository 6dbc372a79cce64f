/** C6: what the configuration says of limits is what holds, in the hub and in the bridges on it. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hubMeta } from "../../../src/protocol/meta.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

describe("limits other than the default", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  let editor: RawClient;
  beforeEach(async () => {
    const limits = {
      pingMs: 1234,
      lanePromptsMax: 1,
      remoteFrameBytes: 50_000,
      agentLineBytes: 5000,
      outboxSoftBytes: 2000,
    };
    harness = await startHub({ limits });
    agent = puppetAgent();
    editor = rawClient(harness.bridge(agent.backend, "i-1").editor);
    await editor.initialize({});
    await editor.call("session/new", { cwd: "/project", mcpServers: [] });
    await expect.poll(() => [...(harness.hub.registry.get("i-1")?.mirror.sessions ?? [])].length).toBe(1);
  });
  afterEach(() => harness.stop());

  const client = (query: string): Promise<RawClient> =>
    connectClient(`ws://127.0.0.1:${harness.port}/acp${query}`, "driver:phone");

  it("C6.limits clients are told how often they are pinged and what they may send, on an instance and hub-wide", async () => {
    for (const query of ["?instance=i-1", ""]) {
      const phone = await client(query);
      const result = await phone.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
      const { pingMs, frameBytesMax } = hubMeta(result) ?? {};
      expect([query, pingMs, frameBytesMax]).toEqual([query, 1234, 50_000]);
      phone.close();
    }
  });

  it("C6.limits P1 T2 the bridge takes its own from the hub: prompts that wait, the longest shared message", async () => {
    const phone = await client("?instance=i-1");
    await phone.initialize();
    await phone.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
    const text = "x".repeat(6000);
    agent.update("s1", { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    await expect.poll(() => phone.textOf("agent_message_chunk")).toBe("[6 kB left out: too large to share]");
    await expect.poll(() => editor.textOf("agent_message_chunk").length).toBe(6000);
    agent.on("session/prompt", () => undefined);
    const prompt = { sessionId: "s1", prompt: [{ type: "text", text: "go" }] };
    const clients = [editor, phone, await client("?instance=i-1")];
    await clients[2]?.initialize();
    void editor.call("session/prompt", prompt).catch(() => undefined);
    await expect.poll(() => harness.hub.registry.get("i-1")?.mirror.session("s1")?.info.turn).toBe("running");
    void phone.call("session/prompt", prompt).catch(() => undefined);
    await expect.poll(() => harness.hub.registry.get("i-1")?.mirror.session("s1")?.info.queue.length).toBe(1);
    await expect(clients[2]?.call("session/prompt", prompt)).rejects.toThrow(/1 prompts wait already/);
    for (const each of clients.slice(1)) each.close();
  });

  it("C6.limits B5 a client that does not read is owed no more than the soft bound and one update", async () => {
    const phone = await client("?instance=i-1");
    await phone.initialize();
    const outboxes: number[] = [];
    harness.hub.sockets.each((socket) => outboxes.push(socket.connection.outbox.limits.pauseBytes));
    expect(outboxes).toEqual([2000]);
    phone.close();
  });
});
