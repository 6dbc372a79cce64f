/** X6, X7, X9–X11: interactions over loads, cancels and the ends of turns. */
import { expect, test } from "vitest";
import type { AcpClient } from "../../support/world/acp-client.ts";
import { toolCall, toolUpdate } from "../../support/world/fake-agent.ts";
import { CANCELLED, FORM, selected, shared } from "../../support/world/shared.ts";
import { World } from "../../support/world/world.ts";

test("X6 after a load everything open is asked once: at once for who knows us, 300 ms later for others", () => {
  const { world, session, phone } = shared();
  const plain = world.remote();
  world.agent.update(session, toolCall("call-1"));
  world.agent.askPermission(session);
  world.settle();
  const old = plain.dialog?.id;
  world.load(phone, session);
  expect(phone.openDialogs).toHaveLength(1);
  world.sendLoad(plain, session);
  world.advance(299);
  expect(plain.of("session/request_permission")).toHaveLength(1);
  world.advance(1);
  expect(plain.openDialogs).toHaveLength(1);
  expect(plain.dialog?.id).not.toBe(old);
  expect(plain.of("$/cancel_request")[0]?.params).toEqual({ requestId: old, id: old });
  const methods = plain.received.map((message) => message.method ?? "response");
  expect(methods.lastIndexOf("session/request_permission")).toBeGreaterThan(methods.lastIndexOf("response"));
});

test("X6 row 96: a question stays with its session, whoever loads another; row 106: nothing is asked of who has left", () => {
  const { world, session } = shared();
  const other = world.newSession();
  world.agent.askPermission(session, "t1");
  world.agent.askPermission(other, "t2");
  world.settle();
  for (const dialog of world.primary.openDialogs)
    expect(dialog.params["sessionId"]).toBe(JSON.stringify(dialog.params).includes('"t1"') ? session : other);
  const reader = world.remote({ extended: true });
  world.load(reader, other);
  const asked = reader.of("session/request_permission").map(({ params }) => params?.["sessionId"]);
  expect(asked.filter((each) => each === other)).toHaveLength(2);
  expect(asked.filter((each) => each === session)).toHaveLength(1);
  expect(reader.openDialogs).toHaveLength(2);
  const plain = world.remote();
  world.sendLoad(plain, session);
  world.settle();
  world.disconnect(plain);
  const before = plain.received.length;
  world.advance(300);
  expect(plain.received).toHaveLength(before);
  expect(world.problems).toEqual([]);
});

test("X6 what is settled within the pause is not sent, and what is opened within it is not asked twice", () => {
  const { world, session } = shared();
  world.agent.askPermission(session, "t1");
  world.settle();
  const plain = world.connect();
  plain.request("initialize", { protocolVersion: 1, clientCapabilities: {} });
  world.settle();
  world.sendLoad(plain, session);
  world.settle();
  world.primary.choose("allow");
  world.agent.askPermission(session, "t2");
  world.settle();
  const before = plain.of("session/request_permission").length;
  world.advance(300);
  expect(plain.openDialogs).toHaveLength(1);
  expect(plain.of("session/request_permission")).toHaveLength(before);
  expect(world.problems).toEqual([]);
});

test("X6 the editor is asked too: one that did not know the session when the question came is asked once it has loaded it", () => {
  const world = new World().start();
  const phone = world.remote({ extended: true });
  const created = phone.request("session/new", { cwd: "/work/project", mcpServers: [] });
  world.settle();
  const session = String(phone.result(created)["sessionId"]);
  world.agent.update(session, toolCall("call-1"));
  const ask = world.agent.askPermission(session);
  world.settle();
  for (const dialog of world.primary.openDialogs) world.primary.answerError(dialog, -32602);
  world.disconnect(phone);
  world.settle();
  // X5: with nobody else left it is asked once more, and still knows no such session.
  for (const dialog of world.primary.openDialogs) world.primary.answerError(dialog, -32602);
  world.settle();
  world.sendLoad(world.primary, session);
  world.advance(299);
  expect(world.primary.openDialogs).toEqual([]);
  world.advance(1);
  expect(world.primary.openDialogs).toHaveLength(1);
  world.primary.choose("allow");
  world.settle();
  expect(world.agent.answerTo(ask)).toEqual(selected("allow"));
  expect(world.problems).toEqual([]);
});

