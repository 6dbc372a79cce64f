import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sessionRoutes } from "../../../src/hub/http/session-routes.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

describe("closing and renaming sessions over HTTP", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  let editor: RawClient;
  let phone: RawClient;
  beforeEach(async () => {
    harness = await startHub({
      routes: (hub) => [sessionRoutes({ registry: hub.registry, isStarting: () => false })],
    });
    agent = puppetAgent();
    editor = rawClient(harness.bridge(agent.backend).editor);
    await editor.initialize({});
    await editor.call("session/new", { cwd: "/project", mcpServers: [] });
    await expect.poll(() => [...(harness.hub.registry.get("i-0")?.mirror.sessions ?? [])].length).toBe(1);
    phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "driver:phone");
    await phone.initialize();
    await phone.call("session/load", { sessionId: "s1", cwd: "/project", mcpServers: [] });
  });
  afterEach(() => harness.stop());

  const post = async (what: string, body: unknown, session = "s1", preset = "driver") => {
    const answer = await fetch(`${harness.url}/api/instances/i-0/sessions/${session}/${what}`, {
      method: "POST",
      headers: { authorization: `Bearer ${preset}:laptop`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };
  const titles = (client: RawClient): unknown[] =>
    client.updates().flatMap((update) => (update["sessionUpdate"] === "session_info_update" ? [update["title"]] : []));
  const titleInHub = (): unknown => [...(harness.hub.registry.get("i-0")?.mirror.sessions ?? [])][0]?.info.title;

  it("S6 a rename goes to an agent that keeps titles, and what it made of it is told to the others", async () => {
    agent.on("session/set_title", (params) => ({ title: String(params["title"]).toUpperCase() }));
    expect(await post("rename", { title: " a better name " })).toEqual({
      status: 200,
      body: { title: "A BETTER NAME" },
    });
    await expect.poll(() => titles(phone)).toEqual(["A BETTER NAME"]);
    await expect.poll(() => titles(editor)).toEqual(["A BETTER NAME"]);
    await expect.poll(titleInHub).toBe("A BETTER NAME");
  });

  it("S6 where the agent keeps no titles the bridge does, and the others are told", async () => {
    expect(await post("rename", { title: "mine" })).toEqual({ status: 200, body: { title: "mine" } });
    await expect.poll(() => titles(phone)).toEqual(["mine"]);
    await expect.poll(() => titles(editor)).toEqual(["mine"]);
    await expect.poll(titleInHub).toBe("mine");
  });

  it("I5 an editor that renames is told what its agent can", async () => {
    await expect(editor.call("session/set_title", { sessionId: "s1", title: "x" })).rejects.toMatchObject({
      code: -32601,
    });
    agent.update("s1", { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "later" } });
    await expect.poll(() => phone.textOf("agent_message_chunk")).toBe("later");
    expect(titles(phone)).toEqual([]);
  });

  it("S6 a rename is allowed while a turn runs, a close is 409 until it is forced", async () => {
    agent.on("session/prompt", () => undefined);
    agent.on("session/close", () => ({}));
    void editor
      .call("session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: "go" }] })
      .catch(() => undefined);
    await expect.poll(() => phone.textOf("user_message_chunk")).toBe("go");
    expect(await post("rename", { title: "busy" })).toMatchObject({ status: 200 });
    expect(await post("close", {})).toMatchObject({ status: 409, body: { code: "session-running" } });
    expect(await post("close", { force: true })).toEqual({ status: 200, body: { closed: true } });
    expect(agent.calls.filter((call) => call.method === "session/close")).toHaveLength(1);
    expect(await phone.nextNotification("_acp-hub/detached")).toMatchObject({ sessionId: "s1", reason: "closed" });
  });

  it("S6 a close reaches the agent though others are attached, and the session is gone from the hub", async () => {
    agent.on("session/close", () => ({}));
    expect(await post("close", {})).toEqual({ status: 200, body: { closed: true } });
    expect(agent.calls.filter((call) => call.method === "session/close")).toEqual([
      { method: "session/close", params: { sessionId: "s1" } },
    ]);
    expect(await phone.nextNotification("_acp-hub/detached")).toMatchObject({ sessionId: "s1", reason: "closed" });
    expect((await post("close", {})).status).toBe(404);
  });

  it("C3.problem what cannot be done has a status and a code", async () => {
    expect(await post("close", {})).toMatchObject({ status: 501, body: { code: "unsupported" } });
    agent.on("session/close", (_params, id) => {
      agent.wire.refuse(id, -32603);
      return undefined;
    });
    expect(await post("close", {})).toMatchObject({ status: 502 });
    expect(await post("close", {}, "other")).toMatchObject({ status: 404, body: { code: "unknown-session" } });
    for (const title of [undefined, "", "  ", 7, "x".repeat(4097)])
      expect(await post("rename", { title })).toMatchObject({ status: 400 });
    expect(await post("rename", { title: "x" }, "s1", "approver")).toMatchObject({
      status: 403,
      body: { code: "missing-scope", missing: ["sessions:prompt"] },
    });
  });
});
