import { dirname } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AttachEnd, AttachedAgent } from "../../../src/cli/attach/attached-agent.ts";
import type { Clock } from "../../../src/client/ports.ts";
import { CLOSE } from "../../../src/protocol/close-codes.ts";
import { type JsonObject, objectAt } from "../../../src/protocol/json.ts";
import { memoryPair } from "../../../src/transport/memory.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { type PuppetAgent, puppetAgent } from "../../support/puppet-agent.ts";
import { type Asked, connectClient, type RawClient, rawClient } from "../../support/raw-client.ts";

/** Waits pass five times as fast: what is waited for is real, and takes its time on a busy machine. */
const quick: Clock = {
  now: () => Date.now() * 5,
  random: () => 0,
  after: (ms, task) => {
    const timer = setTimeout(task, ms / 5);
    return () => clearTimeout(timer);
  },
};

const OPTIONS = [
  { optionId: "yes", name: "Yes", kind: "allow_once" },
  { optionId: "no", name: "No", kind: "reject_once" },
];

describe("attach: a second editor in a shared session", () => {
  let harness: HubHarness;
  let agent: PuppetAgent;
  let first: RawClient;
  let prompts: number;
  const seconds: RawClient[] = [];
  beforeEach(async () => {
    harness = await startHub({ isDurable: true });
    agent = puppetAgent();
    prompts = 0;
    first = rawClient(harness.bridge(agent.backend).editor);
    await first.initialize({});
    await first.call("session/new", { cwd: "/project", mcpServers: [] });
    await expect.poll(() => sessionIds()).toEqual(["s1"]);
  });
  afterEach(async () => {
    for (const second of seconds.splice(0)) second.close();
    await harness.stop();
  });

  const sessionIds = (): string[] => [...(harness.hub.registry.get("i-0")?.mirror.sessions ?? [])].map((s) => s.id);
  const attach = (query: string, pinnedSession?: string): { second: RawClient; ended: Promise<AttachEnd> } => {
    const [editor, pipe] = memoryPair();
    const target = { url: `ws+unix://${harness.paths.apiSocket}:/acp${query}`, protocols: ["acp"] };
    const newId = (): string => {
      prompts += 1;
      return `p${prompts}`;
    };
    const ended = new AttachedAgent(pipe, target, { clock: quick, pinnedSession, newId }).run();
    const second = rawClient(editor);
    seconds.push(second);
    return { second, ended };
  };
  /** A second editor that has loaded the session. */
  const loaded = async (): Promise<RawClient> => {
    const { second } = attach("?instance=i-0");
    await second.initialize({});
    await second.call("session/load", { sessionId: "s1", cwd: "/project", mcpServers: [] });
    return second;
  };
  /** The link breaks, as a tunnel does; resolves when the attached agent is back. */
  const drop = async (meanwhile: () => void = () => undefined): Promise<void> => {
    const before = new Set<unknown>();
    harness.hub.sockets.each((socket) => {
      before.add(socket);
      socket.terminate();
    });
    meanwhile();
    const isBack = (): boolean => {
      let isFound = false;
      harness.hub.sockets.each((socket) => {
        isFound ||= !before.has(socket) && socket.connection.hasAttached;
      });
      return isFound;
    };
    await expect.poll(isBack).toBe(true);
  };
  const say = (text: string, messageId = "m"): void =>
    agent.update("s1", { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } });
  const ask = (id: string): Promise<JsonObject> =>
    agent.ask("session/request_permission", {
      sessionId: "s1",
      toolCall: { toolCallId: id, title: id },
      options: OPTIONS,
    });
  const chosen = (optionId: string): JsonObject => ({ outcome: { outcome: "selected", optionId } });
  const openDialogs = (client: RawClient): Asked[] => {
    const cancelled = new Set(client.notifications("$/cancel_request").map((params) => params["requestId"]));
    return client.frames.flatMap((frame) =>
      frame.kind === "request" && !cancelled.has(frame.msg.id as number)
        ? [{ id: frame.msg.id, method: frame.msg.method, params: frame.msg.params as JsonObject }]
        : [],
    );
  };
  const promptOf = (text: string): JsonObject => ({ sessionId: "s1", prompt: [{ type: "text", text }] });

  it("C1.attach a second editor loads the session, sees its turns and prompts it", async () => {
    say("before");
    const second = await loaded();
    await expect.poll(() => second.textOf("agent_message_chunk")).toBe("before");
    agent.on("session/prompt", () => ({ stopReason: "end_turn" }));
    await first.call("session/prompt", promptOf("from the first"));
    await expect.poll(() => second.textOf("user_message_chunk")).toBe("from the first");
    expect(await second.call("session/prompt", promptOf("from the second"))).toMatchObject({ stopReason: "end_turn" });
    expect(first.textOf("user_message_chunk")).toBe("from the second");
    expect(second.textOf("user_message_chunk")).toBe("from the first");
    expect(agent.calls.at(-1)?.params).toEqual(promptOf("from the second"));
  });

  it("C1.attach a client that can only start sessions adopts the pinned one", async () => {
    say("history");
    const { second } = attach("?session=s1", "s1");
    await second.initialize({});
    expect(await second.call("session/new", { cwd: "/elsewhere", mcpServers: [] })).toMatchObject({ sessionId: "s1" });
    await expect.poll(() => second.textOf("agent_message_chunk")).toBe("history");
    expect(agent.calls.filter((call) => call.method === "session/new")).toHaveLength(1);
  });

  it("C1.attach the editor gets nothing but ACP it knows, and nothing of sessions it never opened", async () => {
    await first.call("session/new", { cwd: "/other", mcpServers: [] });
    await expect.poll(() => sessionIds()).toEqual(["s1", "s2"]);
    const { second } = attach("?instance=i-0");
    await second.initialize({});
    const other = agent.ask("session/request_permission", { sessionId: "s2", toolCall: {}, options: OPTIONS });
    other.catch(() => undefined);
    agent.update("s2", { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "secret" } });
    await second.call("session/load", { sessionId: "s1", cwd: "/project", mcpServers: [] });
    say("mine");
    await expect.poll(() => second.textOf("agent_message_chunk")).toBe("mine");
    const methods = second.frames.flatMap((frame) => (frame.kind === "response" ? [] : [frame.msg.method]));
    expect(new Set(methods)).toEqual(new Set(["session/update"]));
    expect(openDialogs(second)).toEqual([]);
    second.notify("session/cancel", { sessionId: "s2" });
  });

  it("C1.attach a prompt makes a waiting question of its session visible", async () => {
    const { second } = attach("?instance=i-0");
    await second.initialize({});
    const answer = ask("t1");
    const phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "driver:phone");
    await phone.initialize();
    await phone.nextRequest("session/request_permission");
    // The hub asks now, and has asked what it asks of this editor, too.
    await second.call("session/list", {});
    agent.on("session/prompt", () => undefined);
    expect(openDialogs(second)).toEqual([]);
    void second.call("session/prompt", promptOf("next")).catch(() => undefined);
    const asked = await second.nextRequest("session/request_permission");
    second.answer(asked.id, chosen("yes"));
    expect(await answer).toEqual(chosen("yes"));
  });

  it("S3 L2 what was said while the link was away comes after it, once, and in order", async () => {
    const second = await loaded();
    say("one ");
    await expect.poll(() => second.textOf("agent_message_chunk")).toBe("one ");
    await drop(() => say("two "));
    say("three");
    await expect.poll(() => second.textOf("agent_message_chunk")).toBe("one two three");
  });

  it("L2 S3 the same when the hub itself is restarted under it", async () => {
    const second = await loaded();
    say("one ");
    await expect.poll(() => second.textOf("agent_message_chunk")).toBe("one ");
    const restarted = harness.restart();
    say("two ");
    await restarted;
    await expect.poll(() => sessionIds()).toEqual(["s1"]);
    say("three");
    await expect.poll(() => second.textOf("agent_message_chunk"), { timeout: 10_000 }).toBe("one two three");
    agent.on("session/prompt", () => ({ stopReason: "end_turn" }));
    expect(await second.call("session/prompt", promptOf("on"))).toMatchObject({ stopReason: "end_turn" });
  });

  it("P3 a prompt whose link drops is answered on the next, runs once, and is not shown to its author", async () => {
    agent.on("session/prompt", () => undefined);
    const second = await loaded();
    const turn = second.call("session/prompt", promptOf("long"));
    const running = await agent.wire.nextRequest("session/prompt");
    await drop(() => say("working "));
    await drop();
    say("still");
    agent.wire.answer(running.id, { stopReason: "end_turn" });
    expect(await turn).toMatchObject({ stopReason: "end_turn" });
    expect(second.textOf("agent_message_chunk")).toBe("working still");
    expect(second.textOf("user_message_chunk")).toBe("");
    expect(agent.calls.filter((call) => call.method === "session/prompt")).toHaveLength(1);
  });

  it("P3 a prompt that ended while the link was away has its answer when it is back", async () => {
    agent.on("session/prompt", () => undefined);
    const second = await loaded();
    const turn = second.call("session/prompt", promptOf("short"));
    const running = await agent.wire.nextRequest("session/prompt");
    await drop(() => agent.wire.answer(running.id, { stopReason: "max_tokens" }));
    expect(await turn).toMatchObject({ stopReason: "max_tokens" });
  });

  it("C1.attach what is asked while the link is away waits for it, and a cancel reaches the running turn", async () => {
    agent.on("session/prompt", () => undefined);
    agent.on("session/set_mode", () => ({}));
    const second = await loaded();
    const turn = second.call("session/prompt", promptOf("long"));
    const running = await agent.wire.nextRequest("session/prompt");
    let mode: Promise<JsonObject> | undefined;
    let unsent: Promise<JsonObject> | undefined;
    await drop(() => {
      mode = second.call("session/set_mode", { sessionId: "s1", modeId: "x" });
      unsent = second.call("session/prompt", promptOf("never mind"));
      second.notify("session/cancel", { sessionId: "s1" });
    });
    expect(await mode).toEqual({});
    await agent.wire.nextNotification("session/cancel");
    expect(await unsent).toMatchObject({ stopReason: "cancelled" });
    agent.wire.answer(running.id, { stopReason: "cancelled" });
    expect(await turn).toMatchObject({ stopReason: "cancelled" });
    expect(agent.calls.filter((call) => call.method === "session/prompt")).toHaveLength(1);
  });

  it("C1.attach what must not run twice is answered with an error that says so", async () => {
    agent.on("session/new", () => undefined);
    agent.on("_own/thing", () => undefined);
    const second = await loaded();
    const made = second.call("session/new", { cwd: "/project", mcpServers: [] });
    const own = second.call("_own/thing", { sessionId: "s1" });
    await agent.wire.nextRequest("session/new");
    await agent.wire.nextRequest("_own/thing");
    await Promise.all([
      drop(),
      expect(made).rejects.toMatchObject({ code: -32603, data: { code: "link-lost" } }),
      expect(own).rejects.toMatchObject({ code: -32603, data: { code: "link-lost" } }),
    ]);
  });

  it("P5 the editor's own ids come back as they were sent, whatever happens to the link", async () => {
    agent.on("session/prompt", () => undefined);
    const second = await loaded();
    const answers = ["1", 1, "", -7, "1e3"].map((id) => second.callAs(id, "session/prompt", promptOf(`p ${id}`)));
    await expect.poll(() => agent.calls.filter((call) => call.method === "session/prompt").length).toBeGreaterThan(0);
    await drop();
    const done = Promise.all(answers);
    const seen = new Set<unknown>();
    await expect
      .poll(() => {
        for (const frame of agent.wire.frames) {
          if (frame.kind !== "request" || frame.msg.method !== "session/prompt" || seen.has(frame.msg.id)) continue;
          seen.add(frame.msg.id);
          agent.wire.answer(frame.msg.id, { stopReason: "end_turn" });
        }
        return seen.size;
      })
      .toBe(5);
    expect(await done).toHaveLength(5);
  });

  it("P5 a second request under an id in flight is refused, before and after a loss", async () => {
    agent.on("session/prompt", () => undefined);
    const second = await loaded();
    for (const id of ["before", "after"]) {
      const turn = second.callAs(id, "session/prompt", promptOf(id));
      await expect.poll(() => agent.calls.some((call) => JSON.stringify(call.params).includes(id))).toBe(true);
      if (id === "after") await drop();
      second.sendText(`{"jsonrpc":"2.0","id":"${id}","method":"session/list"}`);
      await expect(turn).rejects.toMatchObject({ code: -32600, data: { code: "duplicate-request-id" } });
    }
  });

  it("X6 a question open over a loss stays one dialog, and its answer is the one that counts", async () => {
    const second = await loaded();
    const answer = ask("t1");
    const asked = await second.nextRequest("session/request_permission");
    await drop();
    await drop();
    second.answer(asked.id, chosen("yes"));
    expect(await answer).toEqual(chosen("yes"));
    expect(openDialogs(second).map((dialog) => dialog.id)).toEqual([asked.id]);
    expect(second.notifications("$/cancel_request")).toEqual([]);
    expect(second.frames.filter((frame) => frame.kind === "request")).toHaveLength(1);
  });

  it("X6 an answer given while the link was away is given to the hub when it asks again, and nobody is asked twice", async () => {
    const second = await loaded();
    const answer = ask("t1");
    const asked = await second.nextRequest("session/request_permission");
    await drop(() => second.answer(asked.id, chosen("no")));
    expect(await answer).toEqual(chosen("no"));
    expect(second.frames.filter((frame) => frame.kind === "request")).toHaveLength(1);
  });

  it("X4 a question settled elsewhere while the link was away is closed, and others stay", async () => {
    const second = await loaded();
    const answers = [ask("t1"), ask("t2")];
    const own = [
      await first.nextRequest("session/request_permission"),
      await first.nextRequest("session/request_permission"),
    ];
    await expect.poll(() => openDialogs(second).length).toBe(2);
    await drop(() => first.answer(own[0]?.id ?? null, chosen("yes")));
    expect(await answers[0]).toEqual(chosen("yes"));
    await expect.poll(() => openDialogs(second).length).toBe(1);
    const [left] = openDialogs(second);
    expect(objectAt(left?.params, "toolCall")?.["toolCallId"]).toBe("t2");
    second.answer(left?.id ?? null, chosen("no"));
    expect(await answers[1]).toEqual(chosen("no"));
  });

  it("X2 a question another client answers closes the attached editor's dialog under its own id", async () => {
    const second = await loaded();
    const answer = ask("t1");
    const asked = await second.nextRequest("session/request_permission");
    const own = await first.nextRequest("session/request_permission");
    first.answer(own.id, chosen("yes"));
    expect(await answer).toEqual(chosen("yes"));
    expect(await second.nextNotification("$/cancel_request")).toEqual({ requestId: asked.id, id: asked.id });
  });

  it("X8 a form asked in steps starts over after a loss, and only its present step is open", async () => {
    const second = await loaded();
    const enumOf = (...values: string[]): JsonObject => ({ type: "string", enum: values });
    const requestedSchema = {
      type: "object",
      properties: { a: enumOf("a1", "a2"), b: enumOf("b1", "b2") },
      required: ["a", "b"],
    };
    const form = agent.ask("elicitation/create", { sessionId: "s1", mode: "form", message: "which?", requestedSchema });
    const pick = (asked: Asked, name: string): void => {
      const options = asked.params["options"] as { optionId: string; name: string }[];
      second.answer(asked.id, chosen(options.find((option) => option.name === name)?.optionId ?? ""));
    };
    pick(await second.nextRequest("session/request_permission"), "a1");
    await second.nextRequest("session/request_permission");
    await drop();
    pick(await second.nextRequest("session/request_permission"), "a2");
    pick(await second.nextRequest("session/request_permission"), "b2");
    expect(await form).toEqual({ action: "accept", content: { a: "a2", b: "b2" } });
  });

  it("C4.close-codes a revoked credential ends it with an error for what waits, and no second dial", async () => {
    const { second, ended } = attach("?instance=i-0");
    await second.initialize({});
    agent.on("session/prompt", () => undefined);
    const turn = second.call("session/prompt", promptOf("x"));
    turn.catch(() => undefined);
    await agent.wire.nextRequest("session/prompt");
    harness.hub.sockets.each((socket) => socket.close(CLOSE.revoked));
    expect(await ended).toMatchObject({ kind: "refused" });
    await expect(turn).rejects.toThrow();
  });

  it("C1.attach says at once when nobody is there, or not that instance", async () => {
    await expect.poll(() => harness.hub.isStarting).toBe(false);
    const missing = attach("?instance=other");
    const refused = missing.second.initialize({});
    refused.catch(() => undefined);
    expect(await missing.ended).toMatchObject({ kind: "ended", words: "No such instance" });
    const home = dirname(harness.paths.runDir);
    const [editor, pipe] = memoryPair();
    const target = { url: `ws+unix://${home}/nobody.sock:/acp`, protocols: [] };
    const nobody = new AttachedAgent(pipe, target, { clock: quick, pinnedSession: undefined, newId: () => "p" });
    const lone = rawClient(editor);
    const first = lone.initialize({});
    const ended = nobody.run();
    await expect(first).rejects.toMatchObject({ code: -32603, data: { code: "link-lost" } });
    expect(await ended).toMatchObject({ kind: "unreachable" });
  });

  it("C1.attach ends when the session it is ends, and says so to what waits", async () => {
    const { second, ended } = attach("?session=s1", "s1");
    await second.initialize({});
    await second.call("session/new", { cwd: "/project", mcpServers: [] });
    agent.on("session/prompt", () => undefined);
    const turn = second.call("session/prompt", promptOf("x"));
    turn.catch(() => undefined);
    await agent.wire.nextRequest("session/prompt");
    await agent.backend.stop();
    expect(await ended).toMatchObject({ kind: "ended" });
    await expect(turn).rejects.toThrow();
  });

  it("C6.limits a request larger than a hub takes is refused, and the link stays", async () => {
    const second = await loaded();
    const huge = second.call("session/prompt", promptOf("x".repeat(16_777_216)));
    await expect(huge).rejects.toMatchObject({ code: -32600 });
    expect(await second.call("session/list", {})).toHaveProperty("sessions");
    expect(harness.hub.sockets.count).toBe(1);
  });

  it("C6.limits the same with a hub that takes less: it says so, and its word counts", async () => {
    await harness.stop();
    harness = await startHub({ isDurable: true, limits: { remoteFrameBytes: 100_000 } });
    agent = puppetAgent();
    first = rawClient(harness.bridge(agent.backend).editor);
    await first.initialize({});
    await first.call("session/new", { cwd: "/project", mcpServers: [] });
    await expect.poll(() => sessionIds()).toEqual(["s1"]);
    const second = await loaded();
    await expect(second.call("session/prompt", promptOf("x".repeat(100_000)))).rejects.toMatchObject({ code: -32600 });
    expect(await second.call("session/list", {})).toHaveProperty("sessions");
    expect(harness.hub.sockets.count).toBe(1);
  });

  it("L1 when the editor goes, its connection goes, and the shared session stays", async () => {
    const { second, ended } = attach("?instance=i-0");
    await second.initialize({});
    await second.call("session/load", { sessionId: "s1", cwd: "/project", mcpServers: [] });
    second.close();
    expect(await ended).toMatchObject({ kind: "editor-gone" });
    await expect.poll(() => harness.hub.sockets.count).toBe(0);
    expect(sessionIds()).toEqual(["s1"]);
    const phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "driver:phone");
    await phone.initialize();
    await phone.call("session/load", { sessionId: "s1", cwd: "/", mcpServers: [] });
  });
});
