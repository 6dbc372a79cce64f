/** X: permission and elicitation, one race for all. */
import { expect, test } from "vitest";
import { toolCall, toolUpdate } from "../../support/world/fake-agent.ts";
import { World, type WorldOptions } from "../../support/world/world.ts";

const selected = (optionId: string) => ({ outcome: { outcome: "selected", optionId } });
const CANCELLED = { outcome: { outcome: "cancelled" } };
const FORM = {
  type: "object",
  properties: { color: { type: "string", enum: ["red", "green"] }, sure: { type: "boolean" } },
  required: ["color"],
};

function shared(options: WorldOptions = {}, capabilities = {}) {
  const world = new World(options).start(capabilities);
  const session = world.newSession();
  const phone = world.remote({ extended: true, name: "phone" });
  world.load(phone, session);
  return { world, session, phone };
}

test("X1 a permission goes to all who may answer, attached or not, and to nobody who may not", () => {
  const { world, session, phone } = shared();
  const stranger = world.remote();
  const viewer = world.remote({ scopes: ["sessions:read"], extended: true });
  world.agent.askPermission(session);
  world.settle();
  for (const client of [phone, stranger, world.primary]) expect(client.openDialogs).toHaveLength(1);
  expect(viewer.openDialogs).toEqual([]);
});

test("X1 a form goes to those who can show forms, popups to the others, a url only to those who open urls", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ forms: true, extended: true });
  world.agent.askForm(session, FORM);
  world.settle();
  expect(desk.dialog?.method).toBe("elicitation/create");
  expect(phone.dialog?.method).toBe("session/request_permission");
  expect(world.primary.dialog?.method).toBe("session/request_permission");
  const browser = world.remote({ urls: true, extended: true });
  world.agent.askForm(session, {}, { mode: "url", url: "https://x", elicitationId: "e1" });
  world.settle();
  expect(browser.openDialogs.at(-1)?.params).toMatchObject({ url: "https://x" });
  expect(phone.openDialogs).toHaveLength(1);
});

test("X1 a session the editor did not open is offered to it as well, and its error is an abstention", () => {
  const { world, phone } = shared();
  const made = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  const session = String(phone.result(made)["sessionId"]);
  const id = world.agent.askPermission(session);
  world.disconnect(phone);
  world.settle();
  const [dialog] = world.primary.openDialogs;
  if (dialog !== undefined) world.primary.answerError(dialog, -32602);
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  const back = world.remote();
  back.choose("allow");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
});

test("X2 the first valid answer goes to the agent once, the others get a cancel under their own ids, told twice", () => {
  const { world, session, phone } = shared();
  const tablet = world.remote();
  const id = world.agent.askPermission(session);
  world.settle();
  const [mine, theirs] = [tablet.dialog?.id, world.primary.dialog?.id];
  phone.choose("always");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("always"));
  expect(tablet.of("$/cancel_request")[0]?.params).toEqual({ requestId: mine, id: mine });
  expect(world.primary.of("$/cancel_request")[0]?.params).toEqual({ requestId: theirs, id: theirs });
  expect(phone.of("$/cancel_request")).toEqual([]);
  expect(world.problems).toEqual([]);
});

test('X2 an agent that asks under 0, "0" and a text gets each answer under exactly that id', () => {
  const { world, session, phone } = shared();
  const params = {
    sessionId: session,
    options: [{ optionId: "a", name: "A", kind: "allow_once" }],
    toolCall: { toolCallId: "t" },
  };
  for (const id of [0, "0", "ünï", -3, ""]) world.agent.ask("session/request_permission", { ...params, n: id }, id);
  world.settle();
  for (const dialog of phone.openDialogs) phone.choose("a", dialog);
  world.settle();
  expect([...world.agent.answers.keys()]).toEqual([0, "0", "ünï", -3, ""]);
  expect(world.problems).toEqual([]);
});

test("X3 errors, nonsense and disconnects leave the race, the others go on", () => {
  const { world, session, phone } = shared();
  const [a, b, c] = [world.remote(), world.remote(), world.remote()];
  const id = world.agent.askPermission(session);
  world.settle();
  for (const [client, code] of [
    [a, -32601],
    [b, -32800],
  ] as const)
    client.answerError(client.openDialogs[0] as never, code);
  world.disconnect(c);
  phone.answer(phone.openDialogs[0] as never, { outcome: { outcome: "selected", optionId: "nonsense" } });
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  expect(phone.of("_acp-hub/interaction_rejected")).toHaveLength(1);
  world.primary.choose("allow");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
});

test("X3 cancelled from one who did not cancel the turn is an abstention while others are in the race", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  world.primary.answer(world.primary.openDialogs[0] as never, CANCELLED);
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  phone.answer(phone.openDialogs[0] as never, CANCELLED);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(CANCELLED);
});

