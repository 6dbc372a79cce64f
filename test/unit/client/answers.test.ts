import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { attached, connect, type World, world } from "../../support/client-world.ts";

describe("answers of this client", () => {
  const ask = (interactionId = "i1"): JsonObject => ({
    sessionId: "s1",
    toolCall: { toolCallId: "t1", title: "rm -rf build" },
    options: [{ optionId: "yes", name: "Allow", kind: "allow_once" }],
    _meta: { "acp-hub": { interactionId, openedAt: 5 } },
  });
  const settle = (w: World, connectionId: string): void =>
    w.hub.socket.notify("_acp-hub/interaction_settled", {
      sessionId: "s1",
      interactionId: "i1",
      outcome: { action: "answered", optionId: "yes" },
      by: { connectionId, device: "d", name: "Zed" },
      at: 9,
    });
  const yes = { outcome: { outcome: "selected", optionId: "yes" } };
  const open = (w: World) => w.client.interactions.value.open;

  it("goes from sending over accepted to applied", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.ask(1, "session/request_permission", ask());
    const answering = w.client.answer("i1", yes);
    expect(open(w)[0]?.answer?.state).toBe("sending");
    expect(w.hub.socket.received).toContainEqual({ jsonrpc: "2.0", id: 1, result: yes });
    w.hub.socket.reply("_acp-hub/queue/list", { queue: [] });
    await answering;
    expect(open(w)[0]?.answer?.state).toBe("accepted");
    settle(w, "c1");
    expect(w.client.interactions.value).toMatchObject({ open: [], settled: [{ own: "applied" }] });
  });

  it("says who was faster", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.ask(1, "session/request_permission", ask());
    void w.client.answer("i1", yes);
    settle(w, "other");
    expect(w.client.interactions.value.settled[0]).toMatchObject({ own: "lost", notice: { by: { name: "Zed" } } });
  });

  it("H2 gives the answer again when the socket went before anyone knew", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.ask(1, "session/request_permission", ask());
    void w.client.answer("i1", yes);
    w.hub.socket.drop();
    await w.clock.advance(1000);
    await connect(w);
    w.hub.socket.ask(1, "session/request_permission", ask());
    expect(w.hub.socket.received).toContainEqual({ jsonrpc: "2.0", id: 1, result: yes });
    settle(w, "c1");
    expect(w.client.interactions.value.settled[0]?.own).toBe("applied");
  });

  it("N1 keeps one card when the hub withdraws it and asks again", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.ask(1, "session/request_permission", ask());
    w.hub.socket.notify("$/cancel_request", { requestId: 1, id: 1 });
    expect(open(w)[0]?.isWithdrawn).toBe(true);
    w.hub.socket.ask(2, "session/request_permission", ask());
    expect(open(w)).toHaveLength(1);
    expect(open(w)[0]).toMatchObject({ rpcId: 2, isWithdrawn: false, openedAt: 5 });
  });

  it("a notice with parts missing or of another kind breaks nothing and loses no card", async () => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.ask(1, "session/request_permission", ask());
    const broken: readonly (readonly [string, JsonObject])[] = [
      ["_acp-hub/turn", { sessionId: "s1", state: "flying", queue: "none", by: 7, error: "gone" }],
      ["_acp-hub/turn", { sessionId: "s1", state: "running", queue: [null, 3, {}] }],
      ["_acp-hub/interaction_settled", { sessionId: "s1" }],
      ["_acp-hub/interaction_settled", { sessionId: "s1", interactionId: "other", outcome: { action: "answered" } }],
    ];
    for (const [method, params] of broken) w.hub.socket.notify(method, params);
    expect(open(w)).toHaveLength(1);
    expect(session.view.value.transcript.turn).toMatchObject({ state: "running", queue: [{ title: "" }] });
    w.hub.socket.notify("_acp-hub/interaction_settled", { interactionId: "i1", outcome: { action: "new to us" } });
    const [entry] = w.client.interactions.value.settled;
    expect(entry?.notice).toMatchObject({ outcome: { action: "ended" }, by: { name: "unknown" }, at: 0 });
    expect(open(w)).toHaveLength(0);
  });

  it("X10 shows several, oldest first, and loses none", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.ask(1, "session/request_permission", ask("i2"));
    w.hub.socket.ask(2, "elicitation/create", {
      ...ask("i1"),
      _meta: { "acp-hub": { interactionId: "i1", openedAt: 1 } },
    });
    expect(open(w).map((card) => card.interactionId)).toEqual(["i1", "i2"]);
  });

  it("X3 shows why an answer was refused and stays open", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.ask(1, "session/request_permission", ask());
    void w.client.answer("i1", yes);
    w.hub.socket.notify("_acp-hub/interaction_rejected", { interactionId: "i1", reason: "unknown option" });
    expect(open(w)[0]).toMatchObject({ answer: undefined, rejected: "unknown option" });
  });

  it("refuses requests it does not know, so that nothing hangs", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.ask(7, "fs/read_text_file", { path: "/etc/passwd" });
    expect(w.hub.socket.received.at(-1)).toMatchObject({ id: 7, error: { code: -32601 } });
  });
});