test("X6 an editor that loads its session anew has exactly one dialog after it, under a new id; what is settled meanwhile is not asked", () => {
  for (const isExtended of [true, false]) {
    const { world, session, phone } = shared({}, isExtended ? { _meta: { "acp-hub": {} } } : {});
    world.agent.update(session, toolCall("t1"));
    const [first, second] = [world.agent.askPermission(session, "t1"), world.agent.askPermission(session, "t2")];
    world.settle();
    const before = world.primary.openDialogs.map(({ id }) => id);
    world.sendLoad(world.primary, session);
    world.settle();
    expect(world.primary.openDialogs).toHaveLength(isExtended ? 2 : 0);
    phone.choose("allow", phone.openDialogs[1]);
    world.advance(300);
    expect(world.primary.openDialogs.map(({ params }) => params["toolCall"])).toMatchObject([{ toolCallId: "t1" }]);
    const withdrawn = world.primary.of("$/cancel_request").map(({ params }) => params?.["requestId"]);
    expect(withdrawn).toEqual(expect.arrayContaining(before));
    world.primary.choose("reject");
    world.settle();
    expect([first, second].map((id) => world.agent.answerTo(id))).toEqual([selected("reject"), selected("allow")]);
    expect(world.problems).toEqual([]);
  }
});

test("X6 an editor that resumes a live session sees the card first, one that loads it has it from the replay", () => {
  const { world, session } = shared({}, { _meta: { "acp-hub": {} } });
  world.agent.update(session, toolCall("t1", { title: "Delete all", rawInput: { rm: "-rf" } }));
  world.agent.askPermission(session, "t1");
  world.settle();
  const beforeQuestion = (method: string) => {
    world.sendLoad(world.primary, session, undefined, method);
    world.settle();
    const at = world.primary.received.findLastIndex((message) => message.method === "session/request_permission");
    const before = world.primary.received.slice(0, at);
    return before.findLast((message) => message.method === "session/update" || message.method === undefined)?.params;
  };
  expect(beforeQuestion("session/resume")).toMatchObject({
    update: { sessionUpdate: "tool_call", toolCallId: "t1", title: "Run t1", rawInput: { rm: "-rf" } },
    _meta: { "acp-hub": { synthetic: "local" } },
  });
  expect(beforeQuestion("session/load")).toBeUndefined();
});

test("X6 the card is shown first where the replay just given lacks it, and only there", () => {
  const { world, session } = shared();
  world.agent.update(session, toolCall("call-1", { title: "Delete all", rawInput: { rm: "-rf" } }));
  world.agent.askPermission(session, "call-1");
  world.settle();
  const cards = (history: string) => {
    const client = world.remote({ extended: true });
    world.load(client, session, { history });
    const at = client.received.findLastIndex((message) => message.method === "session/request_permission");
    return client.received[at - 1]?.params?.["_meta"];
  };
  expect(cards("none")).toEqual({ "acp-hub": { synthetic: "local" } });
  expect(cards("full")).toBeUndefined();
});

test("X6 an agent that sends no card at all gets one built from its request", () => {
  const { world, session, phone } = shared();
  world.agent.askPermission(session, "never-seen");
  world.settle();
  const at = phone.received.findIndex((message) => message.method === "session/request_permission");
  expect(phone.received[at - 1]?.params).toMatchObject({
    update: { sessionUpdate: "tool_call", toolCallId: "never-seen", title: "Run never-seen" },
    _meta: { "acp-hub": { synthetic: "local" } },
  });
});

test("X7 a cancel is forwarded once, then every open interaction is answered cancelled and every copy closed", () => {
  const { world, session, phone } = shared();
  const id = world.prompt(world.primary, session, "go");
  const [permission, form] = [world.agent.askPermission(session), world.agent.askForm(session, FORM)];
  world.settle();
  phone.notify("session/cancel", { sessionId: session });
  world.settle();
  phone.notify("session/cancel", { sessionId: session });
  world.settle();
  expect(world.agent.of("session/cancel")).toHaveLength(1);
  expect(world.agent.answerTo(permission)).toEqual(CANCELLED);
  expect(world.agent.answerTo(form)).toEqual({ action: "cancel" });
  for (const client of [phone, world.primary]) expect(client.openDialogs).toEqual([]);
  expect(world.primary.result(id)).toEqual({ stopReason: "cancelled" });
});

