import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { SCRIPTED_AGENT } from "../../support/cli.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

const SIGN_IN = { mode: "url", url: "https://issuer.example.org/device", message: "Sign in", elicitationId: "e1" };
const script = {
  sessionIds: ["s1"],
  turns: [[{ request: { method: "elicitation/create", params: SIGN_IN } }, { say: "signed in: $answer" }]],
};

describe("an address an agent wants opened", () => {
  let harness: HubHarness;
  let editor: RawClient;
  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
    const args = [SCRIPTED_AGENT, JSON.stringify(script)];
    editor = rawClient(harness.bridge(acpBackend({ command: process.execPath, args, name: "agent" })).editor);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: { elicitation: { url: {} } } });
    await editor.call("session/new", { cwd: "/", mcpServers: [] });
    await expect.poll(() => harness.hub.registry.list()[0]?.mirror.holdsSession("s1")).toBe(true);
  });
  afterEach(() => harness.stop());

  const join = async (who: string): Promise<RawClient> => {
    const client = await connectClient(`ws://127.0.0.1:${harness.port}/acp`, who);
    await client.initialize({ elicitation: { url: {} }, _meta: { "acp-hub": {} } });
    await client.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
    return client;
  };
  const api = async (who: string, path = "", body?: object): Promise<{ status: number; body: JsonObject[] }> => {
    const answer = await fetch(`${harness.url}/api/interactions${path}`, {
      headers: { authorization: `Bearer ${who}`, "content-type": "application/json" },
      ...(body !== undefined && { method: "POST", body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as JsonObject[] };
  };

  it("X12 is listed to, asked of and answered by the device whose prompt led to it, over socket and HTTP, and no other", async () => {
    const phone = await join("driver:phone");
    const guest = await join("driver:guest");
    const owner = await join("owner:tablet");
    const turn = phone.call("session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: "sign me in" }] });
    await phone.nextRequest("elicitation/create");
    const { body } = await api("driver:phone");
    expect(body).toMatchObject([{ params: SIGN_IN }]);
    for (const other of ["driver:guest", "owner:tablet"]) expect((await api(other)).body).toEqual([]);
    const path = `/${String(body[0]?.["interactionId"])}/answer`;
    const accept = { answer: { action: "accept" } };
    for (const other of ["driver:guest", "owner:tablet"]) expect((await api(other, path, accept)).status).toBe(404);
    expect((await api("driver:phone", path, accept)).status).toBe(200);
    await turn;
    expect(phone.textOf("agent_message_chunk")).toContain("accept");
    for (const other of [guest, owner, editor]) {
      // It has everything up to the end of the turn.
      await expect.poll(() => other.textOf("agent_message_chunk")).toBe(phone.textOf("agent_message_chunk"));
      expect(JSON.stringify(other.frames.map(({ msg }) => msg))).not.toContain(SIGN_IN.url);
    }
  });
});
