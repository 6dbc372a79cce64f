import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import { IN_FLIGHT_MAX } from "../../../src/core/mirror/admission.ts";
import { SCRIPTED_AGENT } from "../../support/cli.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, rawClient } from "../../support/raw-client.ts";

describe("a client that asks faster than the agent answers", () => {
  let harness: HubHarness;
  beforeEach(async () => {
    harness = await startHub();
  });
  afterEach(() => harness.stop());

  it("C6.limits is refused by the request too many, and the others still get their answers", async () => {
    const script = { methods: { "_slow/method": { never: true } } };
    const backend = acpBackend({
      command: process.execPath,
      args: [SCRIPTED_AGENT, JSON.stringify(script)],
      name: "agent",
    });
    const editor = rawClient(harness.bridge(backend).editor);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const client = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "driver:phone");
    await client.initialize();
    const waiting = Array.from({ length: IN_FLIGHT_MAX }, () => client.call("_slow/method", {}).catch(() => undefined));
    await expect(client.call("_slow/method", {})).rejects.toMatchObject({
      code: -32603,
      data: { code: "too-many-requests" },
    });
    const other = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "driver:other");
    await other.initialize();
    expect(await other.call("session/list", {})).toEqual({ sessions: [] });
    client.close();
    await Promise.all(waiting);
  });
});
