/** P: prompts, the lane, ids. */
import { expect, test } from "vitest";
import { arrayAt, isObject, type JsonObject } from "../../../src/protocol/json.ts";
import { shared } from "../../support/world/shared.ts";
import type { World } from "../../support/world/world.ts";

const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});

const running = (world: World) =>
  world.agent.prompts.map((prompt) => {
    const [block] = prompt.params["prompt"] as { text: string }[];
    return block?.text;
  });

test("P1 prompts of different clients queue, the primary's at the head, and start when the turn has ended", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote({ extended: true });
  world.load(tablet, session);
  world.prompt(phone, session, "a");
  world.prompt(tablet, session, "b");
  world.prompt(phone, session, "c");
  world.prompt(world.primary, session, "editor");
  expect(running(world)).toEqual(["a"]);
  const queue = tablet.of("_acp-hub/turn").at(-1)?.params?.["queue"];
  expect(queue).toMatchObject([{ title: "editor" }, { title: "b" }, { title: "c", by: { name: "phone" } }]);
  const order: unknown[] = [];
  for (let count = 0; count < 4; count += 1) {
    order.push(...running(world));
    world.agent.end(session);
    world.settle();
  }
  expect(order).toEqual(["a", "editor", "b", "c"]);
});

test("P1 the running client's own next prompt goes to the agent at once while nobody waits", () => {
  const { world, session, phone } = shared();
  world.prompt(phone, session, "a");
  world.prompt(phone, session, "b");
  expect(running(world)).toEqual(["a", "b"]);
  world.prompt(world.primary, session, "editor");
  world.prompt(phone, session, "c");
  expect(running(world)).toEqual(["a", "b"]);
  world.agent.end(session);
  world.settle();
  expect(running(world)).toEqual(["b"]);
});

test("P1 the lane is bounded, for preempting prompts too, and says so", () => {
  const { world, session, phone } = shared();
  world.agent.endsOnCancel = false;
  world.prompt(world.primary, session, "running");
  const ids = [1, 2, 3, 4, 5].map((n) => world.prompt(phone, session, `p${n}`));
  expect(phone.error(ids[4] ?? null).data).toMatchObject({ code: "lane-full", max: 4 });
  const preempt = world.prompt(phone, session, "now", { delivery: "preempt" });
  expect(phone.error(preempt).data).toMatchObject({ code: "lane-full" });
  expect(world.agent.of("session/cancel")).toEqual([]);
});

test("P1 preempting is an explicit request: it cancels the running turn and goes first", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote();
  const first = world.prompt(world.primary, session, "running");
  world.prompt(tablet, session, "waiting");
  world.prompt(phone, session, "now", { delivery: "preempt" });
  expect(world.primary.result(first)).toEqual({ stopReason: "cancelled" });
  expect(running(world)).toEqual(["now"]);
});

test("P1 P3 a waiting prompt sent again to preempt goes first at once, and runs once; where it runs already nothing ends", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote();
  const first = world.prompt(world.primary, session, "running");
  world.prompt(tablet, session, "waiting");
  const send = (meta: object) => world.prompt(phone, session, "mine", { promptId: "m", ...meta });
  const plain = send({});
  expect(world.primary.responses.get(first)).toBeUndefined();
  const hurried = send({ delivery: "preempt" });
  expect(world.primary.result(first)).toEqual({ stopReason: "cancelled" });
  expect(running(world)).toEqual(["mine"]);
  const cancels = world.agent.of("session/cancel").length;
  send({ delivery: "preempt" });
  expect(world.agent.of("session/cancel")).toHaveLength(cancels);
  world.agent.end(session);
  world.settle();
  for (const id of [plain, hurried]) expect(phone.result(id)).toEqual({ stopReason: "end_turn" });
  expect(running(world)).toEqual(["waiting"]);
});

