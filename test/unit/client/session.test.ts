import { describe, expect, it } from "vitest";
import { EMPTY_TRANSCRIPT } from "../../../src/client/transcript/item.ts";
import { epoch } from "../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { attached, chunk, connect, loaded, methods, stamp, text, world } from "../../support/client-world.ts";
import { settled } from "../../support/manual-clock.ts";
import { helloResult } from "../../support/scripted-hub.ts";

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

  /** Read up to 8, then away; the hub has what is given to it. */
  async function returned(seqs: readonly (readonly [text: string, from: number, to: number])[], more: JsonObject) {
    const w = world();
    const session = await attached(w);
    w.hub.socket.update({ ...chunk("two"), messageId: "m2" }, stamp(4));
    w.hub.socket.update({ sessionUpdate: "tool_call", toolCallId: "t", title: "run" }, stamp(6));
    w.hub.socket.update({ ...chunk("three"), messageId: "m3" }, stamp(8));
    w.hub.socket.drop();
    await w.clock.advance(1000);
    await connect(w);
    for (const [words, from, to] of seqs)
      w.hub.socket.update({ ...chunk(words), messageId: `at${from}` }, stamp(to, { replay: true, from }));
    w.hub.socket.reply("session/load", loaded("gap", 20, more));
    await settled();
    return { w, session };
  }

  it("S3 a gap stands where it is: below what the device has read and the hub no longer has", async () => {
    const { w, session } = await returned(
      [
        ["later", 12, 15],
        ["last", 16, 20],
      ],
      { reason: "trimmed" },
    );
    expect(text(session)).toBe("one |two|[tool]|three|[mark]|later|last");
    w.hub.socket.update({ ...chunk(" word"), messageId: "at16" }, stamp(21));
    expect(text(session)).toBe("one |two|[tool]|three|[mark]|later|last word");
    const keys = session.view.value.transcript.items.map((item) => item.key);
    expect(new Set(keys).size).toBe(keys.length);
  });

  it("S3 a gap stands where it is: between what was read and what came after it, where the hub has both", async () => {
    const { session } = await returned(
      [
        ["all one", 1, 5],
        ["two", 6, 9],
        ["new", 10, 20],
      ],
      { reason: "coalesced" },
    );
    expect(text(session)).toBe("all one|two|[mark]|new");
  });

  it("S3 a gap stands where it is: at the end, where the hub has lost what was read", async () => {
    const { session } = await returned(
      [
        ["one", 1, 5],
        ["two", 6, 7],
      ],
      { reason: "ahead", cursor: { epoch: "e1", seq: 7 } },
    );
    expect(text(session)).toBe("one|two|[mark]");
  });

  it("S3 a gap stands where it is: it moves up with the pages in which it is", async () => {
    const { w, session } = await returned([["new", 12, 20]], { reason: "trimmed", hasMore: true });
    expect(text(session)).toBe("[mark]|new");
    const more = session.loadEarlier();
    w.hub.socket.update({ ...chunk("read"), messageId: "at5" }, stamp(8, { page: true, from: 5 }));
    w.hub.socket.update({ ...chunk("missed"), messageId: "at9" }, stamp(11, { page: true, from: 9 }));
    w.hub.socket.reply("_acp-hub/load_earlier", { hasMore: false });
    await more;
    expect(text(session)).toBe("read|[mark]|missed|new");
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
