import { describe, expect, it } from "vitest";
import { bearerCredential } from "../../../src/client/api/credential.ts";
import type { Fetch } from "../../../src/client/api/http.ts";
import { HubApi } from "../../../src/client/api/hub-api.ts";
import { HubEvents } from "../../../src/client/api/hub-events.ts";
import { memoryStorage } from "../../../src/client/ports.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";
import { HomeStore, instanceOf, placeOf, successorOf } from "../../../src/web/app/home-store.ts";
import { ManualClock, settled } from "../../support/manual-clock.ts";

/** Long enough for everything that is going to be read. */
const QUIET_MS = 5000;

/** A hub of which only the list and the stream of changes stand. */
class ScriptedHub {
  readonly clock = new ManualClock();
  readonly asked: string[] = [];
  /** The last event, as answers and streams name it; undefined: a hub that does not say. */
  position: string | undefined = "e.4";
  instances: JsonObject[] = [];
  isDown = false;
  readonly #held: (() => void)[] = [];
  isHolding = false;
  #stream: ReadableStreamDefaultController<Uint8Array> | undefined;
  readonly home: HomeStore;
  readonly events: HubEvents;

  constructor() {
    const fetch: Fetch = (url) => this.#answer(url.replace("http://hub/", ""));
    const api = new HubApi({ baseUrl: "http://hub/", fetch, credential: bearerCredential("t") });
    this.events = new HubEvents(api, this.clock, false);
    this.home = new HomeStore({
      api,
      client: { setListed: () => undefined },
      storage: memoryStorage(),
      clock: this.clock,
      onUnauthorized: () => undefined,
    });
    this.home.follow(this.events);
  }

  /** As the app does it. */
  begin(): void {
    this.events.start();
    void this.home.refresh();
  }

  /** How many times the list was read. */
  get readings(): number {
    return this.asked.filter((path) => path === "api/instances").length;
  }

  /** The held answers arrive. */
  release(): void {
    this.isHolding = false;
    for (const arrive of this.#held.splice(0)) arrive();
  }

  tell(text: string): void {
    this.#stream?.enqueue(new TextEncoder().encode(text));
  }

  /** Opens as the hub does. */
  greet(): void {
    this.tell(`event: hello\ndata: {}\n\nid: ${this.position ?? "e.4"}\nevent: reset\ndata: {}\n\n`);
  }

  /** Asked for the list, and then heard. */
  async meet(): Promise<void> {
    this.begin();
    await settled();
    this.greet();
    await this.clock.advance(QUIET_MS);
  }

  cut(): void {
    this.#stream?.close();
  }

  async #answer(path: string): Promise<Response> {
    this.asked.push(path);
    if (this.isDown) throw new TypeError("offline");
    if (path === "api/events") {
      const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
        this.#stream = controller;
      };
      const body = new ReadableStream<Uint8Array>({ start });
      return new Response(body);
    }
    const headers = this.position === undefined ? {} : { "Acp-Event-Id": this.position };
    const answer = new Response(JSON.stringify(path === "api/instances" ? this.instances : []), { headers });
    if (this.isHolding) await new Promise<void>((resolve) => this.#held.push(resolve));
    return answer;
  }
}

