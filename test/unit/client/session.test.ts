import { describe, expect, it } from "vitest";
import { HubClient as Client, type HubClient } from "../../../src/client/hub-client.ts";
import { memoryStorage } from "../../../src/client/ports.ts";
import type { SessionClient } from "../../../src/client/session.ts";
import { textOf } from "../../../src/client/transcript/blocks.ts";
import { EMPTY_TRANSCRIPT } from "../../../src/client/transcript/item.ts";
import { epoch } from "../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { ManualClock, settled } from "../../support/manual-clock.ts";
import { helloResult, ScriptedHub } from "../../support/scripted-hub.ts";

interface World {
  readonly clock: ManualClock;
  readonly hub: ScriptedHub;
  readonly client: HubClient;
}

function world(): World {
  const clock = new ManualClock();
  const hub = new ScriptedHub();
  let nextId = 1;
  const client = new Client({
    dial: () => Promise.resolve({ url: "ws://hub/acp" }),
    openSocket: hub.openSocket,
    clock,
    clientInfo: { name: "test", version: "1" },
    storage: memoryStorage(),
    newId: () => `p${nextId++}`,
  });
  return { clock, hub, client };
}

async function connect({ hub, client }: World): Promise<void> {
  client.start();
  await settled();
  hub.socket.open();
  hub.socket.reply("initialize", helloResult(`c${hub.sockets.length}`));
  await settled();
}

const methods = (w: World) => w.hub.socket.received.map(({ method }) => method);

const chunk = (text: string): JsonObject => ({
  sessionUpdate: "agent_message_chunk",
  messageId: "m1",
  content: { type: "text", text },
});

const stamp = (seq: number, extra: JsonObject = {}): JsonObject => ({ epoch: "e1", seq, ts: seq, ...extra });

const loaded = (verdict: string, seq: number, extra: JsonObject = {}): JsonObject => ({
  _meta: { "acp-hub": { verdict, cursor: { epoch: "e1", seq }, turn: "idle", openInteractions: 0, ...extra } },
});

async function attached(w: World): Promise<SessionClient> {
  const session = await w.client.open("s1");
  await connect(w);
  w.hub.socket.update(chunk("one "), stamp(1, { replay: true }));
  w.hub.socket.reply("session/load", loaded("ok", 1));
  await settled();
  return session;
}

const text = (session: SessionClient): string =>
  session.view.value.transcript.items
    .map((item) => ("blocks" in item ? textOf(item.blocks) : `[${item.kind}]`))
    .join("|");

