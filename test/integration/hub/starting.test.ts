import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { rawClient } from "../../support/raw-client.ts";
import { upgrade } from "../../support/stage.ts";

const headers = { authorization: "Bearer driver:phone" };

const WAIT = { timeout: 10_000 };

describe("the first moments of a hub", () => {
  let clock: ManualClock;
  let harness: HubHarness;
  beforeEach(async () => {
    clock = new ManualClock();
    harness = await startHub({ isDurable: true, scheduler: clock });
    const agent = puppetAgent();
    const { editor, ended } = harness.bridge(agent.backend, "known");
    const client = rawClient(editor);
    await client.initialize();
    const { sessionId } = await client.call("session/new", { cwd: "/", mcpServers: [] });
    agent.on("session/prompt", () => ({ stopReason: "end_turn" }));
    await client.call("session/prompt", { sessionId: String(sessionId), prompt: [{ type: "text", text: "hi" }] });
    await expect.poll(() => harness.hub.registry.get("known")?.mirror.holdsSession(String(sessionId)), WAIT).toBe(true);
    client.close();
    await ended;
    await harness.restart();
  });
  afterEach(() => harness.stop());

  const overHttp = async (path: string): Promise<[number, string | null]> => {
    const response = await fetch(`${harness.url}${path}`, { headers });
    return [response.status, response.headers.get("retry-after")];
  };
  const overUpgrade = async (): Promise<number> => {
    const answer = await upgrade(`${harness.url.replace("http", "ws")}/acp?instance=known`, { headers });
    return "status" in answer ? answer.status : 101;
  };

  it("L5 for three seconds an instance the hub knew is on its way back, 503 and Retry-After 1; then it is 404", async () => {
    await clock.advance(2999);
    expect(await overHttp("/api/instances/known")).toEqual([503, "1"]);
    expect(await overHttp("/api/instances/known/status")).toEqual([503, "1"]);
    expect(await overUpgrade()).toBe(503);
    await clock.advance(1);
    expect(await overHttp("/api/instances/known")).toEqual([404, null]);
    expect(await overHttp("/api/instances/known/status")).toEqual([404, null]);
    expect(await overUpgrade()).toBe(404);
  });
});
