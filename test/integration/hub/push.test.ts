import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { acpBackend } from "../../../src/backends/acp/acp-backend.ts";
import { PreferenceStore } from "../../../src/hub/push/preferences.ts";
import { Pusher, type PushMessage } from "../../../src/hub/push/pusher.ts";
import { SeenSessions } from "../../../src/hub/push/seen.ts";
import type { PushAnswer, SendPush } from "../../../src/hub/push/sender.ts";
import { readSubscription, Subscriptions, vapidKeys } from "../../../src/hub/push/subscriptions.ts";
import { PushTriggers } from "../../../src/hub/push/triggers.ts";
import { SCRIPTED_AGENT } from "../../support/cli.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { PushReceiver } from "../../support/push-service.ts";
import { connectClient, rawClient } from "../../support/raw-client.ts";

const keys = new PushReceiver().subscription("").keys;
const body = { subscription: { endpoint: "https://push.example.org/x", keys } };
const answered = (status: number): PushAnswer => ({ status, retryAfterMs: undefined });

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

  const pusherOf = (subscriptions: Subscriptions, send: SendPush): Pusher =>
    new Pusher({
      subscriptions,
      preferences: new PreferenceStore(dir),
      send,
      log: pino({ level: "silent" }),
      wait: () => Promise.reject(new Error("not waited for here")),
    });

  /** An editor's session that asks for permission in each turn; what is pushed of it. */
  const stageOf = async (unnoticedMs: number) => {
    const { subscriptions } = await subscribed();
    const sent: PushMessage[] = [];
    const pusher = pusherOf(subscriptions, (_record, message) => {
      sent.push(message);
      return Promise.resolve(answered(201));
    });
    const seen = new SeenSessions();
    const triggers = new PushTriggers({
      pusher,
      seen,
      unnoticedMs,
      personOf: (device) => ({ device, isOwner: false }),
    });
    harness.hub.observers.add((instance, observation) => triggers.onObservation(instance, observation));
    const script = { sessionIds: ["s1"], turns: [[{ ask: true }, { say: "done" }]] };
    const args = [SCRIPTED_AGENT, JSON.stringify(script)];
    const editor = rawClient(harness.bridge(acpBackend({ command: process.execPath, args, name: "agent" })).editor);
    await editor.call("initialize", { protocolVersion: 1, clientCapabilities: {} });
    await editor.call("session/new", { cwd: "/", mcpServers: [] });
    await expect.poll(() => harness.hub.registry.get("i-0")?.mirror.holdsSession("s1"), { timeout: 10_000 }).toBe(true);
    const prompt = () =>
      editor.call("session/prompt", { sessionId: "s1", prompt: [{ type: "text", text: "secret words" }] });
    const answer = async () => {
      const ask = await editor.nextRequest("session/request_permission");
      const [option] = ask.params["options"] as { optionId: string }[];
      editor.answer(ask.id, { outcome: { outcome: "selected", optionId: option?.optionId ?? "" } });
    };
    /** A phone that has the session attached. */
    const attach = async () => {
      const viewer = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "viewer:phone");
      await viewer.initialize();
      await viewer.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
      return viewer;
    };
    const kinds = () => sent.map((message) => message.kind);
    return { sent, kinds, pusher, seen, triggers, prompt, answer, attach };
  };

  it("tells of a new question and of a turn's end, only while no screen shows that session", async () => {
    const { kinds, pusher, seen, triggers, prompt, answer, attach } = await stageOf(60_000);
    let turn = prompt();
    await expect.poll(kinds).toEqual(["needs-you"]);
    await answer();
    await turn;
    await expect.poll(kinds).toEqual(["needs-you", "turn-ended"]);
    const viewer = await attach();
    seen.set("d_phone", "s1");
    turn = prompt();
    await answer();
    await turn;
    await expect.poll(() => viewer.textOf("agent_message_chunk")).toBe("donedone");
    // What the next turn leads to comes behind what this one could.
    seen.set("d_phone", undefined);
    turn = prompt();
    await expect.poll(kinds).toEqual(["needs-you", "turn-ended", "needs-you"]);
    await expect.poll(() => pusher.deliveries("d_phone").map((each) => each.status)).toEqual([201, 201, 201]);
    await answer();
    await turn;
    triggers.stop();
  });

  it("a client that is attached and shows nothing to anybody keeps no push back", async () => {
    const { kinds, triggers, prompt, answer, attach } = await stageOf(60_000);
    await attach();
    const turn = prompt();
    await expect.poll(kinds).toEqual(["needs-you"]);
    await answer();
    await turn;
    triggers.stop();
  });

  it("a question that stays open on a screen nobody sits at is told after a while", async () => {
    const { kinds, seen, triggers, prompt, answer, attach } = await stageOf(50);
    await attach();
    seen.set("d_phone", "s1");
    const turn = prompt();
    await expect.poll(kinds).toEqual(["needs-you"]);
    await answer();
    await turn;
    triggers.stop();
  });

  it("forgets a subscription the push service no longer knows, and keeps the others over a restart", async () => {
    const { subscriptions, record } = await subscribed();
    await subscriptions.put({ ...record, deviceId: "d_other", endpoint: "https://push.example.org/y" });
    const pusher = pusherOf(subscriptions, (each) =>
      Promise.resolve(answered(each.deviceId === "d_phone" ? 410 : 201)),
    );
    const message = { kind: "needs-you", title: "t", body: "b", tag: "x", url: "#/" } as const;
    await pusher.tell(message, { kind: "needs-you", sessionId: "s1", isFor: () => true, isDue: () => true });
    const again = new Subscriptions(dir);
    await again.load();
    expect(again.list().map((each) => each.deviceId)).toEqual(["d_other"]);
    expect(statSync(join(dir, "push.json")).mode & 0o777).toBe(0o600);
  });

  it("takes only keys a push can be encrypted for", () => {
    for (const bad of [{ ...keys, p256dh: "AAAA" }, { ...keys, auth: "AAAA" }, { auth: keys.auth }, {}]) {
      expect(readSubscription("d", { subscription: { ...body.subscription, keys: bad } })).toMatch(
        /"subscription.keys/,
      );
    }
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
