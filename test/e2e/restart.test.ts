import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { objectAt } from "../../src/protocol/json.ts";
import { readStamp } from "../../src/protocol/meta.ts";
import type { RawClient } from "../support/raw-client.ts";
import { loadOf, Stage, scripted, textPrompt } from "../support/stage.ts";

const cursorOf = (client: RawClient): { epoch: string; seq: number } => {
  const { epoch, seq } = readStamp(client.notifications("session/update").at(-1)) ?? { epoch: "", seq: 0 };
  return { epoch, seq };
};

describe("hubs and bridges that end", () => {
  let stage: Stage;
  let hub: Awaited<ReturnType<Stage["serve"]>>;
  beforeEach(async () => {
    stage = new Stage();
    hub = await stage.serve();
  });
  afterEach(() => stage.end());

  for (const signal of ["SIGTERM", "SIGKILL"] as const) {
    it(`L2 S3 H10 a hub ended by ${signal} in mid-stream: the client that returns with its cursor has all, once`, async () => {
      const { editor, sessionId } = await stage.share({
        turns: [[{ stream: { count: 600, everyMs: 4 } }, { ask: true }]],
      });
      const id = (await stage.linked())[0]?.id;
      const before = await stage.client("driver", `?instance=${id}`);
      await before.call("session/load", loadOf(sessionId));
      const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
      await expect.poll(() => before.updates().length, { interval: 5 }).toBeGreaterThan(50);
      const gone = new Promise((resolve) => hub.child.once("exit", resolve));
      hub.child.kill(signal);
      await gone;
      await expect.poll(() => before.closed?.code).toBe(signal === "SIGTERM" ? 1001 : 1006);
      const seen = editor.updates().length;
      const port = String(hub.port);
      hub = await stage.serve(["--port", port]);
      expect((await stage.linked())[0]?.id).toBe(id);
      expect(editor.updates().length).toBeGreaterThan(seen);
      const after = await stage.client("driver", `?instance=${id}`);
      const loaded = await after.call("session/load", loadOf(sessionId, { cursor: cursorOf(before) }));
      expect(objectAt(objectAt(loaded, "_meta"), "acp-hub")?.["verdict"]).toBe("ok");
      const asked = await after.nextRequest("session/request_permission");
      after.answer(asked.id, { outcome: { outcome: "selected", optionId: "allow" } });
      expect(await turn).toEqual({ stopReason: "end_turn" });
      const whole = editor.textOf("agent_message_chunk");
      await expect.poll(() => before.textOf("agent_message_chunk") + after.textOf("agent_message_chunk")).toBe(whole);
      const fresh = await stage.client("viewer", `?instance=${id}`);
      await fresh.call("session/load", loadOf(sessionId));
      expect(fresh.textOf("agent_message_chunk")).toBe(whole);
    });
  }

  it("L2 R4 an open question survives the hub: still open after it, answered once, told to all", async () => {
    const { editor, sessionId } = await stage.share({ turns: [[{ ask: true }, { say: "$answer" }]] });
    await stage.linked();
    const turn = editor.call("session/prompt", textPrompt(sessionId, "go"));
    await expect.poll(async () => ((await stage.api("GET", "/api/interactions")).body as unknown[]).length).toBe(1);
    const open = async (): Promise<{ interactionId: string }[]> =>
      (await stage.api("GET", "/api/interactions")).body as { interactionId: string }[];
    const [first] = await open();
    hub.child.kill("SIGKILL");
    await new Promise((resolve) => hub.child.once("exit", resolve));
    await stage.serve();
    await stage.linked();
    expect(await open()).toMatchObject([{ interactionId: first?.interactionId }]);
    const path = `/api/interactions/${first?.interactionId}/answer`;
    const answers = await Promise.all([1, 2, 3].map(() => stage.api("POST", path, { answer: { optionId: "allow" } })));
    expect(answers.map(({ status }) => status)).toContain(200);
    expect(await turn).toEqual({ stopReason: "end_turn" });
    expect(editor.textOf("agent_message_chunk")).toBe('{"outcome":{"outcome":"selected","optionId":"allow"}}');
    expect(await open()).toEqual([]);
  });

  it("L3 S1 a killed bridge is gone at once: its question ends, its readers are told, its history stays, prompts are -32004", async () => {
    const { editor, sessionId, child } = await stage.share({ turns: [[{ say: "Before the end." }, { ask: true }]] });
    const id = (await stage.linked())[0]?.id;
    const bound = await stage.client("driver", `?instance=${id}`);
    const wide = await stage.client("driver");
    for (const client of [bound, wide]) await client.call("session/load", loadOf(sessionId));
    editor.call("session/prompt", textPrompt(sessionId, "go")).catch(() => undefined);
    await bound.nextRequest("session/request_permission");
    await wide.nextRequest("session/request_permission");
    const killedAt = performance.now();
    child.kill("SIGKILL");
    const detached = await wide.nextNotification("_acp-hub/detached");
    const tookMs = performance.now() - killedAt;
    expect(detached).toMatchObject({ sessionId, reason: "instance-gone" });
    expect(tookMs).toBeLessThan(5000);
    await expect.poll(() => bound.closed?.code).toBe(4404);
    expect(bound.notifications("_acp-hub/interaction_settled").at(-1)).toMatchObject({ outcome: { action: "ended" } });
    expect(wide.notifications("$/cancel_request").length).toBe(1);
    expect(await stage.instances()).toEqual([]);
    expect((await stage.api("GET", "/api/interactions")).body).toEqual([]);
    const loaded = await wide.call("session/load", loadOf(sessionId));
    expect(objectAt(objectAt(loaded, "_meta"), "acp-hub")?.["readOnly"]).toBe(true);
    await expect(wide.call("session/prompt", textPrompt(sessionId, "still there?"))).rejects.toMatchObject({
      code: -32004,
    });
  });

  it("L5 an instance on its way back after a hub's start is 503 with Retry-After, never 404", async () => {
    const { sessionId } = await stage.share();
    expect(sessionId).toBe("s1");
    const id = (await stage.linked())[0]?.id;
    hub.child.kill("SIGKILL");
    await new Promise((resolve) => hub.child.once("exit", resolve));
    await stage.serve();
    const seen = new Set<number>();
    for (;;) {
      const { status } = await stage.api("GET", `/api/instances/${id}`);
      seen.add(status);
      if (status === 200) break;
    }
    expect([...seen].every((status) => status === 200 || status === 503)).toBe(true);
  });

  it("L3 a bridge that ends with its editor is gone for the hub, and a second one of the same agent is another instance", async () => {
    const first = await stage.share({ turns: [[{ say: "one" }]] });
    const [before] = await stage.linked();
    first.editor.close();
    await expect.poll(() => stage.instances(), { timeout: 5000 }).toEqual([]);
    const { editor } = stage.home.bridge(scripted());
    await editor.initialize({});
    expect((await stage.linked())[0]?.id).not.toBe(before?.id);
  });
});