test.each([
  ["an error", { error: { code: -32601, message: "no such method" } }],
  ["cancelled", { result: CANCELLED }],
  ["nonsense", { result: { outcome: "odd", optionId: 7 } }],
])("X3 the primary alone is transparent: %s goes to the agent as it came", (_what, body) => {
  const world = new World().start();
  const session = world.newSession();
  world.remote({ scopes: ["sessions:read"] });
  const id = world.agent.askPermission(session);
  world.settle();
  world.primary.sendRaw(JSON.stringify({ jsonrpc: "2.0", id: world.primary.dialog?.id, ...body }));
  world.settle();
  expect(world.agent.answers.get(id)).toEqual({ jsonrpc: "2.0", id, ...body });
});

test("X3 the primary alone that sees popups instead of a form never leaves the agent waiting", () => {
  for (const answer of [
    { error: { code: -32603, message: "x" } },
    { result: { outcome: {} } },
    { result: CANCELLED },
  ]) {
    const world = new World().start();
    const session = world.newSession();
    const id = world.agent.askForm(session, FORM);
    world.settle();
    world.primary.sendRaw(JSON.stringify({ jsonrpc: "2.0", id: world.primary.dialog?.id, ...answer }));
    world.settle();
    expect(world.agent.answers.has(id)).toBe(true);
  }
});

test("X3 an answer whose scope was taken away meanwhile does not count", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  const [dialog] = phone.openDialogs;
  world.mirror.onScopesChanged(phone.connection, new Set(["sessions:read"]));
  if (dialog !== undefined) phone.answer(dialog, selected("allow"));
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
});

test("X4 a late answer changes nothing, is counted, and its sender knows who won", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askPermission(session);
  world.settle();
  const [late] = phone.openDialogs;
  world.primary.choose("allow");
  world.settle();
  if (late !== undefined) phone.answer(late, selected("reject"));
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
  expect(world.mirrorObserved.filter((each) => each.kind === "late-answer")).toHaveLength(1);
  expect(phone.of("_acp-hub/interaction_settled")[0]?.params).toMatchObject({ by: { name: "editor" } });
  expect(world.problems).toEqual([]);
});

test("X5 with nobody left the interaction stays open, whatever time passes, and who comes can answer", () => {
  const world = new World({ root: { hasPrimary: false } });
  world.root.startHeadless();
  world.dial().settle();
  const phone = world.remote();
  const made = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  const id = world.agent.askPermission(String(phone.result(made)["sessionId"]));
  world.settle();
  world.disconnect(phone);
  world.advance(86_400_000);
  expect(world.agent.answers.size).toBe(0);
  const back = world.remote();
  back.choose("allow");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
});

test.each(["leaves", "loses its link"])(
  "X5 when the last other copy goes (it %s), a primary that had abstained is asked again",
  (how) => {
    const { world, session, phone } = shared();
    const id = world.agent.askPermission(session);
    world.settle();
    const first = world.primary.openDialogs[0];
    if (first !== undefined) world.primary.answerError(first, -32603);
    world.settle();
    expect(world.primary.openDialogs).toEqual([]);
    if (how === "leaves") world.disconnect(phone);
    else world.cut();
    world.settle();
    expect(world.primary.dialog?.id).not.toBe(first?.id);
    world.primary.choose("reject");
    world.settle();
    expect(world.agent.answerTo(id)).toEqual(selected("reject"));
  },
);

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

test("X8 a client without forms gets one popup per field, and its choices are one form answer", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askForm(session, FORM);
  world.settle();
  const [first] = phone.openDialogs;
  expect(first?.params).toMatchObject({
    toolCall: { rawInput: { description: expect.stringContaining("Which one?") } },
    options: [{ name: "red" }, { name: "green" }, { name: "Decline", kind: "reject_once" }],
    _meta: { "acp-hub": { step: { index: 0, of: 2 } } },
  });
  phone.choose("acp-hub:0:1");
  world.settle();
  expect(phone.dialog?.params["options"]).toMatchObject([
    { name: "Yes" },
    { name: "No" },
    { name: "Skip" },
    { name: "Decline" },
  ]);
  phone.choose("acp-hub:1:0");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ action: "accept", content: { color: "green", sure: true } });
  expect(world.primary.openDialogs).toEqual([]);
});

test("X8 a form answer cancels half-answered popups, and partial answers start over with the connection", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ forms: true, extended: true });
  const id = world.agent.askForm(session, FORM);
  world.settle();
  phone.choose("acp-hub:0:0");
  world.settle();
  world.load(phone, session);
  expect(phone.dialog?.params["_meta"]).toMatchObject({ "acp-hub": { step: { index: 0 } } });
  desk.answer(desk.openDialogs[0] as never, { action: "accept", content: { color: "red" } });
  world.settle();
  expect(phone.openDialogs).toEqual([]);
  expect(world.agent.answerTo(id)).toEqual({ action: "accept", content: { color: "red" } });
});

