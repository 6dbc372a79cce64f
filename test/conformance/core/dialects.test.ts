/** Other clients' words: the predecessor's dialect and the public attach draft (contract §4). */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { chunk, toolCall } from "../../support/world/fake-agent.ts";
import { World } from "../../support/world/world.ts";

function shared() {
  const world = new World().start();
  const session = world.newSession();
  for (let count = 0; count < 6; count += 1) {
    world.agent.update(session, chunk(`message ${count}`, `m${count}`));
    world.agent.update(session, toolCall(`t${count}`));
  }
  world.settle();
  return { world, session };
}

const zcodeLoad = (world: World, session: string, limit: number) => {
  const client = world.remote({ name: "phone" });
  const id = client.request("session/load", { sessionId: session, mcpServers: [], _meta: { zcode: { limit } } });
  world.settle();
  return { client, result: client.result(id) };
};

test("C4.dialect a load with _meta.zcode gives the last items, replayMeta, and pages that go back to the start", () => {
  const { world, session } = shared();
  const { client, result } = zcodeLoad(world, session, 3);
  expect(client.updates(session)).toHaveLength(3);
  expect(result["replayMeta"]).toMatchObject({
    hasMore: true,
    totalMessages: 12,
    replayedMessages: 3,
    turnActive: false,
    lastMessageId: "m5",
  });
  let meta = result["replayMeta"] as JsonObject;
  const seen: unknown[] = [];
  for (let count = 0; count < 5 && meta["hasMore"] === true; count += 1) {
    const before = client.updates(session).length;
    const id = client.request("session/load_earlier", { sessionId: session, before: meta["cursor"] ?? null, limit: 4 });
    world.settle();
    seen.unshift(...client.updates(session).slice(before));
    meta = client.result(id)["replayMeta"] as JsonObject;
  }
  expect(seen).toHaveLength(9);
  expect(seen[0]).toEqual(chunk("message 0", "m0"));
  const marks = client
    .of("session/update")
    .slice(3)
    .map((message) => message.params?.["_meta"]);
  for (const mark of marks) expect(mark).toMatchObject({ "acp-hub": { page: true } });
});

test("C4.dialect a tail counts messages, not states, and starts with the prompt of its turn", () => {
  const world = new World().start();
  const session = world.newSession();
  for (let turn = 0; turn < 3; turn += 1) {
    for (const kind of ["user_message_chunk", "agent_message_chunk"])
      world.agent.update(session, { ...chunk(`${kind} ${turn}`, `${kind}-${turn}`), sessionUpdate: kind });
    world.agent.update(session, toolCall(`t${turn}`));
    world.agent.update(session, { sessionUpdate: "usage_update", used: turn, size: 10 });
  }
  world.settle();
  const { client, result } = zcodeLoad(world, session, 4);
  const prompts = client.updates(session).filter((update) => update["sessionUpdate"] === "user_message_chunk");
  expect(prompts).toHaveLength(2);
  expect(client.updates(session)[0]).toMatchObject({ content: { text: "user_message_chunk 1" } });
  expect(result["replayMeta"]).toMatchObject({ hasMore: true, totalMessages: 9, replayedMessages: 6 });
  const whole = zcodeLoad(world, session, 7);
  expect(whole.result["replayMeta"]).toMatchObject({ hasMore: false, totalMessages: 9, replayedMessages: 9 });
  const none = zcodeLoad(world, session, 0);
  expect(none.result["replayMeta"]).toMatchObject({ hasMore: true, totalMessages: 9, replayedMessages: 0 });
});

test("C4.dialect B2 the limit of one client does not reach the agent: what it replays is the history of all", () => {
  const world = new World().start();
  const asked: JsonObject[] = [];
  world.agent.responders.set("session/load", (request) => {
    asked.push(request.params);
    world.agent.respond(request, {});
  });
  zcodeLoad(world, "old", 30);
  expect(asked).toMatchObject([{ sessionId: "old", _meta: { zcode: {} } }]);
  expect(JSON.stringify(asked)).not.toContain("limit");
});

test("X6 a plain client is not asked before the history it is about to load; one that loads nothing, as a watcher", () => {
  const { world, session } = shared();
  world.agent.askPermission(session);
  world.settle();
  const loader = world.remote({ name: "loader" });
  const watcher = world.remote({ name: "watcher" });
  expect([loader.openDialogs, watcher.openDialogs]).toEqual([[], []]);
  world.load(loader, session);
  expect(loader.openDialogs).toEqual([]);
  world.advance(300);
  expect(loader.openDialogs).toHaveLength(1);
  expect(watcher.openDialogs).toEqual([]);
  world.advance(700);
  expect(watcher.openDialogs).toHaveLength(1);
  expect(loader.of("$/cancel_request")).toEqual([]);
});

