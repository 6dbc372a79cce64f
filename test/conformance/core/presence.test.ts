/** C4.extensions presence: who is attached to a session, the editor among them. */
import { expect, test } from "vitest";
import type { AcpClient } from "../../support/world/acp-client.ts";
import { World } from "../../support/world/world.ts";

const EDITOR = { connectionId: "primary", device: "primary", name: "Zed", primary: true };

function shared(clientInfo: Record<string, unknown> = { name: "zed", title: "Zed", version: "1.2", token: "s3cret" }) {
  const world = new World();
  world.primary.request("initialize", { protocolVersion: 1, clientInfo: clientInfo as never, clientCapabilities: {} });
  world.dial().settle();
  const session = world.newSession();
  const phone = world.remote({ extended: true, name: "phone" });
  world.load(phone, session);
  return { world, session, phone };
}

const last = (client: AcpClient) => client.of("_acp-hub/presence").at(-1)?.params;

test("C4.extensions presence names the editor first, and of its program no more than name, title and version", () => {
  const { phone, session } = shared();
  expect(last(phone)).toEqual({
    sessionId: session,
    clients: [
      { ...EDITOR, client: { name: "zed", title: "Zed", version: "1.2" } },
      { connectionId: phone.id, device: phone.connection.device, name: "phone", client: null },
    ],
    count: 2,
  });
});

test("C4.extensions presence follows the editor: gone when it closes the session, back when it loads it", () => {
  const { world, phone, session } = shared();
  world.primary.request("session/close", { sessionId: session });
  world.settle();
  expect(last(phone)).toMatchObject({ clients: [{ name: "phone" }], count: 1 });
  world.load(world.primary, session);
  expect(last(phone)).toMatchObject({ clients: [EDITOR, { name: "phone" }], count: 2 });
  world.root.onPrimaryGone(world.now);
  world.settle();
  expect(last(phone)).toMatchObject({ clients: [{ name: "phone" }], count: 1 });
});

test("C4.extensions presence of a session a remote client made has no editor until the editor loads it", () => {
  const { world, phone } = shared();
  const made = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  const session = String(phone.result(made)["sessionId"]);
  expect(last(phone)).toMatchObject({ sessionId: session, clients: [{ name: "phone" }], count: 1 });
  world.load(world.primary, session);
  expect(last(phone)).toMatchObject({ sessionId: session, clients: [EDITOR, { name: "phone" }], count: 2 });
});

test("C4.extensions presence knows the editor through a re-dial, a hub restart and a change of its name", () => {
  const { world, session } = shared();
  world.restartHub();
  world.dial().settle();
  const back = world.remote({ extended: true, name: "back" });
  world.load(back, session);
  expect(last(back)).toMatchObject({ clients: [EDITOR, { name: "back" }] });
  world.primary.request("initialize", { protocolVersion: 1, clientInfo: { name: "other" }, clientCapabilities: {} });
  world.settle();
  expect(last(back)).toMatchObject({ clients: [{ connectionId: "primary", name: "other" }, { name: "back" }] });
});

test("C4.extensions a client that calls itself something endless is cut short, and its other words stay its own", () => {
  const { world, phone, session } = shared();
  const talker = world.connect({ extended: true, name: "talker" });
  const clientInfo = { name: "n".repeat(5000), secret: "mine" };
  talker.request("initialize", { protocolVersion: 1, clientInfo, clientCapabilities: talker.capabilities });
  world.settle();
  world.load(talker, session);
  expect(last(phone)).toMatchObject({ clients: [EDITOR, {}, { client: { name: "n".repeat(64) } }] });
  expect(JSON.stringify(phone.raw)).not.toContain("mine");
});

test("C4.extensions a headless instance has no editor to name", () => {
  const world = new World({ root: { hasPrimary: false } });
  world.root.startHeadless();
  world.dial().settle();
  const phone = world.remote({ extended: true, name: "phone" });
  const made = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  expect(last(phone)).toMatchObject({
    sessionId: phone.result(made)["sessionId"],
    clients: [{ name: "phone" }],
    count: 1,
  });
});

function withExtendedEditor() {
  const world = new World();
  const clientInfo = { name: "zed", title: "Zed" };
  const clientCapabilities = { _meta: { "acp-hub": {} } };
  world.primary.request("initialize", { protocolVersion: 1, clientInfo, clientCapabilities });
  world.dial().settle();
  return { world, session: world.newSession() };
}