test("X7 what the agent asks for the dying turn is answered without being shown, until every prompt has its response", () => {
  const { world, session, phone } = shared();
  world.agent.endsOnCancel = false;
  world.prompt(phone, session, "one");
  world.prompt(phone, session, "two");
  phone.notify("session/cancel", { sessionId: session });
  world.settle();
  world.agent.end(session, "cancelled");
  const late = world.agent.askPermission(session);
  world.settle();
  expect(world.agent.answerTo(late)).toEqual(CANCELLED);
  expect(phone.openDialogs).toEqual([]);
  world.agent.end(session, "cancelled");
  const next = world.agent.askPermission(session);
  world.settle();
  expect(phone.openDialogs).toHaveLength(1);
  expect(world.agent.answerTo(next)).toBeUndefined();
});

test("X7 the sender's own waiting prompts are cancelled, those of others start when the turn has ended", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote();
  world.prompt(world.primary, session, "running");
  const [mine, theirs] = [world.prompt(phone, session, "mine"), world.prompt(tablet, session, "theirs")];
  phone.notify("session/cancel", { sessionId: session });
  world.settle();
  expect(phone.result(mine)).toEqual({ stopReason: "cancelled" });
  expect(world.agent.prompts.map((prompt) => prompt.params["prompt"])).toMatchObject([[{ text: "theirs" }]]);
  world.agent.end(session);
  world.settle();
  expect(tablet.result(theirs)).toEqual({ stopReason: "end_turn" });
});

test("X7 a cancel of nothing is not forwarded: it would poison the next turn", () => {
  const { world, session, phone } = shared();
  phone.notify("session/cancel", { sessionId: session });
  world.settle();
  expect(world.agent.of("session/cancel")).toEqual([]);
  world.agent.say(session, "working on my own");
  phone.notify("session/cancel", { sessionId: session });
  world.settle();
  expect(world.agent.of("session/cancel")).toHaveLength(1);
  world.agent.askPermission(session);
  phone.notify("session/cancel", { sessionId: session });
  world.settle();
  expect(world.agent.of("session/cancel")).toHaveLength(2);
  const viewer = world.remote({ scopes: ["sessions:read"] });
  world.prompt(world.primary, session, "x");
  viewer.notify("session/cancel", { sessionId: session });
  world.settle();
  expect(world.agent.of("session/cancel")).toHaveLength(2);
});

test("X9 the agent's own cancel ends the race for everyone and is answered, unless an answer has won", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  world.agent.notify("$/cancel_request", { requestId: id });
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ error: -32800 });
  for (const client of [phone, world.primary]) expect(client.openDialogs).toEqual([]);
  const won = world.agent.askPermission(session);
  world.settle();
  phone.choose("allow");
  world.settle();
  world.agent.notify("$/cancel_request", { requestId: won });
  world.settle();
  expect(world.agent.answerTo(won)).toEqual(selected("allow"));
  expect(world.problems).toEqual([]);
});

test("X10 several are open at once and in order for who knows us, one at a time for plain clients", () => {
  const { world, session, phone } = shared();
  const plain = world.remote();
  const ids = ["t1", "t2", "t3"].map((id) => world.agent.askPermission(session, id));
  world.settle();
  expect(phone.openDialogs.map((dialog) => dialog.params["toolCall"])).toMatchObject([
    { toolCallId: "t1" },
    { toolCallId: "t2" },
    { toolCallId: "t3" },
  ]);
  expect(plain.openDialogs).toHaveLength(1);
  phone.choose("allow", phone.openDialogs[1]);
  world.settle();
  plain.choose("allow");
  world.settle();
  expect(plain.dialog?.params["toolCall"]).toMatchObject({ toolCallId: "t3" });
  plain.choose("reject");
  world.settle();
  expect(ids.map((id) => world.agent.answerTo(id))).toEqual([selected("allow"), selected("allow"), selected("reject")]);
});