test("C4.dialect a cursor of another epoch, or no cursor at all, has expired in so many words", () => {
  const { world, session } = shared();
  const { client, result } = zcodeLoad(world, session, 3);
  const cursor = String((result["replayMeta"] as JsonObject)["cursor"]);
  for (const before of [cursor.replace(/e\d+/, "e999"), "junk", "[1", 7, null, '["x"]']) {
    const id = client.request("session/load_earlier", { sessionId: session, before });
    world.settle();
    expect(client.error(id)).toMatchObject({ code: -32602, message: expect.stringContaining("cursor expired") });
  }
});

test("C4.dialect the turn state is told at every change, and before the prompt's response", () => {
  const { world, session } = shared();
  const { client } = zcodeLoad(world, session, 1);
  const id = world.prompt(client, session, "go");
  expect(client.of("$/zcode/turnState").at(-1)?.params).toEqual({ sessionId: session, running: true });
  world.agent.end(session);
  world.settle();
  expect(client.received.at(-2)).toMatchObject({ method: "$/zcode/turnState", params: { running: false } });
  expect(client.received.at(-1)?.id).toBe(id);
  const other = world.remote();
  world.load(other, session);
  world.prompt(client, session, "again");
  expect(other.of("$/zcode/turnState")).toEqual([]);
  expect(zcodeLoad(world, session, 1).result["replayMeta"]).toMatchObject({ turnActive: true });
});

test("C4.dialect who comes back is told, behind its load, what runs in other sessions, and of nothing twice", () => {
  const { world, session } = shared();
  const other = world.newSession();
  world.newSession();
  world.prompt(world.primary, other, "work");
  const { client } = zcodeLoad(world, session, 1);
  const told = () => client.of("$/zcode/turnState").map(({ params }) => params);
  expect(told()).toEqual([{ sessionId: other, running: true }]);
  const at = (matches: (message: { method?: string; result?: unknown }) => boolean) =>
    client.received.findIndex(matches);
  const isLoad = ({ result }: { result?: unknown }) => JSON.stringify(result ?? {}).includes("replayMeta");
  expect(at(({ method }) => method === "$/zcode/turnState")).toBeGreaterThan(at(isLoad));
  client.request("session/load", { sessionId: session, mcpServers: [], _meta: { zcode: { limit: 1 } } });
  world.settle();
  expect(told()).toHaveLength(1);
  world.agent.end(other);
  world.settle();
  expect(told().at(-1)).toEqual({ sessionId: other, running: false });
});

test("C4.attach-draft who attaches by the draft gets history, live updates and the draft's own kinds", () => {
  const { world, session } = shared();
  const watcher = world.remote({ name: "watcher" });
  const attached = watcher.request("session/attach", { sessionId: session, historyPolicy: "full", clientId: "me" });
  world.settle();
  expect(watcher.result(attached)).toMatchObject({
    sessionId: session,
    clientId: "me",
    historyPolicy: "full",
    connectedClients: [{ clientId: "me", name: "watcher" }],
  });
  expect(watcher.transcript(session).text()).toContain("message 0message");
  const phone = world.remote({ extended: true, name: "phone" });
  world.load(phone, session);
  world.prompt(phone, session, "hello");
  world.agent.askPermission(session, "t1");
  world.settle();
  phone.choose("allow");
  world.settle();
  world.agent.end(session);
  world.settle();
  world.disconnect(phone);
  world.settle();
  const kinds = watcher.updates(session).filter((update) => String(update["sessionUpdate"]).includes("_"));
  const draft = kinds.filter((update) => /^(prompt|turn|permission|client)_/.test(String(update["sessionUpdate"])));
  expect(draft).toMatchObject([
    { sessionUpdate: "prompt_received", prompt: [{ type: "text", text: "hello" }], sentBy: { name: "phone" } },
    { sessionUpdate: "permission_resolved", toolCallId: "t1", chosenOptionId: "allow", resolvedBy: { name: "phone" } },
    { sessionUpdate: "turn_complete", stopReason: "end_turn" },
    { sessionUpdate: "client_disconnected", client: { name: "phone" } },
  ]);
  expect(JSON.stringify(phone.raw)).not.toContain("prompt_received");
});

test("C4.attach-draft policies without history give none, and detaching ends it", () => {
  const { world, session } = shared();
  const client = world.remote();
  const id = client.request("session/attach", { sessionId: session, historyPolicy: "none" });
  world.settle();
  expect(client.result(id)).toMatchObject({ historyPolicy: "none", clientId: client.id });
  expect(client.updates(session)).toEqual([]);
  const gone = client.request("session/detach", { sessionId: session });
  world.settle();
  expect(client.result(gone)).toEqual({ sessionId: session, status: "detached" });
  world.agent.say(session, "x");
  world.settle();
  expect(client.updates(session)).toEqual([]);
  const unknown = client.request("session/attach", { sessionId: "nope" });
  world.settle();
  expect(client.error(unknown).code).toBe(-32002);
});
