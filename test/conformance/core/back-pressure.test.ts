/** B5–B7: clients and links that do not keep up, order, what passes untouched. */
import { expect, test } from "vitest";
import { chunk, toolCall, toolUpdate } from "../../support/world/fake-agent.ts";
import { shared } from "../../support/world/shared.ts";
import { World } from "../../support/world/world.ts";

test("B5 a client that does not read delays nobody and is caught up in order, coalesced, once it reads", () => {
  const { world, session, phone } = shared();
  const slow = world.remote({ extended: true });
  world.load(slow, session);
  slow.stall();
  for (let count = 0; count < 200; count += 1) {
    world.agent.say(session, `${count} `, "m1");
    world.agent.update(session, toolUpdate("t1", { rawOutput: { count, fill: "y".repeat(8000) } }));
  }
  world.settle();
  const whole = phone.transcript(session).normal();
  expect(phone.transcript(session).text()).toContain("199 ");
  expect(slow.down.bufferedBytes).toBeLessThan(20_000);
  const frames = slow.raw.length;
  slow.drain();
  world.settle();
  expect(slow.transcript(session).normal()).toEqual(whole);
  expect(slow.of("_acp-hub/gap")).toHaveLength(1);
  expect(slow.raw.length - frames).toBeLessThan(60);
  expect(world.problems).toEqual([]);
});

test("B5 requests to a client that is behind wait for their place, and one settled meanwhile is never sent", () => {
  const { world, session, phone } = shared();
  const slow = world.remote({ extended: true });
  world.load(slow, session);
  slow.stall();
  for (let count = 0; count < 100; count += 1) world.agent.say(session, `${count} `.repeat(10));
  world.agent.askPermission(session, "gone");
  world.settle();
  phone.choose("allow");
  world.agent.askPermission(session, "open");
  world.settle();
  slow.drain();
  world.settle();
  expect(slow.of("session/request_permission").map((message) => message.params?.["toolCall"])).toMatchObject([
    { toolCallId: "open" },
  ]);
  expect(world.problems).toEqual([]);
});

test("B5 a hopeless client is closed with a code that says resume", () => {
  const { world, session } = shared();
  const slow = world.remote({ limits: { pauseBytes: 100, hardBytes: 3000 } });
  world.load(slow, session);
  slow.stall();
  for (let count = 0; count < 100; count += 1) slow.request("_acp-hub/queue/list", { sessionId: session });
  world.settle();
  expect(world.clients).not.toContain(slow);
});

test("B5 the link is such a client: the editor goes on, and the hub is caught up", () => {
  const { world, session, phone } = shared();
  world.stallLink(true);
  for (let count = 0; count < 500; count += 1) world.agent.say(session, `${count} `);
  world.settle();
  expect(world.primary.updates(session)).toHaveLength(500);
  expect(world.linkDown?.waiting.length).toBeLessThan(3);
  world.stallLink(false);
  world.settle();
  expect(phone.transcript(session).text()).toBe(world.primary.transcript(session).text());
  expect(world.problems).toEqual([]);
});

test("B5, S3 a hub that fell behind what the bridge could keep starts its copy over, and every reader learns it", () => {
  const { world, session, phone } = shared({ root: { journalBytes: 4000, tailBytes: 1000 } });
  const plain = world.remote();
  world.load(plain, session);
  world.agent.update(session, toolCall("t", { title: "early" }));
  world.settle();
  world.stallLink(true);
  for (let count = 0; count < 100; count += 1) {
    world.agent.say(session, `${count} `, "m");
    world.agent.update(session, toolUpdate("t", { rawOutput: count }));
  }
  world.settle();
  const late = world.remote({ extended: true });
  const loaded = world.sendLoad(late, session);
  world.stallLink(false);
  world.settle();
  expect(phone.of("_acp-hub/reset")).toHaveLength(1);
  expect(plain.closedWith?.name).toBe("slow");
  world.load(phone, session);
  const fresh = world.remote({ extended: true });
  world.load(fresh, session);
  expect(late.result(loaded)).toBeDefined();
  expect(fresh.transcript(session).text()).toContain("99 ");
  expect(fresh.transcript(session).card("t")?.["rawOutput"]).toBe(99);
  expect(phone.transcript(session).normal()).toEqual(fresh.transcript(session).normal());
  const cursor = { epoch: phone.cursors.get(session)?.epoch ?? "", seq: 3 };
  const back = world.remote({ extended: true });
  expect(world.load(back, session, { cursor })["_meta"]).toMatchObject({ "acp-hub": { verdict: "gap" } });
  expect(world.problems).toEqual([]);
});

