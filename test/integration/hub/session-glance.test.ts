/** What the lists say of a session at a glance: since when its turn stands so, and its last line. */
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { RpcId } from "../../../src/protocol/envelope.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { type RawClient, rawClient } from "../../support/raw-client.ts";

const headers = { authorization: "Bearer viewer:v" };

describe("a session in the lists", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  let editor: RawClient;
  let bridge: ReturnType<HubHarness["bridge"]>;
  let sessionId: string;
  let running: RpcId | undefined;

  const get = async (path: string): Promise<Response> => fetch(`${harness.url}${path}`, { headers });
  const live = async (): Promise<JsonObject | undefined> => {
    const [instance] = (await (await get("/api/instances")).json()) as { sessions: JsonObject[] }[];
    return instance?.sessions[0];
  };
  const past = async (): Promise<JsonObject | undefined> => {
    const { sessions } = (await (await get("/api/sessions")).json()) as { sessions: JsonObject[] };
    return sessions[0];
  };
  const said = (text: string): JsonObject => ({
    sessionUpdate: "agent_message_chunk",
    messageId: "m1",
    content: { type: "text", text },
  });
  const seesLine = (lastFrom: string, lastText: string) => expect.poll(live).toMatchObject({ lastFrom, lastText });
  const prompt = (text: string) => editor.call("session/prompt", { sessionId, prompt: [{ type: "text", text }] });

  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
    agent = puppetAgent();
    agent.on("session/prompt", (_params, id) => {
      running = id;
      return undefined;
    });
    bridge = harness.bridge(agent.backend);
    editor = rawClient(bridge.editor);
    await editor.call("initialize", {
      protocolVersion: 1,
      clientInfo: { name: "zed", title: "Zed" },
      clientCapabilities: {},
    });
    sessionId = String((await editor.call("session/new", { cwd: "/", mcpServers: [] }))["sessionId"]);
  });
  afterEach(() => harness.stop());

  it("shows who spoke last and since when the turn runs, waits and rests, without an event per chunk", async () => {
    const before = Date.now();
    const turn = prompt("fix the\nrace");
    await expect.poll(live).toMatchObject({ status: "running", lastFrom: "user", lastText: "race" });
    const first = await live();
    expect(first?.["turnSince"]).toBeGreaterThanOrEqual(before);
    expect(first?.["turnSince"]).toBeLessThanOrEqual(Date.now());
    // Behind all that the prompt itself led to.
    agent.update(sessionId, said("I look "));
    await seesLine("agent", "I look");
    const told: string[] = [];
    const stop = harness.hub.events.listen(({ event }) => told.push(event.kind));
    for (const text of ["at ", "the ", "\u202epool"]) agent.update(sessionId, said(text));
    await seesLine("agent", "I look at the pool");
    agent.update(sessionId, { sessionUpdate: "tool_call", toolCallId: "t1", title: "Run the tests" });
    await seesLine("tool", "Run the tests");
    expect(await live()).toMatchObject({ status: "running", turnSince: first?.["turnSince"] });
    stop();
    expect(told).toEqual([]);
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    void agent.ask("session/request_permission", { sessionId, toolCall: { toolCallId: "t1" }, options });
    await expect.poll(live).toMatchObject({ status: "waiting", lastText: "Run the tests" });
    expect((await live())?.["turnSince"]).toBeGreaterThanOrEqual(Number(first?.["turnSince"]));
    const asked = await editor.nextRequest("session/request_permission");
    editor.answer(asked.id, { outcome: { outcome: "selected", optionId: "yes" } });
    agent.update(sessionId, said("Done."));
    agent.wire.answer(running ?? null, { stopReason: "end_turn" });
    await turn;
    await expect.poll(live).toMatchObject({ status: "idle", lastFrom: "agent", lastText: "Done." });
    expect(await past()).toMatchObject({ state: "idle", lastFrom: "agent", lastText: "Done." });
  });

  it("L2 says the same after the hub was started anew, in the middle of the turn", async () => {
    void prompt("go").catch(() => undefined);
    agent.update(sessionId, said("Half "));
    agent.update(sessionId, said("way there"));
    await seesLine("agent", "Half way there");
    const before = await live();
    await harness.restart();
    await seesLine("agent", "Half way there");
    expect(await live()).toMatchObject({ status: "running", turnSince: before?.["turnSince"] });
    agent.update(sessionId, said(", and on"));
    await seesLine("agent", "Half way there, and on");
  });

  it("C3.history keeps the last line of what has ended, over a restart, and for who resumes it", async () => {
    void prompt("go").catch(() => undefined);
    agent.update(sessionId, said("The last words."));
    await seesLine("agent", "The last words.");
    editor.close();
    await bridge.ended;
    const line = { lastFrom: "agent", lastText: "The last words." };
    await harness.restart();
    expect(await past()).toMatchObject(line);
    const next = puppetAgent();
    next.on("session/resume", () => ({}));
    const other = rawClient(harness.bridge(next.backend, "i-next").editor);
    await other.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await other.call("session/resume", { sessionId, cwd: "/", mcpServers: [] });
    await expect
      .poll(() => harness.hub.registry.get("i-next")?.mirror.session(sessionId)?.lastLine)
      .toEqual({
        from: "agent",
        text: "The last words.",
      });
  });

  it("says of which event its answers are: a stream that begins there has missed nothing", async () => {
    await expect.poll(async () => ((await (await get("/api/instances")).json()) as unknown[]).length).toBe(1);
    // Asked again for as long as something happens in between.
    const look = async (): Promise<(string | null | undefined)[]> => {
      const answers = await Promise.all([get("/api/instances"), get("/api/interactions")]);
      const positions = answers.map((answer) => answer.headers.get("Acp-Event-Id"));
      const abort = new AbortController();
      const stream = await fetch(`${harness.url}/api/events`, { headers, signal: abort.signal });
      const { value } = (await stream.body?.getReader().read()) ?? {};
      abort.abort();
      id = /id: (\S+)\nevent: reset/.exec(new TextDecoder().decode(value))?.[1];
      return [...positions, id];
    };
    let id: string | undefined;
    await expect.poll(async () => new Set(await look()).size).toBe(1);
    expect(id).toMatch(/^\S+\.\d+$/);
  });
});