test("P1 the lane can be listed, changed and emptied by whoever may prompt", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote({ extended: true });
  world.prompt(world.primary, session, "running");
  const a = world.prompt(phone, session, "a", { promptId: "a" });
  world.prompt(phone, session, "b", { promptId: "b" });
  const ask = (method: string, params: object) => {
    const id = tablet.request(method, { sessionId: session, ...params });
    world.settle();
    return tablet.responses.get(id);
  };
  expect(ask("_acp-hub/queue/move", { promptId: "b", index: 0 })?.result).toMatchObject({
    queue: [{ title: "b" }, { title: "a" }],
  });
  expect(ask("_acp-hub/queue/remove", { promptId: "a" })?.result).toMatchObject({ queue: [{ promptId: "b" }] });
  expect(phone.error(a).code).toBe(-32800);
  expect(ask("_acp-hub/queue/remove", { promptId: "zzz" })?.error?.data).toMatchObject({ code: "unknown-prompt" });
  expect(ask("_acp-hub/queue/list", {})?.result).toMatchObject({ queue: [{ promptId: "b" }] });
});

test("P1 a prompt without a name has one of the hub's while it waits: whoever may prompt moves it and takes it off", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote({ extended: true });
  world.prompt(world.primary, session, "running");
  const [a, b] = [world.prompt(phone, session, "a"), world.prompt(tablet, session, "b")];
  const editors = world.prompt(world.primary, session, "editor");
  const ask = (method: string, params: object): JsonObject => {
    const id = tablet.request(method, { sessionId: session, ...params });
    world.settle();
    return objectOf(tablet.responses.get(id)?.result);
  };
  const listed = (): JsonObject[] => arrayAt(ask("_acp-hub/queue/list", {}), "queue")?.map(objectOf) ?? [];
  const idOf = (title: string): string => String(listed().find((entry) => entry["title"] === title)?.["promptId"]);
  expect(listed().map(({ title }) => title)).toEqual(["editor", "a", "b"]);
  expect(new Set(listed().map(({ promptId }) => promptId)).size).toBe(3);
  expect(tablet.of("_acp-hub/turn").at(-1)?.params?.["queue"]).toEqual(listed());
  ask("_acp-hub/queue/move", { promptId: idOf("b"), index: 0 });
  expect(listed().map(({ title }) => title)).toEqual(["b", "editor", "a"]);
  ask("_acp-hub/queue/remove", { promptId: idOf("a") });
  ask("_acp-hub/queue/remove", { promptId: idOf("editor") });
  // A plain client knows how a turn ends, and has cancelled nothing itself.
  for (const [client, id] of [
    [phone, a],
    [world.primary, editors],
  ] as const)
    expect(client.result(id)).toEqual({ stopReason: "cancelled" });
  world.agent.end(session);
  world.settle();
  expect(running(world)).toEqual(["b"]);
  // It is the name of its place in the lane, not of its turn.
  expect(tablet.of("_acp-hub/turn").at(-1)?.params?.["promptId"]).toBeUndefined();
  world.agent.end(session);
  world.settle();
  expect(tablet.result(b)).toEqual({ stopReason: "end_turn" });
});

test("P1 P3 its name in the lane, sent back by its own device, joins it", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "running");
  const first = world.prompt(phone, session, "once");
  const entry = objectOf(arrayAt(phone.of("_acp-hub/turn").at(-1)?.params, "queue")?.[0]);
  const again = world.prompt(phone, session, "once", { promptId: String(entry["promptId"]) });
  world.agent.end(session);
  world.settle();
  world.agent.end(session);
  world.settle();
  for (const id of [first, again]) expect(phone.result(id)).toEqual({ stopReason: "end_turn" });
  expect(world.agent.of("session/prompt")).toHaveLength(2);
});

test("P1 a waiting prompt with a promptId outlives its connection, one without goes with it", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "running");
  world.prompt(phone, session, "anonymous");
  world.prompt(phone, session, "named", { promptId: "p" });
  world.disconnect(phone);
  world.settle();
  world.agent.end(session);
  world.settle();
  expect(running(world)).toEqual(["named"]);
  world.agent.end(session);
  world.settle();
  expect(running(world)).toEqual([]);
});