describe("the list at the start", () => {
  it("is read once, beside the stream of changes", async () => {
    const hub = new ScriptedHub();
    await hub.meet();
    expect([hub.readings, hub.asked.filter((path) => path === "api/interactions").length]).toEqual([1, 1]);
    expect(hub.home.state.value.freshAt).toBeDefined();
  });

  it("is read once where its answer comes after the stream has opened", async () => {
    const hub = new ScriptedHub();
    hub.isHolding = true;
    await hub.meet();
    hub.release();
    await hub.clock.advance(QUIET_MS);
    expect(hub.readings).toBe(1);
  });

  it("is read again for what happened between its answer and the stream", async () => {
    const hub = new ScriptedHub();
    hub.begin();
    await settled();
    hub.position = "e.5";
    hub.greet();
    await hub.clock.advance(QUIET_MS);
    expect(hub.readings).toBe(2);
  });

  it("is read again where the hub does not say what is in its answers", async () => {
    const hub = new ScriptedHub();
    hub.position = undefined;
    await hub.meet();
    expect(hub.readings).toBe(2);
  });

  it("is read again of a hub that was started anew, though its events count from the start", async () => {
    const hub = new ScriptedHub();
    await hub.meet();
    hub.cut();
    hub.position = "f.1";
    await hub.clock.advance(QUIET_MS);
    hub.greet();
    await hub.clock.advance(QUIET_MS);
    expect(hub.readings).toBe(2);
  });

  it("is not read again for a stream that was cut and missed nothing, but for each change once", async () => {
    const hub = new ScriptedHub();
    await hub.meet();
    hub.cut();
    await hub.clock.advance(QUIET_MS);
    hub.tell("event: hello\ndata: {}\n\nevent: beat\ndata: {}\n\n");
    await hub.clock.advance(QUIET_MS);
    expect(hub.readings).toBe(1);
    hub.tell("id: e.5\nevent: sessions-changed\ndata: {}\n\nid: e.6\nevent: sessions-changed\ndata: {}\n\n");
    await hub.clock.advance(QUIET_MS);
    expect(hub.readings).toBe(2);
  });

  it("is read when the hub is back that could not be reached", async () => {
    const hub = new ScriptedHub();
    await hub.meet();
    hub.isDown = true;
    hub.cut();
    await hub.home.refresh();
    expect(hub.home.state.value.error).toBeDefined();
    await hub.clock.advance(QUIET_MS);
    hub.isDown = false;
    await hub.clock.advance(60_000);
    hub.tell("event: hello\ndata: {}\n\n");
    await hub.clock.advance(QUIET_MS);
    expect(hub.home.state.value.error).toBeUndefined();
  });
});

describe("a session on two instances", () => {
  const session = (more: JsonObject = {}): JsonObject => ({ sessionId: "s1", cwd: "/w", status: "idle", ...more });
  const read = async (...instances: JsonObject[]) => {
    const hub = new ScriptedHub();
    hub.instances = instances;
    await hub.home.refresh();
    return hub.home.state.value;
  };

  it("S9 is the one named, else the one where it goes on", async () => {
    const left = session({ superseded: true, supersededBy: "i2" });
    const state = await read({ id: "i1", sessions: [left] }, { id: "i2", sessions: [session()] });
    expect([
      instanceOf(state, "s1")?.id,
      instanceOf(state, "s1", "i1")?.id,
      instanceOf(state, "s1", "gone")?.id,
    ]).toEqual(["i2", "i1", "i2"]);
    expect(instanceOf(state, "other")).toBeUndefined();
  });

  it.each([
    ["where the hub says", session({ superseded: true, supersededBy: "i3" }), "i3"],
    ["in the same directory, of a hub that does not say where", session({ superseded: true }), "i2"],
    ["nowhere else, while it runs here as well", session({ superseded: true, status: "running" }), undefined],
    ["nowhere else, while it waits here", session({ superseded: true, openInteractions: 1 }), undefined],
    ["nowhere else, where it was never left", session(), undefined],
  ])("S9 goes on %s", async (_words, at, successor) => {
    const state = await read(
      { id: "i0", sessions: [session({ cwd: "/other" })] },
      { id: "i1", sessions: [at] },
      { id: "i2", sessions: [session()], name: "codex", editor: "Zed" },
      { id: "i3", sessions: [session()], name: "claude" },
    );
    const [, instance] = state.instances;
    if (instance === undefined) throw new Error("no instance");
    expect(successorOf(state, instance, "s1")?.id).toBe(successor);
    expect(state.instances.slice(2).map(placeOf)).toEqual(["Zed", "claude"]);
  });
});
