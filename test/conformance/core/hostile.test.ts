/** Whatever comes from outside, nothing throws, and what deserves an answer gets one (T1, P5, B7, and the roles' own promises). */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Frame, parseFrame } from "../../../src/protocol/envelope.ts";
import { chunk } from "../../support/world/fake-agent.ts";
import { World } from "../../support/world/world.ts";

function shared() {
  const world = new World().start();
  const session = world.newSession();
  const phone = world.remote({ extended: true, forms: true, name: "phone" });
  world.load(phone, session);
  return { world, session, phone };
}

const METHODS = [
  "initialize",
  "session/new",
  "session/load",
  "session/resume",
  "session/fork",
  "session/list",
  "session/close",
  "session/prompt",
  "session/cancel",
  "session/set_mode",
  "session/set_config_option",
  "session/update",
  "session/attach",
  "session/detach",
  "session/load_earlier",
  "session/request_permission",
  "elicitation/create",
  "elicitation/complete",
  "$/cancel_request",
  "$/ping",
  "_acp-hub/load_earlier",
  "_acp-hub/queue/list",
  "_acp-hub/queue/move",
  "_acp-hub/queue/remove",
  "_acp-hub/turn",
  "_acp-hub/interaction_settled",
  "_acp-hub/link/snapshot",
  "_acp-hub/link/session",
  "_acp-hub/link/session_gone",
  "_acp-hub/link/interaction",
  "_acp-hub/link/rejected",
  "_acp-hub/link/agent",
  "_acp-hub/link/propose",
  "_acp-hub/link/copies",
  "_acp-hub/link/gone",
  "_acp-hub/link/attached",
  "_acp-hub/link/ack",
  "_acp-hub/backend_turn",
  "_acp-hub/backend_queue",
  "fs/read_text_file",
  "terminal/output",
  "vendor/x",
  "",
] as const;

const KEYS = [
  "sessionId",
  "update",
  "sessionUpdate",
  "content",
  "toolCall",
  "toolCallId",
  "options",
  "optionId",
  "outcome",
  "prompt",
  "requestId",
  "interactionId",
  "params",
  "method",
  "by",
  "epoch",
  "seq",
  "from",
  "tail",
  "head",
  "queue",
  "state",
  "sessions",
  "open",
  "settled",
  "initialize",
  "cursor",
  "limit",
  "before",
  "index",
  "promptId",
  "mode",
  "requestedSchema",
  "properties",
  "required",
  "enum",
  "oneOf",
  "items",
  "pieces",
  "replay",
  "__proto__",
  "constructor",
  "hasOwnProperty",
  "_meta",
  "acp-hub",
  "zcode",
  "downgrade",
  "steps",
  "action",
  "text",
  "type",
  "result",
  "count",
  "whole",
] as const;

/** JSON shaped like ours and wrong everywhere. */
const junk = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    fc.constantFrom(
      "s1",
      "e0",
      "x1",
      "",
      "primary",
      "link",
      "__proto__",
      "text",
      "form",
      "url",
      "array",
      "accept",
      "agent_message_chunk",
      "tool_call",
    ),
    fc.constantFrom<unknown>(null, true, false, 0, 1, -1, 0.5, 1e300, 2 ** 53, []),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc
    .array(fc.tuple(fc.constantFrom(...KEYS), tie("value")), { maxLength: 6 })
    .map((pairs) => Object.fromEntries(pairs)),
}));

const ids = fc.constantFrom<unknown>(0, "0", 1, -1, "", null, 1.5, "__proto__", undefined);

const message = fc.oneof(
  fc.record({ id: ids, method: fc.constantFrom(...METHODS), params: junk.object }),
  fc.record({ id: ids, result: junk.value }),
  fc.record({ id: ids, error: fc.record({ code: fc.integer(), message: fc.string(), data: junk.value }) }),
);

function frameOf(body: object): Frame | undefined {
  const parsed = parseFrame(JSON.stringify({ jsonrpc: "2.0", ...body }));
  return parsed.ok ? parsed.frame : undefined;
}