test("P2 a turn outlives the connection that prompted it, and its end is announced", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote({ extended: true });
  world.load(tablet, session);
  world.prompt(phone, session, "long");
  world.disconnect(phone);
  world.settle();
  expect(running(world)).toEqual(["long"]);
  world.agent.end(session);
  world.settle();
  expect(tablet.of("_acp-hub/turn").at(-1)?.params).toMatchObject({ state: "idle", stopReason: "end_turn" });
});

test("P2 a session that is closed under a running turn answers everybody once, whatever the agent still says", () => {
  const { world, session, phone } = shared();
  const mine = world.prompt(world.primary, session, "running");
  const waiting = world.prompt(phone, session, "waiting");
  phone.request("session/close", { sessionId: session, _meta: { "acp-hub": { force: true } } });
  world.settle();
  expect(world.primary.result(mine)).toEqual({ stopReason: "cancelled" });
  expect(phone.result(waiting)).toEqual({ stopReason: "cancelled" });
  world.agent.end(session);
  world.settle();
  expect(world.problems).toEqual([]);
});

test("P3 the same promptId joins the first try, in flight, waiting and afterwards, and never runs twice", () => {
  const { world, session, phone } = shared();
  const retry = () => world.prompt(phone, session, "go", { promptId: "p" });
  const [first, second] = [retry(), retry()];
  world.agent.end(session);
  world.settle();
  const third = retry();
  for (const id of [first, second, third]) expect(phone.result(id)).toEqual({ stopReason: "end_turn" });
  expect(world.agent.of("session/prompt")).toHaveLength(1);
  const other = world.prompt(phone, session, "something else", { promptId: "p" });
  expect(phone.error(other)).toMatchObject({ code: -32602, data: { code: "prompt-mismatch" } });
  // A day later, or under a clock somebody set ahead by one: nobody can tell which.
  world.advance(86_400_001);
  expect(phone.result(retry())).toEqual({ stopReason: "end_turn" });
  expect(world.agent.of("session/prompt")).toHaveLength(1);
});

test("P3 a retry never runs twice, though the session was closed and opened again in between", () => {
  const { world, session, phone } = shared();
  const name = { promptId: "p1" };
  const first = world.prompt(phone, session, "once", name);
  world.agent.end(session);
  world.settle();
  expect(phone.result(first)).toEqual({ stopReason: "end_turn" });
  phone.request("session/close", { sessionId: session, _meta: { "acp-hub": { force: true } } });
  world.settle();
  expect(world.mirror.holdsSession(session)).toBe(false);
  world.load(phone, session);
  const retry = world.prompt(phone, session, "once", name);
  const other = world.prompt(phone, session, "something else", name);
  expect(phone.result(retry)).toEqual({ stopReason: "end_turn" });
  expect(phone.error(other).code).toBe(-32602);
  expect(world.agent.of("session/prompt")).toHaveLength(1);
  // Another device may use the same name for a prompt of its own.
  const tablet = world.remote({ extended: true });
  world.load(tablet, session);
  world.prompt(tablet, session, "mine", name);
  expect(running(world)).toEqual(["mine"]);
});

test("P3 a retry after a lost link joins, and its cancel is the run's cancel: nobody else waits for it", () => {
  const { world, session, phone } = shared();
  world.prompt(phone, session, "go", { promptId: "p" });
  world.cut();
  world.settle().dial().settle();
  const again = world.prompt(phone, session, "go", { promptId: "p" });
  expect(world.agent.of("session/prompt")).toHaveLength(1);
  phone.notify("$/cancel_request", { requestId: again });
  world.settle();
  expect(world.agent.of("session/cancel")).toHaveLength(1);
  expect(phone.result(again)).toEqual({ stopReason: "cancelled" });
});

test("P4 cancelling one's queued prompt removes it, and only one's own", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote();
  world.prompt(world.primary, session, "running");
  const id = world.prompt(phone, session, "waiting");
  tablet.notify("$/cancel_request", { requestId: id });
  world.settle();
  expect(phone.responses.has(id)).toBe(false);
  phone.notify("$/cancel_request", { requestId: id });
  world.settle();
  expect(phone.error(id).code).toBe(-32800);
  expect(world.agent.of("session/cancel")).toEqual([]);
});