test("X10 a plain client's line survives loads, withdrawals and a change of what it declares", () => {
  const { world, session } = shared();
  const plain = world.remote();
  const ids = ["t1", "t2", "t3"].map((id) => world.agent.askPermission(session, id));
  world.settle();
  world.load(plain, session);
  world.advance(300);
  world.agent.notify("$/cancel_request", { requestId: ids[0] ?? null });
  world.settle();
  expect(plain.openDialogs.map((dialog) => dialog.params["toolCall"])).toMatchObject([{ toolCallId: "t2" }]);
  plain.request("initialize", { protocolVersion: 1, clientCapabilities: { _meta: { "acp-hub": {} } } });
  world.settle();
  expect(plain.openDialogs.map((dialog) => dialog.params["toolCall"])).toMatchObject([
    { toolCallId: "t2" },
    { toolCallId: "t3" },
  ]);
  expect(world.problems).toEqual([]);
});

test("X10 nobody approves blind: title and input come from the card where the request leaves them out", () => {
  const { world, session, phone } = shared();
  world.agent.update(session, toolCall("t1", { title: "rm -rf build", rawInput: { command: "rm" } }));
  world.agent.ask("session/request_permission", { sessionId: session, toolCall: { toolCallId: "t1" }, options: [] });
  world.settle();
  expect(phone.dialog?.params["toolCall"]).toEqual({
    toolCallId: "t1",
    title: "rm -rf build",
    rawInput: { command: "rm" },
  });
  expect(world.primary.dialog?.params["toolCall"]).toEqual({ toolCallId: "t1" });
});

test("X11 a card the agent leaves open after a settlement gets its final state when the turn ends, marked as ours", () => {
  const { world, session, phone } = shared();
  world.prompt(world.primary, session, "go");
  for (const id of ["silent", "told", "allowed"]) {
    world.agent.update(session, toolCall(id));
    world.agent.askPermission(session, id);
    world.settle();
    phone.choose(id === "allowed" ? "allow" : "reject");
    world.settle();
  }
  world.agent.update(session, toolUpdate("told", { status: "in_progress" }));
  world.agent.end(session);
  world.settle();
  expect(phone.transcript(session).card("silent")?.["status"]).toBe("failed");
  expect(phone.transcript(session).card("told")?.["status"]).toBe("in_progress");
  expect(phone.transcript(session).card("allowed")?.["status"]).toBe("completed");
  const marked = phone.of("session/update").filter((message) => JSON.stringify(message).includes('"synthetic":"root"'));
  expect(marked).toHaveLength(2);
  expect(world.primary.transcript(session).card("silent")?.["status"]).toBe("failed");
});

test("X3 an answer from outside the sockets gives nothing up while others are asked, and does once none is left", () => {
  const world = new World().start();
  const phone = world.remote({ extended: true });
  const created = phone.request("session/new", { cwd: "/work/project", mcpServers: [] });
  world.settle();
  const ask = world.agent.askPermission(String(phone.result(created)["sessionId"]));
  world.settle();
  const stepBack = (client: AcpClient): void => {
    for (const dialog of client.openDialogs) client.answerError(dialog, -32601);
    world.settle();
  };
  const verdicts: string[] = [];
  const giveUp = (): void => {
    const by = { connectionId: "http", device: "script", name: "script" };
    for (const { interactionId } of world.mirror.openInteractions())
      world.mirror.answer(interactionId, { result: CANCELLED }, by, ({ kind }) => verdicts.push(kind));
    world.settle();
  };
  stepBack(world.primary);
  giveUp();
  expect(verdicts).toEqual(["rejected"]);
  expect(phone.openDialogs).toHaveLength(1);
  expect(world.agent.answerTo(ask)).toBeUndefined();
  stepBack(phone);
  // X5: the editor is asked once more, and steps back again.
  stepBack(world.primary);
  giveUp();
  expect(verdicts).toEqual(["rejected", "settled"]);
  expect(world.agent.answerTo(ask)).toEqual(CANCELLED);
});
