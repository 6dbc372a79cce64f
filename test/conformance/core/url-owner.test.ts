/** X12: an address that signs somebody in goes to the person whose request led to it, and to nobody else. */
import { expect, test } from "vitest";
import { interactionId } from "../../../src/protocol/ids.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { PRESETS } from "../../../src/protocol/scopes.ts";
import type { RemoteOptions } from "../../support/world/remote-client.ts";
import { World, type WorldOptions } from "../../support/world/world.ts";

const URLS = { elicitation: { url: {} } };
const ACCEPT = { action: "accept" };

function stage(options: WorldOptions = {}) {
  const world = new World(options).start(URLS);
  const session = world.newSession();
  const remote = (name: string, more: RemoteOptions = {}) => {
    const client = world.remote({ urls: true, extended: true, name, device: `d_${name}`, ...more });
    world.load(client, session);
    return client;
  };
  const owner = { scopes: PRESETS.owner };
  const people = { tablet: remote("tablet", owner), phone: remote("phone"), guest: remote("guest"), remote, owner };
  const ask = (elicitationId = "e1", more: JsonObject = {}) => {
    const params = { sessionId: session, mode: "url", url: "https://x", message: "sign in", elicitationId, ...more };
    const id = world.agent.ask("elicitation/create", params);
    world.settle();
    return id;
  };
  const asked = () =>
    [world.primary, ...world.clients].filter((each) => each.openDialogs.length > 0).map(({ name }) => name);
  return { world, session, ask, asked, ...people };
}

test("X12 in a turn of the editor's it goes to the editor and the devices with all rights, and to no other", () => {
  const { world, session, ask, asked, tablet } = stage();
  world.prompt(world.primary, session, "go");
  const id = ask();
  expect(asked()).toEqual(["primary", "tablet"]);
  tablet.answer(tablet.openDialogs[0] as never, ACCEPT);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(ACCEPT);
  expect(asked()).toEqual([]);
});

test("X12 in a turn of a device's it goes to that device alone, on all its connections", () => {
  const { world, session, ask, asked, phone, remote } = stage();
  remote("phone again", { device: "d_phone" });
  world.prompt(phone, session, "go");
  const id = ask();
  expect(asked()).toEqual(["phone", "phone again"]);
  phone.answer(phone.openDialogs[0] as never, ACCEPT);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(ACCEPT);
  expect(JSON.stringify([world.primary.raw, ...world.clients.map((each) => each.raw)])).not.toContain("isOwner");
});

test("X12 in a turn of the machine's owner, at whatever device, it goes to all of theirs", () => {
  const { world, session, ask, asked, tablet } = stage();
  world.prompt(tablet, session, "go");
  ask();
  expect(asked()).toEqual(["primary", "tablet"]);
});

test("X12 whom an outside issuer vouches for is nobody else, whatever the rights", () => {
  const { world, session, ask, asked, remote, owner } = stage();
  const ada = remote("ada", { ...owner, isExternal: true });
  remote("bob", { ...owner, isExternal: true });
  world.prompt(world.primary, session, "go");
  const first = ask("e1");
  expect(asked()).toEqual(["primary", "tablet"]);
  world.primary.answer(world.primary.openDialogs[0] as never, { action: "decline" });
  world.settle();
  expect(world.agent.answerTo(first)).toEqual({ action: "decline" });
  world.agent.end(session);
  world.prompt(ada, session, "and for me");
  ask("e2");
  expect(asked()).toEqual(["ada"]);
});

test("X12 outside a turn it goes to whose prompt ran last, and before any to who opened the session", () => {
  const { world, session, ask, asked, phone } = stage();
  world.prompt(phone, session, "go");
  world.agent.end(session);
  world.settle();
  ask();
  expect(asked()).toEqual(["phone"]);
  const made = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  phone.answer(phone.openDialogs[0] as never, { action: "decline" });
  world.settle();
  ask("e2", { sessionId: phone.result(made)["sessionId"] ?? null });
  expect(asked()).toEqual(["phone"]);
});

test("X12 a session no client is known for: who has the agent work now, and nobody where that are several", () => {
  const { world, session, ask, asked, phone, guest } = stage();
  world.prompt(phone, session, "go");
  ask("e1", { sessionId: "sub-agent" });
  expect(asked()).toEqual(["phone"]);
  const made = guest.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  world.prompt(guest, String(guest.result(made)["sessionId"]), "me too");
  const id = ask("e2", { sessionId: "sub-agent" });
  expect(world.agent.answerTo(id)).toEqual({ action: "cancel" });
  expect(phone.openDialogs).toHaveLength(1);
  expect(guest.openDialogs).toEqual([]);
});

