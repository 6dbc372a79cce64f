/** `GET /api/openapi.json` is a valid OpenAPI document, has every route, and says what the hub answers. */

import { writeFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { callHub } from "../../src/cli/local-api.ts";
import { OPERATIONS, openApiDocument } from "../../src/hub/http/api/document.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { ApiChecker } from "../support/api-checker.ts";
import { puppetAgent } from "../support/puppet-agent.ts";
import { PushReceiver } from "../support/push-service.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { type Asked, ask } from "../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../support/secure-hub.ts";

const DOCUMENT = "docs/openapi.json";
/** The app, which is for browsers and changes with it. */
const PAGES = ["GET /", "GET /*"];

describe("the OpenAPI document", () => {
  let hub: SecureHub;
  let checker: ApiChecker;
  let owner: string;
  let editor: RawClient;
  let sessionId: string;
  beforeAll(async () => {
    hub = await startSecureHub();
    const agent = puppetAgent({ sessionCapabilities: { close: {} } });
    agent.on("session/set_title", (params) => ({ title: params["title"] ?? null }));
    agent.on("session/close", () => ({}));
    agent.on("session/prompt", ({ sessionId: id }, request) => {
      agent.update(String(id), {
        sessionUpdate: "agent_message_chunk",
        content: { type: "text", text: "needles in hay" },
      });
      const toolCall = { toolCallId: "t1", title: "Run" };
      const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
      void agent
        .ask("session/request_permission", { sessionId: String(id), toolCall, options })
        .then(() => agent.wire.answer(request, { stopReason: "end_turn" }));
      return undefined;
    });
    editor = rawClient(hub.bridge(agent.backend).editor);
    await editor.initialize({});
    sessionId = String((await editor.call("session/new", { cwd: hub.workspace, mcpServers: [] }))["sessionId"]);
    writeFileSync(join(hub.workspace, "a.txt"), "hello\nyou\n");
    checker = new ApiChecker(hub.running.hub.routesOnNetwork);
    owner = (await hub.token("owner")).token;
    const sessions = () => [...(hub.running.hub.registry.get("i-0")?.mirror.sessions ?? [])].length;
    await vi.waitFor(() => expect(sessions()).toBe(1), { timeout: 20_000 });
  });
  afterAll(() => hub.stop());

  const routes = () => [...hub.running.hub.routesOnNetwork.keys()].filter((route) => !route.startsWith("HEAD "));

  it("C3.openapi has every route that stands, and no other", () => {
    expect(routes().length).toBeGreaterThan(30);
    const known = Object.keys(OPERATIONS);
    expect(routes().filter((route) => !known.includes(route) && !PAGES.includes(route))).toEqual([]);
    expect(known.filter((route) => !routes().includes(route))).toEqual([]);
  });

  it("C3.openapi is valid OpenAPI 3.1, open to clients, and the same in docs/", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8")) as { version: string };
    const document = openApiDocument({ version, routes: hub.running.hub.routesOnNetwork });
    const result = await new Validator().validate(structuredClone(document));
    expect(result).toMatchObject({ valid: true });
    const text = `${JSON.stringify(document, null, 2)}\n`;
    expect(text).not.toContain('"additionalProperties": false');
    if (process.env["UPDATE_DOCS"] !== undefined) await writeFile(DOCUMENT, text);
    expect(await readFile(DOCUMENT, "utf8")).toBe(text);
  });

  it("C3.openapi each says what it needs, names its parameters, and is understood without this repository", () => {
    const paths = checker.document["paths"] as Record<string, Record<string, JsonObject>>;
    for (const [path, methods] of Object.entries(paths))
      for (const [method, operation] of Object.entries(methods)) {
        const parameters = (operation["parameters"] ?? []) as JsonObject[];
        const inPath = parameters.filter((each) => each["in"] === "path").map((each) => each["name"]);
        expect(inPath, path).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
        expect(String(operation["summary"]).length, `${method} ${path}`).toBeGreaterThan(5);
      }
    expect(paths["/healthz"]?.["get"]?.["security"]).toEqual([]);
    expect(paths["/metrics"]?.["get"]?.["security"]).toEqual([{ bearer: ["admin"] }, { appCookie: [], appKey: [] }]);
  });

  it("C3.openapi is served to any credential and to nobody without one", async () => {
    expect((await ask(hub.port, "/api/openapi.json")).status).toBe(401);
    const { token } = await hub.token("viewer");
    const answer = await ask(hub.port, "/api/openapi.json", { token });
    expect(answer.headers["content-type"]).toContain("application/json");
    expect(answer.body).toMatchObject({ openapi: "3.1.1", info: { version: "0.0.0-test" } });
    expect(checker.faults("GET /api/openapi.json", answer)).toEqual([]);
  });

  /** Asks, and holds the answer against the document. */
  async function checked(route: string, path: string, status: number, asked: Asked = {}) {
    const [method = ""] = route.split(" ");
    const answer = await ask(hub.port, path, { method, token: owner, ...asked });
    expect(answer.status, `${route}: ${answer.text}`).toBe(status);
    expect(checker.faults(route, answer)).toEqual([]);
    return answer;
  }
  const parsed = (text: string): JsonObject => JSON.parse(text) as JsonObject;

  it("C3.openapi an answer with a member more, one less or of another type than documented is found", () => {
    const headers = { "content-type": "application/json; charset=utf-8" };
    const faults = (value: unknown, status = 200) =>
      checker.faults("GET /api/projects", { status, headers, text: JSON.stringify(value) }).length;
    const right = { cwd: "/", sessionCount: 1, updatedAt: 1 };
    expect(faults([right])).toBe(0);
    expect(faults([{ ...right, more: 1 }])).toBe(1);
    expect(faults([{ cwd: "/" }])).toBe(2);
    expect(faults([{ ...right, updatedAt: "now" }])).toBe(1);
    expect(faults([right], 203)).toBe(1);
  });

  it("C3.openapi everything the hub answers about a session that works is as documented", async () => {
    const instance = "/api/instances/i-0";
    const turn = editor.call("session/prompt", { sessionId, prompt: [{ type: "text", text: "go" }] });
    await expect
      .poll(
        async () => (JSON.parse((await ask(hub.port, "/api/interactions", { token: owner })).text) as object[]).length,
      )
      .toBe(1);
    const [open] = JSON.parse((await checked("GET /api/interactions", "/api/interactions", 200)).text) as JsonObject[];
    await checked("GET /api/instances", "/api/instances", 200);
    await checked("GET /api/instances/:id", instance, 200);
    // Just started, it may be on its way back (503), until that moment is over, at the latest while this is asked.
    const unknown = await ask(hub.port, "/api/instances/none", { token: owner });
    expect(checker.faults("GET /api/instances/:id", unknown)).toEqual([]);
    await expect.poll(() => hub.running.hub.isStarting).toBe(false);
    await checked("GET /api/instances/:id", "/api/instances/none", 404);
    await checked("GET /api/instances/:id/status", `${instance}/status`, 200);
    const close = `${instance}/sessions/${sessionId}/close`;
    await checked("POST /api/instances/:id/sessions/:sid/close", close, 409, { body: {} });
    const answerPath = `/api/interactions/${String(open?.["interactionId"])}/answer`;
    const answer = "POST /api/interactions/:id/answer";
    await checked(answer, answerPath, 422, { body: { answer: { optionId: "no such" } } });
    await checked(answer, answerPath, 200, { body: { answer: { optionId: "yes" } } });
    expect(await turn).toEqual({ stopReason: "end_turn" });
    const other = (await hub.token("driver")).token;
    await checked(answer, answerPath, 409, { token: other, body: { answer: { optionId: "yes" } } });
    await checked(answer, "/api/interactions/none/answer", 404, { body: { answer: { optionId: "yes" } } });
    const rename = `${instance}/sessions/${sessionId}/rename`;
    await checked("POST /api/instances/:id/sessions/:sid/rename", rename, 200, { body: { title: " A title " } });
    await checked("POST /api/instances/:id/sessions/:sid/rename", rename, 400, { body: { title: " " } });
    await checked("GET /api/projects", "/api/projects", 200);
    await expect
      .poll(async () => (await ask(hub.port, "/api/sessions?q=needles", { token: owner })).text)
      .toContain('"snippet"');
    await checked("GET /api/sessions", "/api/sessions?q=needles&state=live&limit=5", 200);
    await checked("GET /api/sessions", "/api/sessions?limit=0", 400);
    for (const format of ["md", "json"])
      await checked("GET /api/sessions/:sid/export", `/api/sessions/${sessionId}/export?format=${format}`, 200);
    await checked("GET /api/sessions/:sid/export", "/api/sessions/none/export", 404);
    const fs = `${instance}/fs`;
    await checked("GET /api/instances/:id/fs/list", `${fs}/list?sessionId=${sessionId}`, 200);
    const search = `${fs}/search?sessionId=${sessionId}`;
    await checked("GET /api/instances/:id/fs/search", `${search}&q=at`, 200);
    await checked("GET /api/instances/:id/fs/search", `${search}&limit=0`, 400);
    const file = `${fs}/file?sessionId=${sessionId}&path=a.txt`;
    await checked("GET /api/instances/:id/fs/file", file, 200);
    await checked("GET /api/instances/:id/fs/file", `${file}&offset=1&length=2`, 206);
    await checked("GET /api/instances/:id/fs/file", `${file}&line=2`, 200);
    await checked("GET /api/instances/:id/fs/file", `${file}&offset=99`, 416);
    await checked("GET /api/instances/:id/fs/file", `${fs}/file?sessionId=${sessionId}&path=/etc/passwd`, 403);
    await checked("POST /api/instances/:id/sessions/:sid/close", close, 200, { body: {} });
  });

  it("C3.openapi everything about who may come in is as documented", async () => {
    const made = parsed(
      (await checked("POST /api/pairings", "/api/pairings", 201, { body: { scope: "driver" } })).text,
    );
    const body = { code: made["code"], name: "phone" };
    const pair = parsed((await checked("POST /api/pair", "/api/pair", 201, { token: undefined, body })).text);
    await checked("POST /api/pair", "/api/pair", 401, { token: undefined, body });
    const { refreshToken } = pair;
    await checked("POST /api/token", "/api/token", 200, { token: undefined, body: { refreshToken } });
    await checked("POST /api/token", "/api/token", 401, { token: undefined, body: { refreshToken: "x" } });
    const again = parsed(
      (await checked("POST /api/pairings", "/api/pairings", 201, { body: { scope: "viewer" } })).text,
    );
    const browser = { code: again["code"], name: "browser", mode: "cookie" };
    await checked("POST /api/pair", "/api/pair", 201, { token: undefined, body: browser });
    for (const wrong of [
      { scope: "king" },
      { scope: 7 },
      { scope: "viewer", ttlSeconds: "1" },
      { scope: "viewer", name: 7 },
    ])
      await checked("POST /api/pairings", "/api/pairings", 400, { body: wrong });
    const token = parsed((await checked("POST /api/tokens", "/api/tokens", 201, { body: { scope: "viewer" } })).text);
    const path = `/api/devices/${String(token["deviceId"])}`;
    await checked("GET /api/devices", "/api/devices", 200);
    await checked("PATCH /api/devices/:id", path, 204, { body: { name: "new" } });
    await checked("PATCH /api/devices/:id", path, 400, { body: {} });
    await checked("DELETE /api/devices/:id", path, 204);
    await checked("DELETE /api/devices/:id", "/api/devices/none", 404);
    await checked("POST /api/ws-ticket", "/api/ws-ticket", 201);
    await checked("GET /.well-known/jwks.json", "/.well-known/jwks.json", 200, { token: undefined });
    await checked("POST /api/logout", "/api/logout", 204, { token: (await hub.token("viewer")).token });
    await checked("GET /api/audit", "/api/audit?limit=1000", 200);
    await checked("GET /api/audit", "/api/audit?limit=x", 400);
  });

  it("C3.openapi everything about the hub itself is as documented", async () => {
    for (const path of ["/healthz", "/readyz", "/api/health"])
      await checked(`GET ${path}`, path, 200, { token: undefined });
    await checked("GET /metrics", "/metrics", 200);
    await checked("GET /api/hub", "/api/hub", 200);
    await checked("GET /api/diagnostics", "/api/diagnostics?only=node,disk", 200);
    await checked("GET /api/push/key", "/api/push/key", 200);
    await checked("PUT /api/push/subscription", "/api/push/subscription", 400, { body: {} });
    const subscription = new PushReceiver().subscription("https://push.example.com/x");
    await checked("PUT /api/push/subscription", "/api/push/subscription", 204, { body: { subscription } });
    await checked("DELETE /api/push/subscription", "/api/push/subscription", 204);
    const preferences = "/api/push/preferences";
    await checked("GET /api/push/preferences", preferences, 200);
    const quietHours = { from: "22:00", to: "07:00", timeZone: "Europe/Berlin", letsQuestionsThrough: true };
    await checked("PATCH /api/push/preferences", preferences, 200, { body: { quietHours, mute: "s1" } });
    await checked("PATCH /api/push/preferences", preferences, 400, { body: { quietHours: { from: "late" } } });
    await checked("GET /api/push/preferences", preferences, 200);
    await checked("PUT /api/push/seen", "/api/push/seen", 204, { body: {} });
    await checked("POST /api/push/test", "/api/push/test", 404);
    await checked("GET /api/push/deliveries", "/api/push/deliveries", 200);
    await checked("POST /api/instances", "/api/instances", 403, { body: { workspacePath: "/nowhere" } });
    await checked("DELETE /api/instances/:id", "/api/instances/i-0", 403);
    await checked("POST /api/tunnels", "/api/tunnels", 403, { body: { url: "https://t.example" } });
    await checked("POST /api/hub/successor", "/api/hub/successor", 403, { body: {} });
    await checked("GET /api/hub", "/api/hub", 403, { token: (await hub.token("viewer")).token });
    const local = async (route: string, path: string, body: unknown): Promise<void> => {
      const [method = ""] = route.split(" ");
      const { status, body: answered } = await callHub(hub.paths, method, path, body);
      const text = answered === "" ? "" : JSON.stringify(answered);
      const type = status < 400 ? "application/json" : "application/problem+json";
      expect(checker.faults(route, { status, headers: { "content-type": type }, text })).toEqual([]);
    };
    const url = "https://t.example";
    await local("POST /api/tunnels", "/api/tunnels", { url });
    await local("DELETE /api/tunnels", "/api/tunnels", { url });
    const successor = { version: "99.0.0", pid: process.pid, startedBy: "bridge" };
    await local("POST /api/hub/successor", "/api/hub/successor", successor);
    for (const wrong of [{ pid: 1 }, { pid: "2" }, { pid: 4_194_303 }, { startedBy: "me" }, { version: 1 }])
      await local("POST /api/hub/successor", "/api/hub/successor", { ...successor, ...wrong });
  });
});