test("C4.extensions B4 an editor that understands it is told who joins and leaves its session, as the others are", () => {
  const { world, session } = withExtendedEditor();
  expect(world.primary.of("_acp-hub/presence")).toEqual([]);
  const phone = world.remote({ extended: true, name: "phone" });
  world.load(phone, session);
  expect(last(world.primary)).toEqual(last(phone));
  expect(last(world.primary)).toMatchObject({ sessionId: session, clients: [EDITOR, { name: "phone" }], count: 2 });
  const plain = world.remote({ name: "plain" });
  world.load(plain, session);
  world.disconnect(phone);
  world.settle();
  expect(last(world.primary)).toMatchObject({ clients: [EDITOR, { name: "plain" }], count: 2 });
  world.disconnect(plain);
  world.settle();
  expect(last(world.primary)).toMatchObject({ clients: [EDITOR], count: 1 });
  expect(world.problems).toEqual([]);
});

test("C4.extensions an editor alone in its sessions is told nothing, through re-dials and hub restarts", () => {
  const { world } = withExtendedEditor();
  world.cut();
  world.dial().settle();
  world.restartHub();
  world.dial().settle();
  expect(world.primary.of("_acp-hub/presence")).toEqual([]);
});

test("C4.extensions an editor whose hub dies is told that it is alone, and again who is there when they are back", () => {
  const { world, session } = withExtendedEditor();
  world.load(world.remote({ extended: true, name: "phone" }), session);
  world.restartHub();
  world.settle();
  expect(last(world.primary)).toEqual({
    sessionId: session,
    clients: [{ ...EDITOR, client: { name: "zed", title: "Zed" } }],
    count: 1,
  });
  world.dial().settle();
  world.load(world.remote({ extended: true, name: "back" }), session);
  expect(last(world.primary)).toMatchObject({ clients: [EDITOR, { name: "back" }], count: 2 });
});

test("C4.extensions an editor is told of no session it closed, nor one that never said it understands", () => {
  const { world, session } = withExtendedEditor();
  world.primary.request("session/close", { sessionId: session });
  world.settle();
  const before = world.primary.of("_acp-hub/presence").length;
  world.load(world.remote({ extended: true, name: "phone" }), session);
  expect(world.primary.of("_acp-hub/presence")).toHaveLength(before);
  const { world: plain, session: other } = shared();
  plain.load(plain.remote({ extended: true }), other);
  expect(plain.primary.of("_acp-hub/presence")).toEqual([]);
});

test("C4.extensions C2.scopes typing is passed on to the others who read the session and understand it, and to nobody else", () => {
  const { world, session, phone } = shared();
  const desk = world.remote({ extended: true });
  const plain = world.remote();
  const elsewhere = world.remote({ extended: true });
  for (const client of [desk, plain]) world.load(client, session);
  phone.notify("_acp-hub/typing", { sessionId: session, typing: true, by: { name: "forged" } });
  world.settle();
  const { id: connectionId, connection } = phone;
  const by = { connectionId, device: connection.device, name: "phone" };
  expect(desk.of("_acp-hub/typing").map((frame) => frame.params)).toEqual([{ sessionId: session, typing: true, by }]);
  for (const client of [phone, plain, elsewhere, world.primary]) expect(client.of("_acp-hub/typing")).toEqual([]);
  phone.notify("_acp-hub/typing", { sessionId: session, typing: false });
  world.settle();
  expect(desk.of("_acp-hub/typing").at(-1)?.params).toMatchObject({ typing: false });
  expect(world.agent.of("_acp-hub/typing")).toEqual([]);
});

test("C4.extensions C2.scopes who may not write, or does not read the session, types for nobody; and no one without end", () => {
  const { world, session, phone } = shared();
  const viewer = world.remote({ extended: true, scopes: ["sessions:read"] });
  world.load(viewer, session);
  const stranger = world.remote({ extended: true });
  for (const client of [viewer, stranger]) client.notify("_acp-hub/typing", { sessionId: session, typing: true });
  stranger.notify("_acp-hub/typing", { sessionId: "none", typing: true });
  world.settle();
  expect(phone.of("_acp-hub/typing")).toEqual([]);
  for (let sign = 0; sign < 50; sign += 1)
    phone.notify("_acp-hub/typing", { sessionId: session, typing: sign % 2 === 0 });
  world.settle();
  expect(viewer.of("_acp-hub/typing")).toHaveLength(10);
  world.advance(10_000);
  phone.notify("_acp-hub/typing", { sessionId: session, typing: true });
  world.settle();
  expect(viewer.of("_acp-hub/typing")).toHaveLength(11);
});