test("X8 a backend's recipe is followed, and its own form content goes back", () => {
  const { world, session, phone } = shared();
  const recipe = [
    {
      title: "Ship it?",
      options: [
        { optionId: "y", name: "Yes", kind: "allow_once", set: { answer: "yes" } },
        { optionId: "n", name: "No", kind: "reject_once", action: "decline" },
      ],
    },
  ];
  const ask = (): unknown =>
    world.agent.ask("elicitation/create", {
      sessionId: session,
      mode: "form",
      message: "m",
      requestedSchema: { type: "object" },
      _meta: { "acp-hub": { downgrade: recipe } },
    });
  const yes = ask();
  world.settle();
  expect(phone.dialog?.params["toolCall"]).toMatchObject({ title: "Ship it?" });
  expect(JSON.stringify(phone.raw)).not.toContain("downgrade");
  phone.choose("y");
  const no = ask();
  world.settle();
  phone.choose("n");
  world.settle();
  expect(world.agent.answerTo(yes as never)).toEqual({ action: "accept", content: { answer: "yes" } });
  expect(world.agent.answerTo(no as never)).toEqual({ action: "decline" });
});

test("X8 a form no buttons can answer can still be declined, so that nobody is stuck", () => {
  const { world, session, phone } = shared();
  const id = world.agent.askForm(session, { properties: { why: { type: "string" } }, required: ["why"] });
  world.settle();
  expect(phone.dialog?.params["options"]).toMatchObject([{ name: "Decline" }]);
  phone.choose("acp-hub:decline");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ action: "decline" });
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

test("X12 a question scoped by a request goes to the client whose request it names, under that client's own id", () => {
  const { world, phone } = shared();
  const desk = world.remote({ forms: true, extended: true, scopes: ["admin", "sessions:read", "interactions:answer"] });
  world.agent.hold("authenticate");
  const mine = desk.request("authenticate", { methodId: "m" }, "my own id");
  world.settle();
  const [call] = world.agent.pending;
  const id = world.agent.ask("elicitation/create", {
    requestId: call?.id ?? null,
    mode: "form",
    message: "code?",
    requestedSchema: {},
  });
  world.settle();
  expect(desk.dialog?.params["requestId"]).toBe(mine);
  expect(phone.openDialogs).toEqual([]);
  expect(world.primary.openDialogs).toEqual([]);
  world.disconnect(desk);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ action: "cancel" });
});

test.each(["cannot show it", "is cut off", "was never there"])(
  "X12 the one client it is for %s: the agent gets a cancel",
  (how) => {
    const { world } = shared();
    const client = world.remote({
      forms: how !== "cannot show it",
      extended: true,
      scopes: ["admin", "sessions:read", "interactions:answer"],
    });
    world.agent.hold("authenticate");
    client.request("authenticate", { methodId: "m" });
    world.settle();
    if (how === "is cut off") world.cut();
    const requestId = how === "was never there" ? 4711 : (world.agent.pending[0]?.id ?? null);
    const id = world.agent.ask("elicitation/create", { requestId, mode: "form", message: "?", requestedSchema: {} });
    world.settle();
    expect(world.agent.answerTo(id)).toEqual({ action: "cancel" });
  },
);

test("X12 that a url elicitation is complete is told to those who got it", () => {
  const { world, session, phone } = shared();
  const browser = world.remote({ urls: true, extended: true });
  world.agent.askForm(session, {}, { mode: "url", url: "https://x", elicitationId: "e1" });
  world.agent.notify("elicitation/complete", { elicitationId: "e1" });
  world.settle();
  expect(browser.of("elicitation/complete")).toHaveLength(1);
  expect(phone.of("elicitation/complete")).toEqual([]);
});

test("X13 every settling is told to the record once: what, who and when, never free text", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ forms: true, extended: true, name: "desk" });
  world.agent.askPermission(session);
  world.settle();
  phone.choose("allow");
  world.settle();
  world.agent.askForm(session, { properties: { why: { type: "string" } } });
  world.settle();
  desk.answer(desk.openDialogs[0] as never, { action: "accept", content: { why: "secret words" } });
  world.settle().cut();
  world.dial().settle();
  const records = world.mirrorObserved.filter((each) => each.kind === "settled");
  expect(records).toMatchObject([
    {
      notice: {
        outcome: { action: "answered", optionId: "allow", optionName: "Allow" },
        by: { name: "phone" },
        at: world.now,
      },
    },
    {
      notice: {
        outcome: { action: "answered", elicitation: "accept" },
        by: { name: "desk", device: desk.connection.device },
      },
    },
  ]);
  expect(JSON.stringify(records)).not.toContain("secret");
});
