import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { paramsFilters } from "../../../src/hub/params-filter.ts";
import { objectAt } from "../../../src/protocol/json.ts";
import { hubMeta } from "../../../src/protocol/meta.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

describe("what a remote client can open a session with", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  let root: string;
  beforeEach(async () => {
    root = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-open-")));
    mkdirSync(join(root, "app"));
    const docs = { command: "/usr/bin/docs", args: [], env: [] };
    harness = await startHub({
      paramsFilter: paramsFilters({ createRoots: [root], remoteMcpServers: { docs }, metaKeys: [] }),
    });
    agent = puppetAgent();
    agent.on("session/load", () => ({}));
    await rawClient(harness.bridge(agent.backend).editor).initialize({});
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(root, { recursive: true, force: true });
  });

  const phoneOf = async (preset: string): Promise<RawClient> => {
    const phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, `${preset}:phone`);
    await phone.initialize();
    return phone;
  };
  const power = {
    mcpServers: [
      { name: "docs", command: "/bin/sh", args: [], env: [] },
      { name: "evil", command: "/bin/sh", args: [], env: [] },
    ],
    _meta: { claudeCode: { options: { executable: "/bin/sh" } } },
  };
  const sentTo = (method: string) => agent.calls.find((call) => call.method === method)?.params;
  const clean = { mcpServers: [{ name: "docs", command: "/usr/bin/docs", args: [], env: [] }] };

  it("C2.parameters a driver's new session reaches the agent without power of its own, and the driver is told", async () => {
    const phone = await phoneOf("driver");
    const result = await phone.call("session/new", { cwd: join(root, "app"), ...power });
    expect(sentTo("session/new")).toEqual({ cwd: join(root, "app"), ...clean });
    expect(hubMeta(result)?.["ignored"]).toEqual(["evil", "_meta.claudeCode"]);
  });

  it("C2.parameters a load that reaches the agent is judged and told the same way", async () => {
    const phone = await phoneOf("driver");
    const result = await phone.call("session/load", { sessionId: "old", cwd: root, ...power });
    expect(sentTo("session/load")).toEqual({ sessionId: "old", cwd: root, ...clean });
    expect(hubMeta(result)?.["ignored"]).toEqual(["evil", "_meta.claudeCode"]);
  });

  it("C2.parameters a directory outside is refused by name and never reaches the agent", async () => {
    const phone = await phoneOf("driver");
    const refused = phone.call("session/new", { cwd: "/etc", mcpServers: [] });
    await expect(refused).rejects.toMatchObject({ code: -32003, data: { code: "forbidden-parameter", field: "cwd" } });
    await phone.call("session/load", { sessionId: "old", cwd: root, mcpServers: [] });
    expect(agent.calls.at(-1)?.method).toBe("session/load");
    expect(sentTo("session/new")).toBeUndefined();
  });

  it("C2.parameters a load the journal serves ignores them, a missing cwd included", async () => {
    const phone = await phoneOf("driver");
    await phone.call("session/load", { sessionId: "old", cwd: root, mcpServers: [] });
    const again = await phone.call("session/load", { sessionId: "old", ...power });
    expect(hubMeta(again)?.["ignored"]).toBeUndefined();
    await phone.call("session/load", { sessionId: "old", cwd: "/etc", mcpServers: [] });
    expect(agent.calls.filter((call) => call.method === "session/load")).toHaveLength(1);
  });

  it("C2.parameters an owner's session reaches the agent as it was sent", async () => {
    const phone = await phoneOf("owner");
    await phone.call("session/new", { cwd: "/etc", ...power });
    const sent = sentTo("session/new");
    expect(sent?.["mcpServers"]).toEqual(power.mcpServers);
    expect(objectAt(sent, "_meta")).toEqual(power._meta);
  });
});
