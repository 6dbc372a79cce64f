import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { arrayAt, type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const promptOf = (sessionId: string, ours: JsonObject = {}): JsonObject => ({
  sessionId,
  prompt: [{ type: "text", text: "hi" }],
  _meta: { "acp-hub": ours },
});

const WAIT = { timeout: 10_000 };

describe("one session in two editor windows", () => {
  let harness: HubHarness;
  let wide: RawClient;
  beforeEach(async () => {
    harness = await startHub();
    wide = await connectClient(`ws://127.0.0.1:${harness.port}/acp`, "driver:phone");
    await wide.initialize();
  });
  afterEach(() => harness.stop());

  /** An editor whose agent has the session `s1`, there or in a directory of its own. */
  async function editor(instanceId: string, cwd = "/work"): Promise<RawClient> {
    const agent = puppetAgent();
    agent.on("session/prompt", () => ({ stopReason: "end_turn" }));
    const client = rawClient(harness.bridge(agent.backend, instanceId).editor);
    await client.initialize();
    await client.call("session/new", { cwd, mcpServers: [] });
    await client.call("session/prompt", promptOf("s1"));
    await expect.poll(() => harness.hub.registry.get(instanceId)?.mirror.holdsSession("s1"), WAIT).toBe(true);
    return client;
  }

  const listed = async (): Promise<{ cwd: unknown; instances: unknown }[]> => {
    const { sessions } = await wide.call("session/list", {});
    return (Array.isArray(sessions) ? sessions : []).map((entry) => ({
      cwd: (entry as JsonObject)["cwd"],
      instances: arrayAt(objectAt(objectAt(entry as JsonObject, "_meta"), "acp-hub"), "instances"),
    }));
  };

  it("S9 rows 125 126: one entry with both, the one active last first, whichever started first", async () => {
    const first = await editor("i-1");
    await editor("i-2");
    await expect.poll(listed, WAIT).toEqual([{ cwd: "/work", instances: ["i-2", "i-1"] }]);
    await first.call("session/prompt", promptOf("s1"));
    await expect.poll(listed, WAIT).toEqual([{ cwd: "/work", instances: ["i-1", "i-2"] }]);
  });

  it("S9 the bare id is refused with the candidates, a named one is taken, and stays where it was attached", async () => {
    const first = await editor("i-1");
    const second = await editor("i-2");
    await expect.poll(listed, WAIT).toEqual([{ cwd: "/work", instances: ["i-2", "i-1"] }]);
    await expect(wide.call("session/prompt", promptOf("s1"))).rejects.toMatchObject({
      code: -32602,
      data: { code: "ambiguous-session", candidates: ["i-2", "i-1"] },
    });
    await wide.call("session/prompt", promptOf("s1", { instance: "i-1" }));
    expect(first.textOf("user_message_chunk")).toBe("hi");
    await wide.call("session/load", {
      sessionId: "s1",
      cwd: "/",
      mcpServers: [],
      _meta: { "acp-hub": { instance: "i-1" } },
    });
    await wide.call("session/prompt", promptOf("s1"));
    expect(first.textOf("user_message_chunk")).toBe("hihi");
    expect(second.textOf("user_message_chunk")).toBe("");
  });

  it("S9 equal ids in other directories are other sessions", async () => {
    await editor("i-1", "/work/a");
    await editor("i-2", "/work/b");
    await expect.poll(listed, WAIT).toEqual([
      { cwd: "/work/b", instances: ["i-2"] },
      { cwd: "/work/a", instances: ["i-1"] },
    ]);
  });
});