test("P4 cancelling a running one cancels the turn first, then names the agent's own id of it", () => {
  const { world, session, phone } = shared();
  const id = world.prompt(phone, session, "go");
  const agentId = world.agent.prompts[0]?.id;
  phone.notify("$/cancel_request", { requestId: id });
  world.settle();
  expect(world.agent.received.slice(-2)).toMatchObject([
    { method: "session/cancel", params: { sessionId: session } },
    { method: "$/cancel_request", params: { requestId: agentId } },
  ]);
  expect(phone.result(id)).toEqual({ stopReason: "cancelled" });
});

test("P4 of several joined retries only the one is answered, the run goes on", () => {
  const { world, session, phone } = shared();
  const first = world.prompt(phone, session, "go", { promptId: "p" });
  const second = world.prompt(phone, session, "go", { promptId: "p" });
  phone.notify("$/cancel_request", { requestId: second });
  world.settle();
  expect(phone.error(second).code).toBe(-32800);
  expect(world.agent.of("session/cancel")).toEqual([]);
  world.agent.end(session);
  world.settle();
  expect(phone.result(first)).toEqual({ stopReason: "end_turn" });
});

test("P4 any other request is cancelled at the agent under the id it knows", () => {
  const { world, session, phone } = shared();
  world.agent.hold("session/set_mode");
  phone.request("session/set_mode", { sessionId: session, modeId: "code" }, "m-1");
  const waiting = phone.request("session/set_mode", { sessionId: session, modeId: "ask" }, "m-2");
  world.settle();
  phone.notify("$/cancel_request", { requestId: "m-2" });
  phone.notify("$/cancel_request", { requestId: "m-1" });
  world.settle();
  expect(phone.error(waiting).code).toBe(-32800);
  expect(world.agent.last("$/cancel_request")?.params).toEqual({ requestId: world.agent.pending[0]?.id });
});

test("P5 ids of every kind come back exactly as they were sent, and never collide between clients", () => {
  const { world, session, phone } = shared();
  const ids = [1, "1", 0, "", -5, 1.5, "ünïcode\u2028", null, "__proto__"];
  const clients = [phone, world.remote({ extended: true }), world.primary];
  for (const client of clients)
    for (const id of ids) client.request("vendor/echo", { sessionId: session, from: client.name }, id);
  world.settle();
  for (const call of [...world.agent.pending]) world.agent.respond(call, { from: call.params["from"] ?? null });
  world.settle();
  for (const client of clients)
    for (const id of ids) expect(client.responses.get(id)?.result).toEqual({ from: client.name });
  expect(world.agent.received.filter((message) => message.method === "vendor/echo")).toHaveLength(27);
});

test("P5 a second request under an id in flight is refused, and the first still gets its answer", () => {
  const { world, session, phone } = shared();
  for (const client of [phone, world.primary]) {
    client.request("session/prompt", { sessionId: session, prompt: [] }, "same");
    client.sendRaw(JSON.stringify({ jsonrpc: "2.0", id: "same", method: "session/list", params: {} }));
    world.settle();
    expect(client.error("same")).toMatchObject({ code: -32600, data: { code: "duplicate-request-id" } });
    client.problems.length = 0;
  }
  world.agent.end(session);
  world.settle();
  expect(phone.result("same")).toEqual({ stopReason: "end_turn" });
});

test("P5 a number JSON cannot hold is refused under id null", () => {
  const { world, phone } = shared();
  phone.sendRaw('{"jsonrpc":"2.0","id":9007199254740993,"method":"session/list"}');
  world.primary.sendRaw('{"jsonrpc":"2.0","id":1e400,"method":"session/list"}');
  world.settle();
  expect(phone.responses.get(null)?.error?.code).toBe(-32600);
  expect(world.primary.responses.get(null)?.error?.code).toBe(-32600);
});

test("P5 only the two envelope ids inside params are rewritten", () => {
  const { world, session, phone } = shared();
  phone.request("mcp/message", { sessionId: session, requestId: 7, _meta: { requestId: 8 } });
  world.settle();
  expect(world.agent.last("mcp/message")?.params).toEqual({
    sessionId: session,
    requestId: 7,
    _meta: { requestId: 8 },
  });
});
