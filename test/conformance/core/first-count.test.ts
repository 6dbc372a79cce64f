/** X3: an editor that steps back before the hub has counted the copies does not end what others hold. */
import { expect, test } from "vitest";
import type { AcpClient } from "../../support/world/acp-client.ts";
import { selected } from "../../support/world/shared.ts";
import { World, type WorldOptions } from "../../support/world/world.ts";

const CANCELLED = { outcome: { outcome: "cancelled" } };
const NON_ANSWERS = [
  ["an error", (editor: AcpClient) => editor.answerError(editor.openDialogs[0] as never, -32603)],
  ["cancelled", (editor: AcpClient) => editor.answer(editor.openDialogs[0] as never, CANCELLED)],
  ["nonsense", (editor: AcpClient) => editor.answer(editor.openDialogs[0] as never, { outcome: 7 })],
] as const;

/** A session of the editor's, phones that know it, and a question the hub has not heard of yet. */
function asked(phones = 1, options: WorldOptions = {}) {
  const world = new World(options).start();
  const session = world.newSession();
  const clients = Array.from({ length: phones }, () => world.remote({ extended: true }));
  for (const client of clients) world.load(client, session);
  world.stallLink(true);
  const id = world.agent.askPermission(session);
  world.settle();
  return { world, session, id, clients, phone: clients[0] };
}

const go = (world: World): World => {
  world.stallLink(false);
  return world.settle();
};

test.each(NON_ANSWERS)(
  "X3 %s of the editor before the first count is an abstention where a phone holds a copy",
  (_what, say) => {
    const { world, id, phone } = asked();
    say(world.primary);
    world.settle();
    expect(world.agent.answerTo(id)).toBeUndefined();
    go(world);
    expect(world.agent.answerTo(id)).toBeUndefined();
    phone?.choose("allow");
    world.settle();
    expect(world.agent.answerTo(id)).toEqual(selected("allow"));
  },
);

test.each(NON_ANSWERS)("X3 %s of the editor after the first count is one too", (_what, say) => {
  const { world, id } = asked();
  go(world);
  say(world.primary);
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
});

test("X3 where the first count is zero, what the editor said goes to the agent as it came", () => {
  const { world, id } = asked();
  // It may answer, but is behind another dialog: a plain client holds one at a time (X10).
  for (const client of [...world.clients]) world.disconnect(client);
  world.root.onLink(
    {
      kind: "notification",
      msg: { jsonrpc: "2.0", method: "_acp-hub/link/answerers", params: { count: 1 } },
      text: "",
    },
    world.now,
  );
  world.primary.answerError(world.primary.openDialogs[0] as never, -32601);
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  go(world);
  expect(world.agent.answerTo(id)).toEqual({ error: -32601 });
  expect(world.primary.openDialogs).toEqual([]);
});

test("X3 a valid answer of the editor never waits for the count", () => {
  const { world, id } = asked();
  world.primary.choose("reject");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("reject"));
  go(world);
  expect(world.problems).toEqual([]);
});

test.each([
  ["a hub without phones", 0, {}],
  ["a hub that never counts", 1, { isOldHub: true }],
] as const)("X3 %s delays nothing", (_what, phones, options) => {
  const { world, id } = asked(phones, options);
  world.primary.answerError(world.primary.openDialogs[0] as never, -32601);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ error: -32601 });
});

test("X3 who may only read makes nobody wait", () => {
  const world = new World().start();
  const session = world.newSession();
  world.load(world.remote({ extended: true, scopes: ["sessions:read"] }), session);
  world.stallLink(true);
  const id = world.agent.askPermission(session);
  world.settle();
  world.primary.answer(world.primary.openDialogs[0] as never, CANCELLED);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(CANCELLED);
});

test("X3 the link drops before the count: what the editor said stands", () => {
  const { world, id } = asked();
  world.primary.answerError(world.primary.openDialogs[0] as never, -32603);
  world.settle().cut();
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ error: -32603 });
  expect(world.timers.names.filter((name) => name.startsWith("root:"))).toEqual([]);
});

test("X3 after a re-dial the count of what is still open is waited for again", () => {
  const { world, id, phone } = asked();
  go(world);
  world.cut();
  world.dial().stallLink(true);
  // That somebody may answer has come; the hub has not read what is open.
  world.settle();
  world.primary.answer(world.primary.openDialogs[0] as never, CANCELLED);
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  go(world);
  phone?.choose("allow");
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(selected("allow"));
});

test("X3 a hub that hangs keeps the agent waiting for two seconds, no longer", () => {
  const { world, id } = asked();
  world.primary.answer(world.primary.openDialogs[0] as never, CANCELLED);
  world.advance(1999);
  expect(world.agent.answerTo(id)).toBeUndefined();
  world.advance(1);
  expect(world.agent.answerTo(id)).toEqual(CANCELLED);
  go(world);
  expect(world.problems).toEqual([]);
});

test("X3 a cancel of the turn, an answer of a phone and an editor that leaves all end the wait", () => {
  for (const how of ["cancel", "answer", "leave"]) {
    const { world, id, session, phone } = asked();
    world.primary.answerError(world.primary.openDialogs[0] as never, -32603);
    world.settle();
    if (how === "cancel") world.primary.notify("session/cancel", { sessionId: session });
    if (how === "leave") world.root.onPrimaryGone(world.now);
    go(world);
    if (how !== "cancel") phone?.choose("always");
    world.settle();
    expect(world.agent.answerTo(id)).toEqual(how === "cancel" ? CANCELLED : selected("always"));
    expect(world.timers.names.filter((name) => name.startsWith("root:"))).toEqual([]);
    expect(world.problems).toEqual([]);
  }
});

test("X3 X5 an editor is not asked again where nobody else ever held a copy", () => {
  const world = new World().start();
  const phone = world.remote({ extended: true, scopes: ["sessions:read", "sessions:prompt"] });
  const made = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  world.agent.askPermission(String(phone.result(made)["sessionId"]));
  world.settle();
  world.primary.answerError(world.primary.openDialogs[0] as never, -32602);
  world.settle();
  expect(world.primary.openDialogs).toEqual([]);
});
