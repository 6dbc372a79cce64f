/** L6: when a headless instance ends by itself, and what keeps it. All of it under the clock of the world. */
import { expect, test } from "vitest";
import { type IdleClock, watchIdle } from "../../../src/bridge/idle-watch.ts";
import type { Json } from "../../../src/protocol/json.ts";
import type { RemoteClient } from "../../support/world/remote-client.ts";
import { World } from "../../support/world/world.ts";

const MINUTE = 60_000;
const IDLE_MS = 30 * MINUTE;
/** It is looked at this often. */
const LOOK_MS = 10_000;
/** The hub says this often how many clients there are. */
const BEAT_MS = 5000;

class Headless {
  readonly world: World;
  isEnded = false;

  constructor() {
    const world = new World({ root: { hasPrimary: false } });
    this.world = world;
    world.root.startHeadless();
    world.settle().dial().settle();
    const clock: IdleClock = {
      now: () => world.now,
      after: (ms, task) => {
        world.timers.start("idle", ms, task);
        return () => world.timers.cancel("idle");
      },
    };
    watchIdle(
      world.root,
      IDLE_MS,
      () => {
        this.isEnded = true;
      },
      clock,
    );
  }

  /** As time goes by, with the hub's pings. */
  pass(ms: number): void {
    for (let left = ms; left > 0; left -= BEAT_MS) {
      this.world.advance(Math.min(left, BEAT_MS));
      if (this.world.isLinked) this.world.mirror.ping(() => undefined);
      this.world.settle();
    }
  }

  /** A session of a client that has left. */
  leftSession(prompt?: Json): string {
    const client = this.world.remote({ extended: true });
    const id = client.request("session/new", { cwd: "/work/project", mcpServers: [] });
    this.world.settle();
    const session = String(client.result(id)["sessionId"]);
    if (prompt !== undefined) this.world.prompt(client, session, "go", { promptId: "p1" });
    this.world.disconnect(client);
    this.world.settle();
    return session;
  }

  /** It has nothing to keep it from here on: it ends after half an hour, and no sooner. */
  expectEnd(): void {
    this.pass(IDLE_MS - LOOK_MS);
    expect(this.isEnded).toBe(false);
    this.pass(2 * LOOK_MS);
    expect(this.isEnded).toBe(true);
  }

  /** It is kept, for hours. */
  expectKept(): void {
    this.pass(180 * MINUTE);
    expect(this.isEnded).toBe(false);
  }
}

test("L6 with nobody and nothing it ends after thirty minutes", () => {
  new Headless().expectEnd();
});

test.each<[string, (world: World) => RemoteClient]>([
  ["bound to it, without a session", (world) => world.remote()],
  ["of the whole hub, that watches it", (world) => hubWide(world)],
])("L6 a client keeps it: one %s", (_which, join) => {
  const headless = new Headless();
  const client = join(headless.world);
  headless.expectKept();
  headless.world.disconnect(client);
  headless.world.settle();
  headless.expectEnd();
});

test("L6 a client of the whole hub that went to another instance does not keep it", () => {
  const headless = new Headless();
  const client = hubWide(headless.world);
  headless.pass(10 * MINUTE);
  client.connection.hasAttached = true;
  headless.world.mirror.stopWatching(client.connection);
  headless.pass(BEAT_MS);
  headless.expectEnd();
});

test("L6 a client with a session keeps it, and half an hour begins when it leaves, not when it was looked at last", () => {
  const headless = new Headless();
  const session = headless.leftSession();
  headless.pass(29 * MINUTE);
  const visitor = headless.world.remote();
  headless.world.load(visitor, session);
  headless.world.disconnect(visitor);
  headless.world.settle();
  headless.expectEnd();
});

test("L6 X5 a running turn keeps it, whoever asked for it is gone", () => {
  const headless = new Headless();
  const session = headless.leftSession("go");
  expect(headless.world.agent.prompts).toHaveLength(1);
  headless.expectKept();
  headless.world.agent.end(session);
  headless.world.settle();
  headless.expectEnd();
});

test("L6 P1 a waiting prompt keeps it: it has an id, so it runs although its author left", () => {
  const headless = new Headless();
  const { world } = headless;
  const session = headless.leftSession("first");
  const second = world.remote({ extended: true });
  world.prompt(second, session, "second", { promptId: "p2" });
  world.disconnect(second);
  world.settle();
  headless.expectKept();
  world.agent.end(session);
  world.settle();
  expect(world.agent.prompts).toHaveLength(1);
  headless.expectKept();
  world.agent.end(session);
  world.settle();
  headless.expectEnd();
});

test("L6 X5 an open interaction keeps it, in a turn and outside", () => {
  const headless = new Headless();
  const { world } = headless;
  const session = headless.leftSession();
  const ask = world.agent.askPermission(session);
  world.settle();
  headless.expectKept();
  world.agent.notify("$/cancel_request", { requestId: ask });
  world.settle();
  headless.expectEnd();
});

test.each([
  [
    "a turn of the backend's own",
    "_acp-hub/backend_turn",
    { running: true, kind: "goal" },
    { running: false, kind: "goal" },
  ],
  ["a background task", "_acp-hub/backend_tasks", { running: 2 }, { running: 0 }],
])("L6 %s keeps it", (_what, method, begun, over) => {
  const headless = new Headless();
  const { world } = headless;
  const sessionId = headless.leftSession();
  world.agent.notify(method, { sessionId, ...begun });
  world.settle();
  headless.expectKept();
  world.agent.notify(method, { sessionId, ...over });
  world.settle();
  headless.expectEnd();
});

test("L6 a hub that is gone takes its clients with it: nothing of it is remembered", () => {
  const headless = new Headless();
  headless.world.remote();
  headless.pass(MINUTE);
  headless.world.restartHub();
  headless.expectEnd();
});

function hubWide(world: World): RemoteClient {
  const client = world.connect({ extended: true });
  client.connection.isHubWide = true;
  client.request("initialize", { protocolVersion: 1, clientCapabilities: client.capabilities });
  world.advance(2000);
  return client;
}