describe("session", () => {
  it("A1 shows a replay in one step when the answer is in", async () => {
    const w = world();
    const session = await w.client.open("s1");
    await connect(w);
    w.hub.socket.update(chunk("one "), stamp(1, { replay: true }));
    expect(text(session)).toBe("");
    w.hub.socket.reply("session/load", loaded("ok", 1));
    await settled();
    expect(text(session)).toBe("one ");
    expect(session.view.value).toMatchObject({ attach: { kind: "live" }, cursor: { epoch: "e1", seq: 1 } });
  });

  it("H1 asks for a session right behind initialize, and once", async () => {
    const w = world();
    const session = await w.client.open("s1");
    w.client.start();
    await settled();
    w.hub.socket.open();
    expect(methods(w)).toEqual(["initialize", "session/load"]);
    w.hub.socket.reply("initialize", helloResult("c1"));
    await settled();
    w.hub.socket.reply("session/load", loaded("ok", 0));
    await settled();
    expect(session.view.value.attach.kind).toBe("live");
    expect(w.hub.socket.count("session/load")).toBe(1);
  });

  it("H1 a session still on its way out of the store is asked for when it is out, by its cursor, and once", async () => {
    const w = world();
    let out: () => void = () => undefined;
    const opening = w.client.open("s1", {}, async (session) => {
      await new Promise<void>((resolve) => {
        out = resolve;
      });
      const cursor = { epoch: epoch("e1"), seq: 7 };
      session.restore({ version: 1, transcript: EMPTY_TRANSCRIPT, cursor, hasEarlier: false, savedAt: 1 });
    });
    await connect(w);
    expect(methods(w)).toEqual(["initialize"]);
    out();
    await opening;
    await settled();
    expect(methods(w)).toEqual(["initialize", "session/load"]);
    expect(w.hub.socket.request("session/load").params).toMatchObject({
      _meta: { "acp-hub": { cursor: { epoch: "e1", seq: 7 } } },
    });
  });

  it("S3 resumes by cursor on a new socket: nothing lost, nothing twice", async () => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.update(chunk("two "), stamp(2));
    w.hub.socket.drop();
    expect(session.view.value.attach.kind).toBe("detached");
    await w.clock.advance(1000);
    await connect(w);
    expect(w.hub.socket.request("session/load").params["_meta"]).toMatchObject({
      "acp-hub": { cursor: { epoch: "e1", seq: 2 } },
    });
    w.hub.socket.update(chunk("two "), stamp(2, { replay: true }));
    w.hub.socket.update(chunk("three "), stamp(4, { replay: true, from: 3 }));
    w.hub.socket.reply("session/load", loaded("ok", 4));
    await settled();
    w.hub.socket.update(chunk("three "), stamp(4));
    w.hub.socket.update(chunk("four"), stamp(5));
    expect(text(session)).toBe("one two three four");
  });

  it.each(["gap", "reset"])("S3 verdict %s puts the replay in place of what was there and says so", async (verdict) => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.drop();
    await w.clock.advance(1000);
    await connect(w);
    w.hub.socket.update(chunk("all anew"), stamp(9, { replay: true, from: 5 }));
    w.hub.socket.reply("session/load", loaded(verdict, 9, { reason: "trimmed", hasMore: true }));
    await settled();
    expect(text(session)).toBe("[mark]|all anew");
    expect(session.view.value.hasEarlier).toBe(true);
  });

  it("B5 takes the catch-up after a gap notice once, in any order, then goes on live", async () => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.notify("_acp-hub/gap", { sessionId: "s1", from: 2, to: 5 });
    expect(session.view.value.isCatchingUp).toBe(true);
    w.hub.socket.update({ sessionUpdate: "tool_call", toolCallId: "t", title: "run" }, stamp(5, { from: 2 }));
    w.hub.socket.update(chunk("two "), stamp(4, { from: 3 }));
    w.hub.socket.update(chunk("three"), stamp(6));
    w.hub.socket.update(chunk("three"), stamp(6));
    expect(text(session)).toBe("one two three|[tool]");
    expect(session.view.value).toMatchObject({ isCatchingUp: false, cursor: { seq: 6 } });
  });

  it("G3 loads anew when joined text overlaps what is there, rather than guess", async () => {
    const w = world();
    await attached(w);
    w.hub.socket.update(chunk("one two "), stamp(2, { from: 1 }));
    expect(w.hub.socket.count("session/load")).toBe(2);
  });

  it("S1 loads anew when the hub says the epoch changed", async () => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.notify("_acp-hub/reset", { sessionId: "s1", epoch: "e2", reason: "loaded again" });
    expect(w.hub.socket.count("session/load")).toBe(2);
    w.hub.socket.update(chunk("new"), { epoch: "e2", seq: 1, ts: 1, replay: true });
    w.hub.socket.reply("session/load", { _meta: { "acp-hub": { verdict: "reset", cursor: { epoch: "e2", seq: 1 } } } });
    await settled();
    expect(text(session)).toBe("[mark]|new");
  });

  it("pages backwards and knows when there is no more", async () => {
    const w = world();
    const session = await w.client.open("s1");
    await connect(w);
    w.hub.socket.update(chunk("late"), stamp(20, { replay: true, from: 10 }));
    w.hub.socket.reply("session/load", loaded("ok", 20, { hasMore: true }));
    await settled();
    const more = session.loadEarlier();
    expect(w.hub.socket.request("_acp-hub/load_earlier").params).toMatchObject({ sessionId: "s1", before: 10 });
    w.hub.socket.update(
      { sessionUpdate: "user_message_chunk", content: { type: "text", text: "first" } },
      stamp(1, { page: true }),
    );
    w.hub.socket.reply("_acp-hub/load_earlier", { hasMore: false });
    await more;
    expect(text(session)).toBe("first|late");
    expect(session.view.value).toMatchObject({ hasEarlier: false, cursor: { seq: 20 } });
  });

  it("restores what the device kept and resumes from there", async () => {
    const first = world();
    const saved = (await attached(first)).save();
    const w = world();
    const session = await w.client.open("s1", {}, (opened) => {
      opened.restore(structuredClone(saved));
      return Promise.resolve();
    });
    expect(text(session)).toBe("one ");
    await connect(w);
    expect(w.hub.socket.request("session/load").params["_meta"]).toMatchObject({ "acp-hub": { cursor: { seq: 1 } } });
  });

  it("B4 takes the turn from notices alone and shows why it ended", async () => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.notify("_acp-hub/turn", {
      sessionId: "s1",
      state: "running",
      queue: [],
      _meta: { "acp-hub": stamp(2) },
    });
    expect(session.view.value.transcript.turn?.state).toBe("running");
    w.hub.socket.update(chunk("x"), stamp(3));
    const end = { sessionId: "s1", state: "idle", stopReason: "cancelled", queue: [], _meta: { "acp-hub": stamp(4) } };
    w.hub.socket.notify("_acp-hub/turn", end);
    expect(session.view.value.transcript.turn?.state).toBe("idle");
    expect(text(session)).toBe("one x|[turn-end]");
  });

  it("says in numbers what happened during a long absence", async () => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.drop();
    await w.clock.advance(600_000);
    w.client.connection.wake();
    await connect(w);
    const content = [{ type: "diff", path: "a.ts", newText: "x" }];
    w.hub.socket.update(
      { sessionUpdate: "tool_call", toolCallId: "t", title: "Edit", content },
      stamp(2, { replay: true }),
    );
    const end = { sessionId: "s1", state: "idle", stopReason: "end_turn", queue: [] };
    w.hub.socket.notify("_acp-hub/turn", { ...end, _meta: { "acp-hub": stamp(3, { replay: true }) } });
    w.hub.socket.reply("session/load", loaded("ok", 3));
    await settled();
    expect(session.view.value.transcript.items[1]).toMatchObject({
      kind: "mark",
      mark: "away",
      digest: { decisions: 0, turns: 1, files: 1, failures: 0 },
    });
  });

  it("says that a session ended and why", async () => {
    const w = world();
    const session = await attached(w);
    w.hub.socket.notify("_acp-hub/detached", { sessionId: "s1", instance: "i", reason: "instance-gone" });
    expect(session.view.value.attach).toEqual({ kind: "ended", reason: "instance-gone" });
  });

  it("shows a load that failed with the hub's own name for it", async () => {
    const w = world();
    const session = await w.client.open("s1");
    await connect(w);
    w.hub.socket.refuse("session/load", -32602, "no such session", { code: "unknown-session" });
    await settled();
    expect(session.view.value.attach).toEqual({
      kind: "failed",
      message: "no such session",
      hubCode: "unknown-session",
    });
  });
});

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