test("X12 the first accept pins it: what follows under its id is for the device that accepted", () => {
  const { world, session, ask, asked, tablet } = stage();
  world.prompt(world.primary, session, "go");
  ask();
  tablet.answer(tablet.openDialogs[0] as never, ACCEPT);
  world.settle();
  ask();
  expect(asked()).toEqual(["tablet"]);
  tablet.answer(tablet.openDialogs[0] as never, { action: "decline" });
  world.settle();
  ask("another");
  expect(asked()).toEqual(["primary", "tablet"]);
  world.primary.answer(world.primary.openDialogs[0] as never, ACCEPT);
  world.settle();
  ask("another");
  expect(asked()).toEqual(["primary"]);
});

test("X12 that it is complete is told to those who got it, on whatever connection they are by then", () => {
  const { world, session, ask, phone, guest, remote } = stage();
  world.prompt(phone, session, "go");
  ask();
  phone.answer(phone.openDialogs[0] as never, ACCEPT);
  world.settle();
  // A phone that opens a page lets its socket go.
  world.disconnect(phone);
  const back = remote("phone again", { device: "d_phone" });
  world.agent.notify("elicitation/complete", { elicitationId: "e1" });
  world.settle();
  expect(back.of("elicitation/complete")).toHaveLength(1);
  for (const other of [guest, world.primary]) expect(other.of("elicitation/complete")).toEqual([]);
  // One that nobody remembers goes to all, who leave it alone.
  world.agent.notify("elicitation/complete", { elicitationId: "unknown" });
  world.settle();
  for (const other of [guest, world.primary]) expect(other.of("elicitation/complete")).toHaveLength(1);
});

test("X12 with nobody of the owner's there it stays open, and goes to the owner that comes", () => {
  const { world, session, ask, asked, phone, remote } = stage();
  world.prompt(phone, session, "go");
  world.disconnect(phone);
  const id = ask();
  expect(asked()).toEqual([]);
  world.cut();
  world.dial().advance(60_000);
  expect(world.agent.answerTo(id)).toBeUndefined();
  remote("phone again", { device: "d_phone" });
  expect(asked()).toEqual(["phone again"]);
  world.primary.notify("session/cancel", { sessionId: session });
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ action: "cancel" });
  expect(asked()).toEqual([]);
});

test("X12 rights that come and go take the address with them", () => {
  const { world, session, ask, asked, tablet, phone } = stage();
  world.prompt(world.primary, session, "go");
  ask();
  world.mirror.onScopesChanged(tablet.connection, new Set(PRESETS.driver));
  world.mirror.onScopesChanged(phone.connection, new Set(PRESETS.owner));
  world.settle();
  expect(asked()).toEqual(["primary", "phone"]);
});

test("X12 C3.interactions it is listed with whose it is, and no other can answer it over HTTP", () => {
  const { world, session, ask, phone } = stage();
  world.prompt(phone, session, "go");
  const id = ask();
  const [view] = world.mirror.openInteractions();
  expect(view?.owner).toEqual({ device: "d_phone", isMachines: false });
  const name = interactionId(view?.interactionId ?? "");
  const answer = (device: string, isOwner: boolean) =>
    world.mirror.answer(
      name,
      { result: ACCEPT },
      { connectionId: "http", device, name: device, isOwner },
      () => undefined,
    );
  expect([answer("d_guest", false), answer("local", true)]).toEqual([false, false]);
  world.settle();
  expect(world.agent.answerTo(id)).toBeUndefined();
  expect(answer("d_phone", false)).toBe(true);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual(ACCEPT);
});

test("X12 a hub that would show it to all is told of none; the editor answers as without us", () => {
  const { world, session, ask, asked } = stage({ isOldHub: true });
  world.prompt(world.primary, session, "go");
  const id = ask();
  expect(asked()).toEqual(["primary"]);
  world.cut();
  world.dial().settle();
  expect(world.mirror.openInteractions()).toEqual([]);
  world.primary.answerError(world.primary.openDialogs[0] as never, -32601);
  world.settle();
  expect(world.agent.answerTo(id)).toEqual({ error: -32601 });
});

test("X12 C7.versions a bridge that does not say whose it is: the machine's owner", () => {
  const { world, session, asked } = stage();
  const params = { sessionId: session, mode: "url", url: "https://x", message: "m", elicitationId: "e1" };
  const told = { interactionId: "old", method: "elicitation/create", params, openedAt: 1, sessionId: session };
  world.linkDown?.push(JSON.stringify({ jsonrpc: "2.0", method: "_acp-hub/link/interaction", params: told }));
  world.settle();
  expect(asked()).toEqual(["tablet"]);
});
