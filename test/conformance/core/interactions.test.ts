/** X1–X5: one race for all, who is in it and who leaves it. */
import { expect, test } from "vitest";
import { PRESETS } from "../../../src/protocol/scopes.ts";
import { CANCELLED, FORM, selected, shared } from "../../support/world/shared.ts";
import { World } from "../../support/world/world.ts";

test("X1 a permission goes to all who may answer, attached or not, and to nobody who may not", () => {
  const { world, session, phone } = shared();
  const stranger = world.remote();
  const viewer = world.remote({ scopes: ["sessions:read"], extended: true });
  world.agent.askPermission(session);
  world.settle();
  for (const client of [phone, stranger, world.primary]) expect(client.openDialogs).toHaveLength(1);
  expect(viewer.openDialogs).toEqual([]);
});

test("X1 a form goes to those who can show forms, popups to the others, a url only to its owner's that open urls", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ forms: true, extended: true });
  world.agent.askForm(session, FORM);
  world.settle();
  expect(desk.dialog?.method).toBe("elicitation/create");
  expect(phone.dialog?.method).toBe("session/request_permission");
  expect(world.primary.dialog?.method).toBe("session/request_permission");
  const browser = world.remote({ urls: true, extended: true, scopes: PRESETS.owner });
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
  // It loads nothing: a watcher, as soon as that is clear.
  world.advance(1_000);
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
  // It loads nothing: a watcher, as soon as that is clear.
  world.advance(1_000);
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