test.each(["agent", "primary", "link", "hub", "client"] as const)(
  "T1 junk of every shape from the %s side never throws, and the world still works",
  (side) => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 12 }), (messages) => {
        const { world, session, phone } = shared();
        world.agent.askPermission(session, "open");
        world.prompt(world.primary, session, "running");
        for (const body of messages) {
          const frame = frameOf(body);
          if (frame === undefined) continue;
          if (side === "agent") world.root.onAgent(frame, world.now);
          else if (side === "primary") world.root.onPrimary(frame, world.now);
          else if (side === "link") world.root.onLink(frame, world.now);
          else if (side === "hub") world.mirror.onLink(frame);
          else world.mirror.onClient(phone.connection, frame, world.now);
          world.settle();
        }
        world.advance(1000);
        if (side === "agent" || side === "hub") return;
        const other = world.newSession();
        world.agent.say(other, "alive");
        const fresh = world.remote({ extended: true });
        world.load(fresh, other);
        expect(fresh.transcript(other).text()).toBe("alive");
      }),
      { numRuns: 150 },
    );
  },
);

test("B7 an agent cannot speak in our name: forged notices and link messages are dropped, forged stamps taken out", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  const [{ interactionId } = { interactionId: "" }] = world.mirror.openInteractions();
  const by = { connectionId: "x", device: "x", name: "x" };
  world.agent.notify("_acp-hub/link/snapshot", { initialize: {}, sessions: [], open: [], settled: [] });
  world.agent.notify("_acp-hub/interaction_settled", { interactionId, outcome: { action: "answered" }, by, at: 0 });
  world.agent.notify("_acp-hub/turn", { sessionId: session, state: "running", queue: [] });
  world.agent.notify("vendor/x", {
    sessionId: session,
    _meta: { "acp-hub": { epoch: phone.cursors.get(session)?.epoch ?? "e0", seq: 99, ts: 0 } },
  });
  const asked = world.agent.ask("_acp-hub/link/hello", { sessionId: session });
  world.settle();
  expect(phone.openDialogs).toHaveLength(1);
  expect([...world.mirror.sessions]).toHaveLength(1);
  expect(phone.of("vendor/x")[0]?.params).toEqual({ sessionId: session });
  expect(world.agent.answerTo(asked)).toEqual({ error: -32601 });
  world.agent.say(session, "on");
  world.settle();
  expect(phone.transcript(session).text()).toBe("on");
  expect(world.agent.answerTo(id)).toBeUndefined();
  expect(world.problems).toEqual([]);
});

test("R3 a client cannot speak in the hub's name to the bridge: no forged proposal, no forged leaving", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  const [view] = world.mirror.openInteractions();
  const by = { connectionId: "primary", device: "primary", name: "editor" };
  const result = { outcome: { outcome: "selected", optionId: "allow" } };
  const attacker = world.remote({ scopes: ["sessions:read", "sessions:prompt"], extended: true });
  attacker.notify("_acp-hub/link/propose", { interactionId: view?.interactionId ?? "", by, result });
  attacker.notify("_acp-hub/link/gone", { connectionId: "primary" });
  const asked = ["_acp-hub/link/propose", "_acp-hub/anything"].map((method) => attacker.request(method, { by }));
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  for (const each of asked) expect(attacker.error(each).code).toBe(-32601);
  expect(world.agent.received.some((message) => message.method?.startsWith("_acp-hub"))).toBe(false);
  expect(phone.openDialogs).toHaveLength(1);
});

test("P5 answers to nothing, twice and under foreign ids change nothing", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  const dialog = phone.openDialogs[0];
  for (const wrong of ["1", 99, -1, null])
    phone.sendRaw(
      JSON.stringify({ jsonrpc: "2.0", id: wrong, result: { outcome: { outcome: "selected", optionId: "allow" } } }),
    );
  for (const wrong of ["1", 99]) world.primary.sendRaw(JSON.stringify({ jsonrpc: "2.0", id: wrong, result: {} }));
  for (const wrong of [99, "1", null]) world.agent.raw(JSON.stringify({ jsonrpc: "2.0", id: wrong, result: {} }));
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  if (dialog !== undefined) {
    phone.choose("allow", dialog);
    phone.choose("reject", dialog);
  }
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ outcome: { outcome: "selected", optionId: "allow" } });
  expect(world.problems).toEqual([]);
});

