import { describe, expect, it } from "vitest";
import { bearerCredential, cookieCredential, refreshingCredential } from "../../../src/client/api/credential.ts";
import { EventStreamParser } from "../../../src/client/api/event-stream.ts";
import type { Fetch, FetchInit } from "../../../src/client/api/http.ts";
import { HubApi } from "../../../src/client/api/hub-api.ts";
import { socketUrl } from "../../../src/client/dial.ts";

interface Call {
  readonly url: string;
  readonly init: FetchInit;
}

function scripted(...answers: readonly Response[]): { fetch: Fetch; calls: Call[] } {
  const calls: Call[] = [];
  const rest = [...answers];
  const fetch: Fetch = (url, init) => {
    calls.push({ url, init });
    const next = rest.shift();
    return next === undefined ? Promise.reject(new TypeError("offline")) : Promise.resolve(next);
  };
  return { fetch, calls };
}

const json = (body: unknown, status = 200): Response => new Response(JSON.stringify(body), { status });
const baseUrl = "http://hub/app/";

describe("HTTP client", () => {
  it("sends the key the hub gave at pairing on every later call", async () => {
    const { fetch, calls } = scripted(json({ deviceId: "d1", key: "k1" }, 201), json([]));
    let key: string | undefined;
    const api = new HubApi({ baseUrl, fetch, credential: cookieCredential(() => key) });
    key = await api.pairBrowser("CODE", "Pixel");
    await api.instances();
    expect(calls.map((call) => [call.url, call.init.headers["X-Acp-Hub-Key"]])).toEqual([
      ["http://hub/app/api/pair", undefined],
      ["http://hub/app/api/instances", "k1"],
    ]);
  });

  it("turns problem documents into typed errors", async () => {
    const { fetch } = scripted(json({ title: "Gone", detail: "This code was used", code: "code-used" }, 410));
    const api = new HubApi({ baseUrl, fetch, credential: bearerCredential("t") });
    await expect(api.pair("X", "n")).rejects.toMatchObject({
      status: 410,
      code: "code-used",
      message: "This code was used",
    });
  });

  it("says that a hub is out of reach with status 0", async () => {
    const api = new HubApi({ baseUrl, fetch: scripted().fetch, credential: bearerCredential("t") });
    await expect(api.instances()).rejects.toMatchObject({ name: "ApiError", status: 0 });
  });

  it.each([
    [json({ settledBy: { name: "Pixel" } }), { kind: "applied", by: { name: "Pixel" } }],
    [json({ code: "lost-race", settledBy: { name: "Zed" } }, 409), { kind: "lost", by: { name: "Zed" } }],
    [json({ detail: "unknown option" }, 422), { kind: "invalid", reason: "unknown option" }],
    [json({ code: "verdict-pending" }, 503), { kind: "pending" }],
  ])("X4 reads how an answer ended", async (response, outcome) => {
    const api = new HubApi({ baseUrl, fetch: scripted(response).fetch, credential: bearerCredential("t") });
    expect(await api.answer("i1", {})).toEqual(outcome);
  });

  it("renews a token once for many calls and saves it before use", async () => {
    const saved: string[] = [];
    const pair = { accessToken: "a2", refreshToken: "r2" };
    const { fetch, calls } = scripted(json({}, 401), json({}, 401), json(pair), json([]), json([]));
    const save = (next: { accessToken: string }): Promise<void> => {
      saved.push(next.accessToken);
      return Promise.resolve();
    };
    const credential = refreshingCredential({ accessToken: "a1", refreshToken: "r1" }, { baseUrl, fetch, save });
    const api = new HubApi({ baseUrl, fetch, credential });
    await Promise.all([api.instances(), api.devices()]);
    expect(saved).toEqual(["a2"]);
    expect(calls.filter((call) => call.url.endsWith("api/token"))).toHaveLength(1);
    expect(calls.slice(-2).map((call) => call.init.headers["Authorization"])).toEqual(["Bearer a2", "Bearer a2"]);
  });

  it("reads a list of a hub that is older than the last line, the time of the turn and where a session goes on", async () => {
    const old = { sessionId: "s1", status: "running", updatedAt: 5 };
    const now = {
      ...old,
      branch: "fix/race",
      turnSince: 4,
      lastText: "hi",
      lastFrom: "user",
      superseded: true,
      supersededBy: "i2",
    };
    const odd = { ...old, turnSince: null, lastText: null, lastFrom: null };
    const { fetch } = scripted(json([{ id: "i1", editor: null, sessions: [old, now, odd] }]));
    const [instance] = await new HubApi({ baseUrl, fetch, credential: bearerCredential("t") }).instances();
    expect(instance?.editor).toBeUndefined();
    expect(instance?.sessions).toMatchObject([
      { branch: undefined, turnSince: undefined, last: undefined, isSuperseded: false, supersededBy: undefined },
      { branch: "fix/race", turnSince: 4, last: { from: "user", text: "hi" }, isSuperseded: true, supersededBy: "i2" },
      { turnSince: undefined, last: undefined, isSuperseded: false },
    ]);
  });

  it("C3.history reads where the words of a search were found, and the last line of the others", async () => {
    const sessions = [
      { sessionId: "s1", snippet: { text: "a needle", marks: [[2, 8]] } },
      { sessionId: "s2", lastText: "Run", lastFrom: "tool" },
    ];
    const api = new HubApi({ baseUrl, fetch: scripted(json({ sessions })).fetch, credential: bearerCredential("t") });
    expect((await api.sessions({ q: "needle" })).sessions).toMatchObject([
      { snippet: "a needle", last: undefined },
      { snippet: undefined, last: { from: "tool", text: "Run" } },
    ]);
  });

  it.each([
    ["e.4", "e.4", "e.4"],
    ["e.12", "e.4", "e.4"],
    ["e.4", "e.12", "e.4"],
    ["e.4", "f.4", undefined],
    ["e.4", null, undefined],
    ["e.x", "e.4", undefined],
  ])("an overview of %s and %s is as of %s", async (a, b, asOf) => {
    const answer = (at: string | null): Response =>
      new Response("[]", { headers: at === null ? {} : { "Acp-Event-Id": at } });
    const { fetch } = scripted(answer(a), answer(b));
    const api = new HubApi({ baseUrl, fetch, credential: bearerCredential("t") });
    expect(await api.overview()).toEqual({ instances: [], interactions: [], asOf });
  });

  it("makes socket addresses under a base path", () => {
    expect(socketUrl("https://hub/app/", { ticket: "t&1", instance: undefined })).toBe(
      "wss://hub/app/acp?ticket=t%261",
    );
  });
});

describe("event stream", () => {
  it("reads events however they are cut", () => {
    const text = ':hello\n\nid: 4\nevent: session\ndata: {"a":1}\n\ndata: x\r\ndata: y\r\n\r\n';
    for (let size = 1; size < text.length; size += 1) {
      const parser = new EventStreamParser();
      const events = [];
      for (let at = 0; at < text.length; at += size) events.push(...parser.feed(text.slice(at, at + size)));
      expect(events).toEqual([
        { id: "4", name: "session", data: '{"a":1}' },
        { id: undefined, name: "message", data: "x\ny" },
      ]);
    }
  });
});
