import { readFileSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { callHub } from "../../../src/cli/local-api.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, rawClient } from "../../support/raw-client.ts";
import { ask } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

describe("what the hub counts", () => {
  let hub: SecureHub;
  beforeEach(async () => {
    hub = await startSecureHub();
  });
  afterEach(() => hub.stop());

  /** Every sample without labels, and those with, by their text. */
  async function metrics(): Promise<Map<string, number>> {
    const { body } = await callHub(hub.paths, "GET", "/metrics");
    const lines = String(body).split("\n");
    return new Map(
      lines.flatMap((line) => {
        const match = /^(acp_hub_[^ ]+) (\S+)$/.exec(line);
        return match === null ? [] : [[match[1] ?? "", Number(match[2])] as const];
      }),
    );
  }

  it("C3.metrics connections, bytes, questions with how long they were open, catch-ups, closes, and what waits for the disk", async () => {
    const agent = puppetAgent();
    const editor = rawClient(hub.bridge(agent.backend).editor);
    await editor.initialize({});
    const sessionId = String((await editor.call("session/new", { cwd: hub.workspace, mcpServers: [] }))["sessionId"]);
    await expect.poll(async () => (await metrics()).get("acp_hub_sessions")).toBe(1);
    const { token } = await hub.token("driver");
    const url = `ws://127.0.0.1:${hub.port}/acp?instance=i-0`;
    const phone = await connectClient(url, token);
    await phone.initialize();
    await phone.call("session/load", { sessionId, cwd: "/", mcpServers: [] });
    const before = await metrics();
    expect(before.get("acp_hub_connections")).toBe(1);
    expect(before.get("acp_hub_instances")).toBe(1);
    expect(before.get("acp_hub_catch_ups_total")).toBe(0);

    const asked = agent.ask("session/request_permission", {
      sessionId,
      toolCall: { toolCallId: "t" },
      options: [{ optionId: "yes", name: "Yes", kind: "allow_once" }],
    });
    const question = await phone.nextRequest("session/request_permission");
    await expect.poll(async () => (await metrics()).get("acp_hub_interactions_open")).toBe(1);
    phone.answer(question.id, { outcome: { outcome: "selected", optionId: "yes" } });
    await asked;
    await expect
      .poll(async () => (await metrics()).get('acp_hub_interactions_settled_total{action="answered"}'))
      .toBe(1);
    const settled = await metrics();
    expect(settled.get("acp_hub_interactions_open")).toBe(0);
    expect(settled.get("acp_hub_interaction_open_seconds_count")).toBe(1);

    // A reader whose socket is full is served from the journal when it reads again.
    phone.stopReading();
    const text = "x".repeat(20_000);
    for (let count = 0; count < 1500; count += 1)
      agent.update(sessionId, { sessionUpdate: "agent_message_chunk", content: { type: "text", text } });
    await expect.poll(async () => (await metrics()).get("acp_hub_connections_behind"), { timeout: 20_000 }).toBe(1);
    const tail = (): number => [...(hub.running.hub.registry.get("i-0")?.mirror.sessions ?? [])][0]?.journal.tail ?? 0;
    await expect.poll(tail, { timeout: 20_000 }).toBeGreaterThanOrEqual(1500);
    phone.readAgain();
    await expect.poll(async () => (await metrics()).get("acp_hub_connections_behind"), { timeout: 20_000 }).toBe(0);
    const after = await metrics();
    expect(after.get("acp_hub_catch_ups_total")).toBeGreaterThanOrEqual(1);
    expect(after.get("acp_hub_gaps_total")).toBeGreaterThanOrEqual(1);
    expect(after.get("acp_hub_sent_bytes_total")).toBeGreaterThan(1_000_000);
    expect(after.get("acp_hub_received_bytes_total")).toBeGreaterThan(100);
    await expect.poll(async () => (await metrics()).get("acp_hub_store_waiting_bytes"), { timeout: 10_000 }).toBe(0);

    phone.close();
    await expect.poll(async () => (await metrics()).get("acp_hub_connections")).toBe(0);
    const closed = await metrics();
    // What was sent stays counted.
    expect(closed.get("acp_hub_sent_bytes_total")).toBeGreaterThanOrEqual(after.get("acp_hub_sent_bytes_total") ?? 0);
    const closes = [...closed].filter(([name]) => name.startsWith("acp_hub_closed_total{"));
    expect(closes.reduce((sum, [, count]) => sum + count, 0)).toBe(1);
  });

  it("C3.metrics every metric of ours is in docs/operations.md", async () => {
    const { body } = await callHub(hub.paths, "GET", "/metrics");
    const names = [...String(body).matchAll(/^# TYPE (acp_hub_\S+)/gm)].map(([, name]) => name ?? "");
    const ours = names.filter((name) => !/^acp_hub_(process|nodejs)_/.test(name));
    expect(ours.length).toBeGreaterThan(10);
    const text = readFileSync("docs/operations.md", "utf8");
    expect(ours.filter((name) => !text.includes(`\`${name}\``))).toEqual([]);
  });

  it("C3.metrics a refused request is counted, and stands in the log under the id its answer carries", async () => {
    const answer = await ask(hub.port, "/api/instances", { headers: { "x-request-id": "forged" } });
    expect(answer.status).toBe(401);
    const id = String(answer.headers["x-request-id"]);
    expect(id).toMatch(/^[\w-]{12}$/);
    expect((await ask(hub.port, "/healthz")).headers["x-request-id"]).not.toBe(id);
    const line = hub
      .log()
      .split("\n")
      .find((each) => each.includes(id));
    expect(JSON.parse(line ?? "{}")).toMatchObject({
      msg: "request refused",
      status: 401,
      route: "/api/instances",
      requestId: id,
    });
    expect(hub.log()).not.toContain("forged");
    expect((await metrics()).get('acp_hub_refused_total{status="401"}')).toBe(1);
  });
});
