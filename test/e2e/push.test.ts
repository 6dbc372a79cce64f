/** Web Push as it leaves the built hub, judged by a push service and opened with a browser's keys. */
import { createHash } from "node:crypto";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/protocol/json.ts";
import { PushReceiver, PushService, verifyVapid } from "../support/push-service.ts";
import { Stage, textPrompt } from "../support/stage.ts";

/** How long a fact is waited for. */
const WAIT = { timeout: 15_000 };

const COMMAND = "rm -rf the-secret-place";
const ASK = { toolCall: { toolCallId: "t1", title: "Clean up", rawInput: { command: COMMAND } } };

describe("Web Push to a push service", () => {
  let stage: Stage;
  let service: PushService;
  let browser: PushReceiver;
  let token: string;

  beforeEach(async () => {
    stage = new Stage();
    service = new PushService();
    browser = new PushReceiver();
    await service.start();
    await stage.serve([], service.env);
    token = await stage.token("driver");
  });
  afterEach(async () => {
    await stage.end();
    await service.stop();
  });

  /** As the app does, over the network. */
  const api = (method: string, path: string, body?: JsonObject): Promise<Response> =>
    fetch(`${stage.url}${path}`, {
      method,
      headers: { authorization: `Bearer ${token}`, ...(body !== undefined && { "content-type": "application/json" }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  const subscribe = async (to = "phone"): Promise<void> => {
    const response = await api("PUT", "/api/push/subscription", {
      subscription: browser.subscription(service.endpoint(to)),
    });
    expect(response.status).toBe(204);
  };
  const deliveries = async (): Promise<JsonObject[]> =>
    ((await (await api("GET", "/api/push/deliveries")).json()) as { deliveries: JsonObject[] }).deliveries;
  const opened = (index: number): JsonObject =>
    JSON.parse(browser.open(service.received[index]?.body ?? Buffer.alloc(0))) as JsonObject;
  /** An editor's session in which the agent asks for permission, and then ends its turn. */
  const asking = async () => {
    const shared = await stage.share({ turns: [[{ ask: ASK }], [{ ask: ASK }], [{ say: "done" }]] });
    await stage.linked();
    const turn = () => shared.editor.call("session/prompt", textPrompt(shared.sessionId, "go on"));
    const answer = async () => {
      const { id, params } = await shared.editor.nextRequest("session/request_permission");
      const [option] = params["options"] as { optionId: string }[];
      shared.editor.answer(id, { outcome: { outcome: "selected", optionId: option?.optionId ?? "" } });
    };
    return { ...shared, turn, answer };
  };

  it("is signed, encrypted for the one browser, and says that something waits but not what", async () => {
    await subscribe();
    const { sessionId, turn, answer } = await asking();
    const running = turn();
    await expect.poll(() => service.received.length, WAIT).toBe(1);
    const [push] = service.received;
    const { publicKey } = (await (await api("GET", "/api/push/key")).json()) as { publicKey: string };
    const { key, claims } = await verifyVapid(push?.headers.authorization ?? "", service.origin);
    expect(key).toBe(publicKey);
    expect(claims.sub).toMatch(/^(?:mailto:|https:)/);
    expect((claims.exp ?? 0) * 1000).toBeLessThanOrEqual(Date.now() + 86_400_000);
    expect(push?.headers).toMatchObject({ "content-encoding": "aes128gcm", ttl: "43200", urgency: "high" });
    expect(push?.body.length).toBeLessThan(4096);
    const message = opened(0);
    expect(message).toMatchObject({ kind: "needs-you", title: "Needs you", url: `#/session/${sessionId}` });
    expect(JSON.stringify(message)).not.toContain("secret");
    expect(push?.headers["topic"]).toBe(
      createHash("sha256").update(String(message["tag"])).digest("base64url").slice(0, 32),
    );
    expect(() => new PushReceiver().open(push?.body ?? Buffer.alloc(0))).toThrow();
    await answer();
    await running;
    await expect.poll(() => service.received.length, WAIT).toBe(2);
    expect(service.received[1]?.headers).toMatchObject({ ttl: "3600", urgency: "normal" });
    expect(opened(1)).toMatchObject({ kind: "turn-ended" });
  });

  it("the test of a device goes the same way", async () => {
    expect((await api("POST", "/api/push/test", {})).status).toBe(404);
    await subscribe();
    expect((await api("POST", "/api/push/test", {})).status).toBe(202);
    expect(opened(0)).toMatchObject({ kind: "test", body: "Pushes reach this device" });
    expect(await deliveries()).toMatchObject([{ kind: "test", status: 201 }]);
  });

  it("a busy push service is asked again", async () => {
    await subscribe();
    service.answers.push({ status: 429, headers: { "Retry-After": "1" } }, { status: 503 });
    const { turn, answer } = await asking();
    const running = turn();
    await expect.poll(deliveries, WAIT).toMatchObject([{ status: 503 }, { status: 429 }]);
    expect(opened(1)).toEqual(opened(0));
    await answer();
    await running;
  });

  it("a subscription the push service has dropped is forgotten", async () => {
    await subscribe();
    service.answers.push({ status: 410 });
    const { turn, answer } = await asking();
    const running = turn();
    await expect.poll(deliveries, WAIT).toMatchObject([{ status: 410 }]);
    expect((await api("POST", "/api/push/test", {})).status).toBe(404);
    await answer();
    await running;
    expect(service.received).toHaveLength(1);
  });

  it("keeps quiet when the device wants it, over a restart, and lets questions through where they may", async () => {
    await subscribe();
    // A minute of the day is loud: this one must not be it.
    const [from, to] = new Date().getUTCHours() === 23 ? ["12:00", "11:59"] : ["00:00", "23:59"];
    const all = { from, to, timeZone: "UTC", letsQuestionsThrough: false };
    expect(await (await api("PATCH", "/api/push/preferences", { quietHours: all })).json()).toEqual({
      quietHours: all,
      mutedSessions: [],
    });
    const port = new URL(stage.url).port;
    const stopped = await stage.home.run(["stop"]);
    expect(stopped.code).toBe(0);
    await stage.serve(["--port", port], service.env);
    const { sessionId, turn, answer } = await asking();
    let running = turn();
    await expect.poll(deliveries, WAIT).toMatchObject([{ kind: "needs-you", hushed: "quiet-hours" }]);
    await answer();
    await running;
    expect(service.received).toEqual([]);
    await api("PATCH", "/api/push/preferences", { quietHours: { ...all, letsQuestionsThrough: true } });
    running = turn();
    await expect.poll(() => service.received.length, WAIT).toBe(1);
    expect(opened(0)).toMatchObject({ kind: "needs-you" });
    await answer();
    await running;
    await api("PATCH", "/api/push/preferences", { quietHours: null, mute: sessionId });
    await turn();
    await expect.poll(async () => (await deliveries())[0], WAIT).toMatchObject({ kind: "turn-ended", hushed: "muted" });
    expect(service.received).toHaveLength(1);
  });
});