test.each(["is begun anew", "ends"])("B5 a load that waits for a copy that %s is answered all the same", (how) => {
  const { world, session } = shared({ root: { journalBytes: 4000, tailBytes: 1000 } });
  const work = (sign: number): void => {
    for (let count = 1; count < 100; count += 1)
      world.agent.update(session, toolUpdate("t", { rawOutput: sign * count }));
    world.settle();
  };
  work(1);
  world.restartHub();
  const early = world.connect({ extended: true });
  early.request("initialize", { protocolVersion: 1, clientCapabilities: early.capabilities });
  const id = world.sendLoad(early, session);
  early.up.isStalled = true;
  world.dial();
  while ([...world.mirror.sessions].length === 0) world.step();
  early.up.isStalled = false;
  while (early.up.canDeliver) early.up.deliver();
  expect([...world.mirror.sessions][0]?.isReady).toBe(false);
  world.cut();
  work(-1);
  expect(early.responses.has(id)).toBe(false);
  if (how === "ends") world.mirror.onInstanceGone();
  else world.dial();
  world.settle();
  if (how === "ends") expect(early.error(id)).toBeDefined();
  else {
    expect(early.result(id)).toBeDefined();
    expect(early.transcript(session).card("t")?.["rawOutput"]).toBe(-99);
  }
  expect(world.problems).toEqual([]);
});

test("B5 one write per client and tick, however many updates came", () => {
  const { world, session, phone } = shared();
  const before = phone.writes;
  for (let count = 0; count < 50; count += 1) {
    const text = JSON.stringify({
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId: session, update: chunk("x") },
    });
    world.root.onAgent({ kind: "notification", msg: JSON.parse(text), text }, world.now);
  }
  world.root.flush();
  const lines = world.linkDown;
  while (lines?.canDeliver === true) lines.deliver();
  world.mirror.flush();
  expect(phone.writes - before).toBe(1);
  world.settle();
  expect(phone.transcript(session).text()).toBe("x".repeat(50));
});

test("B6 updates outside turns and after a prompt's response are delivered, and nothing overtakes", () => {
  const { world, session, phone } = shared();
  const id = world.prompt(phone, session, "go");
  world.agent.say(session, "a");
  world.agent.update(session, toolCall("t1"));
  world.agent.askPermission(session, "t1");
  world.agent.end(session);
  world.agent.say(session, "b");
  world.settle();
  const kinds = phone.received.slice(-7).map((message) => {
    const update = message.params?.["update"];
    return message.id === id ? "response" : (message.method ?? "") + (update === undefined ? "" : ":update");
  });
  expect(kinds).toEqual([
    "session/update:update",
    "session/update:update",
    "session/request_permission",
    "_acp-hub/turn",
    "_acp-hub/turn",
    "response",
    "session/update:update",
  ]);
});

test("B6 a session's first updates follow the response that introduces it, for the maker on the far side too", () => {
  const world = new World().start();
  const phone = world.remote();
  world.agent.responders.set("session/new", (request) => {
    world.agent.say("early", "held");
    world.agent.respond(request, { sessionId: "early" });
  });
  const id = phone.request("session/new", { cwd: "/w", mcpServers: [] });
  world.settle();
  const at = phone.received.findIndex((message) => message.id === id);
  const first = phone.received.findIndex((message) => message.method === "session/update");
  expect(at).toBeGreaterThan(0);
  expect(first).toBe(-1 < first ? first : at + 1);
  expect(phone.transcript("early").text()).toBe("held");
});

test("B7 unknown notifications, kinds, members and _meta survive every hop; ours is taken out of what the agent sends", () => {
  const { world, session, phone } = shared();
  world.agent.notify("_auth/status_update", { state: "ok", _meta: { k: 1, "acp-hub": { epoch: "e", seq: 1 } } });
  world.agent.notify("session/odd", { sessionId: session, deep: { x: [1] } });
  world.agent.update(session, { sessionUpdate: "never_seen", z: null, _meta: { a: { b: 1 }, "acp-hub": 1 } });
  world.agent.raw(
    JSON.stringify({
      jsonrpc: "2.0",
      method: "session/update",
      params: { sessionId: session, update: chunk("x"), _meta: { vendor: 1, "acp-hub": { seq: 77 } }, more: true },
      extra: 1,
    }),
  );
  world.settle();
  for (const client of [phone, world.primary]) {
    expect(client.of("_auth/status_update")[0]?.params).toEqual({ state: "ok", _meta: { k: 1 } });
    expect(client.of("session/odd")[0]?.params).toEqual({ sessionId: session, deep: { x: [1] } });
    expect(client.updates(session)[0]).toEqual({
      sessionUpdate: "never_seen",
      z: null,
      _meta: { a: { b: 1 }, "acp-hub": 1 },
    });
    expect(client.of("session/update")[1]?.params).toMatchObject({ more: true, _meta: { vendor: 1 } });
  }
  expect(phone.of("session/update")[1]?.params).toMatchObject({ _meta: { "acp-hub": { seq: 2 } } });
  expect(JSON.stringify(world.primary.of("session/update")[1])).not.toContain("acp-hub");
});
