import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import { Pusher, type PushMessage } from "../../../src/hub/push/pusher.ts";
import { readSubscription, Subscriptions, vapidKeys } from "../../../src/hub/push/subscriptions.ts";
import { PushTriggers } from "../../../src/hub/push/triggers.ts";
import { SCRIPTED_AGENT } from "../../support/cli.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { connectClient, rawClient } from "../../support/raw-client.ts";

const body = { subscription: { endpoint: "https://push.example.org/x", keys: { p256dh: "p", auth: "a" } } };

describe("pushes", () => {
  let dir: string;
  let harness: HubHarness;
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-push-"));
    harness = await startHub();
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  const subscribed = async (): Promise<{
    subscriptions: Subscriptions;
    record: Exclude<ReturnType<typeof readSubscription>, string>;
  }> => {
    const subscriptions = new Subscriptions(dir);
    const record = readSubscription("d_phone", body);
    if (typeof record === "string") throw new Error(record);
    await subscriptions.put(record);
    return { subscriptions, record };
  };

  it("tells of a new question and of a turn's end, only while nobody looks at that session", async () => {
    const { subscriptions } = await subscribed();
    const sent: PushMessage[] = [];
    const pusher = new Pusher(
      subscriptions,
      (_record, payload) => {
        sent.push(JSON.parse(payload) as PushMessage);
        return Promise.resolve(201);
      },
      pino({ level: "silent" }),
    );
    const triggers = new PushTriggers(pusher, (device) => ({ device, isOwner: false }));
    harness.hub.observers.add((instance, observation) => triggers.onObservation(instance, observation));
    const script = { sessionIds: ["s1"], turns: [[{ ask: true }, { say: "done" }]] };
    const backend = acpBackend({
      command: process.execPath,
      args: [SCRIPTED_AGENT, JSON.stringify(script)],
      name: "agent",
    });
    const editor = rawClient(harness.bridge(backend).editor);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await editor.call("session/new", { cwd: "/", mcpServers: [] });
    await expect.poll(() => harness.hub.registry.list().length).toBe(1);
    const prompt = () =>
      editor.call("session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: "secret words" }] });
    const answer = async () => {
      const ask = await editor.nextRequest("session/request_permission");
      const [option] = ask.params["options"] as { optionId: string }[];
      editor.answer(ask.id, { outcome: { outcome: "selected", optionId: option?.optionId ?? "" } });
    };
    let turn = prompt();
    await expect.poll(() => sent.map((message) => message.kind)).toEqual(["needs-you"]);
    await answer();
    await turn;
    await expect.poll(() => sent.map((message) => message.kind)).toEqual(["needs-you", "turn-ended"]);
    const viewer = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "viewer:phone");
    await viewer.initialize();
    await viewer.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
    turn = prompt();
    await answer();
    await turn;
    await expect.poll(() => viewer.textOf("agent_message_chunk")).toBe("donedone");
    expect(sent).toHaveLength(2);
    expect(pusher.deliveries("d_phone").map((each) => each.status)).toEqual([201, 201]);
  });

  it("forgets a subscription the push service no longer knows, and keeps the others over a restart", async () => {
    const { subscriptions, record } = await subscribed();
    await subscriptions.put({ ...record, deviceId: "d_other" });
    const gone = Object.assign(new Error("gone"), { statusCode: 410 });
    const pusher = new Pusher(
      subscriptions,
      (each) => (each.deviceId === "d_phone" ? Promise.reject(gone) : Promise.resolve(201)),
      pino({ level: "silent" }),
    );
    await pusher.tell({ kind: "needs-you", title: "t", body: "b", tag: "x", url: "#/" });
    const again = new Subscriptions(dir);
    await again.load();
    expect(again.list().map((each) => each.deviceId)).toEqual(["d_other"]);
    expect(statSync(join(dir, "push.json")).mode & 0o777).toBe(0o600);
  });

  it("dials only public https names, whatever a device subscribes with", () => {
    for (const endpoint of [
      "http://push.example.org/x",
      "https://127.0.0.1/x",
      "https://[::1]/",
      "https://router.local/",
      "https://localhost/",
      "junk",
    ]) {
      expect(readSubscription("d", { subscription: { ...body.subscription, endpoint } })).toMatch(/https/);
    }
  });

  it("keeps one key pair: subscriptions are bound to it", async () => {
    const first = await vapidKeys(dir);
    expect(await vapidKeys(dir)).toEqual(first);
    expect(statSync(join(dir, "vapid.json")).mode & 0o777).toBe(0o600);
  });
});