test("P5 an agent that uses an open id again gets one answer for it, and nothing is mixed up", () => {
  const { world, session, phone } = shared();
  world.agent.askPermission(session, "first", {});
  world.agent.raw(
    JSON.stringify({
      jsonrpc: "2.0",
      id: 0,
      method: "session/request_permission",
      params: { sessionId: session, toolCall: { toolCallId: "second" }, options: [] },
    }),
  );
  world.settle();
  expect(phone.openDialogs).toHaveLength(1);
  phone.choose("allow");
  world.settle();
  expect(world.agent.answers.size).toBe(1);
  expect(world.problems).toEqual([]);
});

test("B7 members named __proto__ are members like any other, on every hop", () => {
  const { world, session, phone } = shared();
  const raw = `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"${session}","update":{"sessionUpdate":"tool_call","toolCallId":"t","__proto__":{"polluted":1},"_meta":{"__proto__":{"polluted":2}}},"_meta":{"__proto__":{"polluted":3},"acp-hub":1}}}`;
  world.agent.raw(raw);
  world.agent.update(session, { sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" });
  world.settle();
  const late = world.remote({ extended: true });
  world.load(late, session);
  for (const client of [phone, late]) expect(client.raw.join("\n")).toContain('"__proto__":{"polluted":1}');
  expect(phone.raw.join("\n")).toContain('"__proto__":{"polluted":3}');
  expect(({} as { polluted?: number }).polluted).toBeUndefined();
});

test("S6 a session called __proto__ is a session like any other", () => {
  const { world, phone } = shared();
  world.agent.responders.set("session/new", (request) => world.agent.respond(request, { sessionId: "__proto__" }));
  const id = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  world.agent.say("__proto__", "a");
  world.settle().cut();
  world.agent.say("__proto__", "b");
  world.settle().dial().settle();
  expect(phone.result(id)["sessionId"]).toBe("__proto__");
  expect(phone.transcript("__proto__").text()).toBe("ab");
  expect(world.problems).toEqual([]);
});

test("R4 a bridge that repeats, skips or misnumbers events cannot make a reader see one twice", () => {
  const { world, session, phone } = shared();
  const epoch = [...world.mirror.sessions][0]?.epoch ?? "";
  const event = (seq: unknown, text: string, extra: object = {}) =>
    frameOf({
      method: "session/update",
      params: { sessionId: session, update: chunk(text), _meta: { "acp-hub": { epoch, seq, ts: 1, ...extra } } },
    });
  const frames = [
    event(1, "a"),
    event(1, "a"),
    event(2, "b"),
    event(1, "a"),
    event(2.5, "x"),
    event(-3, "x"),
    event("4", "x"),
    event(3, "c", { from: 9 }),
    event(4, "d", { by: null, pieces: ["x"], synthetic: 5, except: {} }),
    event(7, "e", { from: 6, pieces: [1, 1, 1] }),
    event(5, "x"),
  ];
  for (const frame of frames) if (frame !== undefined) world.mirror.onLink(frame);
  world.mirror.flush();
  world.settle();
  expect(phone.transcript(session).text()).toBe("abcde");
  const late = world.remote({ extended: true });
  world.load(late, session);
  expect(late.transcript(session).text()).toBe("abcde");
});

test("R4 a newer bridge's requests get a defined answer, its unknown words are counted", () => {
  const { world } = shared();
  const request = frameOf({ id: 5, method: "_acp-hub/link/future", params: {} });
  const notice = frameOf({ method: "_acp-hub/link/future", params: {} });
  for (const frame of [request, notice]) if (frame !== undefined) world.mirror.onLink(frame);
  world.settle();
  expect(world.mirrorObserved.filter((each) => each.kind === "bad-link-message")).toHaveLength(1);
});

test("B5 a hub that hangs is told apart: the bridge is asked once to drop the link", () => {
  const world = new World().start();
  const session = world.newSession();
  world.cut();
  let dropped = 0;
  const sink = { write: () => undefined, buffered: () => 33_554_433 };
  world.root.onLinkUp(sink, {}, () => {
    dropped += 1;
  });
  for (let count = 0; count < 5; count += 1) world.agent.notify("vendor/x", { sessionId: session });
  world.settle();
  expect(dropped).toBe(1);
  world.root.onLinkDown(world.now);
  world.agent.say(session, "on");
  world.settle();
  expect(world.primary.transcript(session).text()).toBe("on");
});
