/** What a client with the least rights says is bounded before it costs the hub, or the bridge of an editor, anything (C6.limits). */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { INITIALIZE_CHARS_MAX } from "../../../src/core/mirror/admission.ts";
import { ClientSocket } from "../../../src/hub/client-socket.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

/** Capabilities of about so many characters, told apart by `name`. */
const capabilitiesOf = (name: string, chars: number): JsonObject => ({ [name]: { x: "x".repeat(chars) } });

describe("a crowd that says much of itself", () => {
  let harness: HubHarness;
  let agent: ReturnType<typeof puppetAgent>;
  const clients: RawClient[] = [];
  beforeEach(async () => {
    harness = await startHub({ limits: { bodyBytes: 100_000, outboxHardBytes: 5_000_000 } });
    agent = puppetAgent();
    const editor = rawClient(harness.bridge(agent.backend, "i-1").editor);
    await editor.initialize({});
    await expect.poll(() => harness.hub.registry.get("i-1")?.mirror.agentInfo).toBeDefined();
  });
  afterEach(async () => {
    for (const client of clients.splice(0)) client.close();
    await harness.stop();
  });

  const client = async (as: string, query = "?instance=i-1"): Promise<RawClient> => {
    const made = await connectClient(`ws://127.0.0.1:${harness.port}/acp${query}`, as);
    clients.push(made);
    return made;
  };

  it("C6.limits I3 an initialize that holds too much is refused by words, on an instance and hub-wide", async () => {
    for (const query of ["?instance=i-1", ""]) {
      const viewer = await client("viewer:a", query);
      const much = viewer.initialize(capabilitiesOf("much", INITIALIZE_CHARS_MAX));
      await expect(much).rejects.toMatchObject({ code: -32602, data: { code: "too-large" } });
      expect(await viewer.initialize(capabilitiesOf("enough", 1000))).toMatchObject({ protocolVersion: 1 });
    }
  });

  it("C6.limits I3 what many declare reaches the bridge merged and bounded; who says the same as another counts once", async () => {
    const link = harness.hub.registry.get("i-1")?.link;
    if (link === undefined) throw new Error("not linked");
    const sent = vi.spyOn(link, "send");
    const told = (): string[] =>
      sent.mock.calls.map(([text]) => text).filter((text) => text.includes("clientCapabilities"));
    for (let n = 0; n < 12; n += 1) await (await client(`viewer:${n}`)).initialize(capabilitiesOf(`c${n}`, 10_000));
    for (let n = 0; n < 12; n += 1) await (await client(`viewer:${n}`)).initialize(capabilitiesOf("c0", 10_000));
    await expect.poll(() => told().at(-1)).toContain('"c5"');
    expect(Math.max(...told().map((text) => text.length))).toBeLessThan(70_000);
    const last = JSON.parse(told().at(-1) ?? "{}") as { params: { clientCapabilities: JsonObject } };
    expect(Object.keys(last.params.clientCapabilities).sort()).toEqual(["c0", "c1", "c2", "c3", "c4", "c5"]);
    // The editor's own session is as quick as before.
    expect(agent.calls.filter(({ method }) => method === "initialize")).toHaveLength(1);
  });

  it("C6.limits a message may be as large as its sender's rights need: 64 KiB, a body's size, a whole frame", async () => {
    const sizes = [
      ["viewer", 65_000, 66_000],
      ["approver", 99_000, 101_000],
    ] as const;
    for (const [preset, taken, refused] of sizes) {
      const one = await client(`${preset}:x`);
      await one.initialize();
      await expect(one.call("_x/y", { text: "x".repeat(taken) })).rejects.toMatchObject({ code: -32003 });
      one.sendText(`"${"x".repeat(refused)}"`);
      await expect.poll(() => one.closed?.code).toBe(1009);
    }
    const driver = await client("driver:x");
    await driver.initialize();
    await expect(driver.call("_x/y", { text: "x".repeat(1_000_000) })).rejects.toMatchObject({ code: -32601 });
  });

  it("C6.limits B5 who asks for more pages than he reads is cut off, and what he has asked for beyond that is not served", async () => {
    const opener = await client("driver:x");
    await opener.initialize();
    await opener.call("session/new", { cwd: "/", mcpServers: [] });
    const text = "x".repeat(1_000_000);
    agent.update("s1", { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    await expect.poll(() => opener.textOf("agent_message_chunk").length).toBe(text.length);
    const greedy = await client("viewer:x");
    await greedy.initialize();
    const mirror = harness.hub.registry.get("i-1")?.mirror;
    if (mirror === undefined) throw new Error("not linked");
    const served = vi.spyOn(mirror, "onClient");
    const page = { sessionId: "s1", before: 1_000_000_000, limit: 500 };
    const closes = vi.spyOn(ClientSocket.prototype, "close");
    // The hub serves in turns: one that reads meanwhile may keep up.
    greedy.stopReading();
    const pages = Array.from({ length: 2000 }, () => greedy.call("_acp-hub/load_earlier", page).catch(() => undefined));
    await expect.poll(() => closes.mock.calls.length, { interval: 10 }).toBe(1);
    closes.mockRestore();
    greedy.readAgain();
    await Promise.all(pages);
    expect(greedy.closed?.code).toBe(1013);
    expect(served.mock.calls.length).toBeLessThan(1000);
  });

  it("C6.limits P5 an id of more than 1,024 characters is none", async () => {
    const viewer = await client("viewer:x");
    await viewer.initialize();
    expect(await viewer.callAs("x".repeat(1024), "session/list", {})).toEqual({ sessions: [] });
    viewer.sendText(JSON.stringify({ jsonrpc: "2.0", id: "x".repeat(1025), method: "session/list", params: {} }));
    await expect
      .poll(() => viewer.frames.at(-1)?.msg)
      .toMatchObject({ id: null, error: { code: -32600, message: expect.stringContaining("1024") } });
  });
});
