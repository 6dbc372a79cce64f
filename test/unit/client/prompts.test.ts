import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { attached, connect, loaded, stamp, text, type World, world } from "../../support/client-world.ts";
import { settled } from "../../support/manual-clock.ts";

describe("prompts of this client", () => {
  const blocks = [{ type: "text", text: "fix it" }];
  const delivery = (w: World): string | undefined => w.client.outbox.entries.value[0]?.delivery;
  const notice = (w: World, seq: number, body: JsonObject): void =>
    w.hub.socket.notify("_acp-hub/turn", { sessionId: "s1", queue: [], _meta: { "acp-hub": stamp(seq) }, ...body });

  it("O3 moves the marks on the hub's evidence and echoes the prompt when it starts", async () => {
    const w = world();
    const session = await attached(w);
    w.client.prompt("s1", blocks);
    expect(delivery(w)).toBe("phone");
    const by = { connectionId: "c1", device: "d", name: "Pixel" };
    notice(w, 2, { state: "running", queue: [{ promptId: "p1", by, queuedAt: 1, title: "fix it" }] });
    expect(delivery(w)).toBe("hub");
    expect(text(session)).toBe("one ");
    notice(w, 3, { state: "running", promptId: "p1", by });
    expect(delivery(w)).toBe("started");
    expect(text(session)).toBe("one |fix it");
    w.hub.socket.reply("session/prompt", { stopReason: "end_turn" });
    await settled();
    expect(delivery(w)).toBe("done");
  });

  it("O1 sends the same id again after a lost link, and shows the prompt once", async () => {
    const w = world();
    const session = await attached(w);
    w.client.prompt("s1", blocks);
    notice(w, 2, { state: "running", promptId: "p1" });
    w.hub.socket.drop();
    await settled();
    expect(delivery(w)).toBe("started");
    await w.clock.advance(1000);
    await connect(w);
    const echo = { sessionUpdate: "user_message_chunk", messageId: "u1", content: blocks[0] ?? null };
    w.hub.socket.update(echo, stamp(3, { replay: true, promptId: "p1" }));
    w.hub.socket.reply("session/load", loaded("ok", 3));
    await settled();
    expect(w.hub.socket.request("session/prompt").params).toMatchObject({ _meta: { "acp-hub": { promptId: "p1" } } });
    expect(text(session)).toBe("one |fix it");
    w.hub.socket.reply("session/prompt", { stopReason: "end_turn" });
    await settled();
    expect(delivery(w)).toBe("done");
  });

  it("O1 keeps a prompt typed offline and sends it when the session is attached", async () => {
    const w = world();
    await w.client.open("s1");
    w.client.prompt("s1", blocks);
    expect(delivery(w)).toBe("phone");
    await connect(w);
    expect(w.hub.socket.count("session/prompt")).toBe(0);
    w.hub.socket.reply("session/load", loaded("ok", 0));
    await settled();
    expect(w.hub.socket.count("session/prompt")).toBe(1);
  });

  it("O2 a refused prompt stays with its reason and goes again under its id", async () => {
    const w = world();
    await attached(w);
    w.client.prompt("s1", blocks);
    w.hub.socket.refuse("session/prompt", -32603, "the queue is full", { code: "lane-full" });
    await settled();
    expect(w.client.outbox.entries.value[0]).toMatchObject({
      delivery: "failed",
      failure: { message: "the queue is full", hubCode: "lane-full", canRetry: true },
    });
    w.client.retryPrompt("p1");
    expect(w.hub.socket.count("session/prompt")).toBe(2);
    w.hub.socket.refuse("session/prompt", -32603, "nobody knows", { code: "outcome-unknown" });
    await settled();
    expect(w.client.outbox.entries.value[0]?.failure?.canRetry).toBe(false);
  });

  it("takes back a waiting prompt", async () => {
    const w = world();
    await attached(w);
    w.client.prompt("s1", blocks);
    notice(w, 2, { state: "running", queue: [{ promptId: "p1", by: {}, queuedAt: 1, title: "" }] });
    const gone = w.client.withdrawPrompt("p1");
    w.hub.socket.reply("_acp-hub/queue/remove", {});
    expect(await gone).toBe(true);
    w.hub.socket.refuse("session/prompt", -32800, "removed");
    await settled();
    expect(w.client.outbox.entries.value).toEqual([]);
  });
});
