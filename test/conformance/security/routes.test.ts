import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { PRESETS, type Preset, type Scope } from "../../../src/protocol/scopes.ts";
import { ApiChecker } from "../../support/api-checker.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { rawClient } from "../../support/raw-client.ts";
import { type Answer, ask } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";
import { methodOf, pathOf, ROUTES, type RouteEntry } from "./route-table.ts";

const presets = Object.keys(PRESETS) as Preset[];

describe("every HTTP route and who may use it", () => {
  let hub: SecureHub;
  let checker: ApiChecker;
  beforeAll(async () => {
    hub = await startSecureHub();
    checker = new ApiChecker(hub.running.hub.routesOnNetwork);
    const agent = puppetAgent();
    agent.on("session/set_title", (params) => ({ title: params["title"] ?? null }));
    const editor = rawClient(hub.bridge(agent.backend).editor);
    await editor.initialize({});
    await editor.call("session/new", { cwd: hub.workspace, mcpServers: [] });
    writeFileSync(join(hub.workspace, "a.txt"), "hello");
    const sessions = () => [...(hub.running.hub.registry.get("i-0")?.mirror.sessions ?? [])].length;
    await vi.waitFor(() => expect(sessions()).toBe(1), { timeout: 20_000 });
  });
  afterAll(() => hub.stop());

  /** HEAD where the framework adds it: the same gate, no body. */
  const known = new Set(ROUTES.flatMap(({ route }) => [route, route.replace(/^GET /, "HEAD ")]));

  test("C2.scopes, incident 16: no route stands that this table does not know", () => {
    const standing = [...hub.running.hub.routesOnNetwork.keys()];
    expect(standing.length).toBeGreaterThan(30);
    expect(standing.filter((route) => !known.has(route))).toEqual([]);
    expect(ROUTES.map(({ route }) => route).filter((route) => !standing.includes(route))).toEqual([]);
  });

  test("C2.scopes what a route says it needs is what the table says", () => {
    for (const { route, needs } of ROUTES) {
      const said = hub.running.hub.routesOnNetwork.get(route);
      if (needs === "nobody") expect(said, route).toBeUndefined();
      // Its own device needs no more than any credential: the handler asks for `admin` itself.
      else if (needs === "any" || route.includes("/api/devices/:id")) expect(said, route).toEqual([[]]);
      else expect(said, route).toEqual([[needs]]);
    }
  });

  async function request(entry: RouteEntry, token: string | undefined, headers: Record<string, string> = {}) {
    const other = pathOf(entry).includes("{id}") ? (await hub.token("viewer")).deviceId : "";
    const answer = await ask(hub.port, pathOf(entry).replace("{id}", other), {
      method: methodOf(entry),
      token,
      headers,
      ...(entry.body !== undefined && { body: entry.body }),
      ...(entry.isStream === true && { isHeadOnly: true }),
    });
    // C3.openapi: whatever is answered here is documented. Pages and streams have no document.
    if (!/ \/(\*)?$/.test(entry.route) && entry.isStream !== true)
      expect(checker.faults(entry.route, answer)).toEqual([]);
    return answer;
  }

  const allowed = (needs: RouteEntry["needs"], scopes: readonly Scope[]): boolean =>
    needs === "any" || needs === "nobody" || scopes.includes(needs);

  function expectAllowed(answer: Answer, { refusedAnyway, needs }: RouteEntry): void {
    expect(answer.status).toBeLessThan(500);
    if (refusedAnyway === undefined) expect([401, 403]).not.toContain(answer.status);
    else expect(answer).toMatchObject({ status: 403 });
    // A refusal for want of a scope names it; this one has another reason.
    if (needs !== "nobody") expect(answer.body["code"]).not.toBe("missing-scope");
  }

  test.each(ROUTES.map((entry) => [entry.route, entry] as const))("C2.scopes %s by every preset", async (_, entry) => {
    for (const preset of presets) {
      const answer = await request(entry, (await hub.token(preset)).token);
      if (allowed(entry.needs, PRESETS[preset])) expectAllowed(answer, entry);
      else
        expect(answer, preset).toMatchObject({ status: 403, body: { code: "missing-scope", missing: [entry.needs] } });
    }
  });

  test.each(ROUTES.map((entry) => [entry.route, entry] as const))(
    "C3.order, incidents 1 and 16: %s without a credential, with a bad one, with a revoked one",
    async (_, entry) => {
      const dead = await hub.token("owner");
      hub.running.auth.devices.revoke(dead.deviceId as never, "test", { deviceId: "test", name: "test" });
      for (const token of [undefined, dead.token]) {
        const answer = await request(entry, token);
        if (entry.needs === "nobody") expect(answer.status).not.toBe(401);
        else {
          expect(answer).toMatchObject({ status: 401, headers: { "www-authenticate": 'Bearer realm="acp-hub"' } });
          expect(answer.headers["content-type"]).toMatch(/^application\/problem\+json/);
        }
      }
    },
  );

  test.each(ROUTES.map((entry) => [entry.route, entry] as const))(
    "C3.order, incidents 4, 5 and 12: %s from another origin or under another name, the owner's own credential in hand",
    async (_, entry) => {
      const { token } = await hub.token("owner");
      const origins = ["https://evil.example", "http://localhost:3000", `http://127.0.0.1:${hub.port + 1}`, "null"];
      for (const origin of origins) {
        const answer = await request(entry, token, { origin });
        expect(answer, origin).toMatchObject({ status: 403 });
        expect(answer.headers).not.toHaveProperty("access-control-allow-origin");
      }
      for (const host of ["evil.example", `evil.example:${hub.port}`, "localhost.evil.example", "127.0.0.1.nip.io"])
        expect((await request(entry, token, { host })).status, host).toBe(403);
      for (const host of ["a b", "[::1", "127.0.0.1:port", "user@127.0.0.1"])
        expect((await request(entry, token, { host })).status, host).toBe(400);
      // The hub's own page and its own names are not in the way.
      const own = await request(entry, (await hub.token("owner")).token, { origin: hub.url });
      expectAllowed(own, entry);
    },
  );

  test.each(ROUTES.filter((entry) => methodOf(entry) === "GET").map((entry) => [pathOf(entry), entry] as const))(
    "C2.scopes HEAD %s tells no more than GET",
    async (path, entry) => {
      const head = (token: string | undefined) => ask(hub.port, path, { method: "HEAD", token });
      if (entry.isStream === true) {
        expect((await head((await hub.token("owner")).token)).status).toBe(404);
        return;
      }
      if (entry.needs === "nobody") return expect((await head(undefined)).status).not.toBe(401);
      expect((await head(undefined)).status).toBe(401);
      for (const preset of presets) {
        const status = (await head((await hub.token(preset)).token)).status;
        if (allowed(entry.needs, PRESETS[preset])) expect([401, 403]).not.toContain(status);
        else expect(status).toBe(403);
      }
    },
  );

  test("C3.order what has no route says 404 to anyone of ours, and 403 to another name or origin all the same", async () => {
    for (const [method, path] of [
      ["POST", "/nothing"],
      ["PUT", "/api/instances"],
      ["DELETE", "/"],
      ["GET", "/api/nothing"],
      ["OPTIONS", "/api/instances"],
      ["GET", "//evil.example/"],
      ["GET", "/api/instances/../../etc/passwd"],
    ] as const) {
      expect((await ask(hub.port, path, { method })).status, path).toBe(404);
      expect((await ask(hub.port, path, { method, headers: { host: "evil.example" } })).status, path).toBe(403);
      expect((await ask(hub.port, path, { method, headers: { origin: "https://evil.example" } })).status).toBe(403);
    }
  });

  test("C3.devices a device may look at, rename and revoke itself, and no other", async () => {
    const viewer = await hub.token("viewer");
    const listed = await ask(hub.port, "/api/devices", { token: viewer.token });
    expect(JSON.parse(listed.text)).toMatchObject([{ deviceId: viewer.deviceId, isThis: true }]);
    const own = `/api/devices/${viewer.deviceId}`;
    expect((await ask(hub.port, own, { method: "PATCH", token: viewer.token, body: { name: "me" } })).status).toBe(204);
    expect((await ask(hub.port, own, { method: "DELETE", token: viewer.token })).status).toBe(204);
    expect((await ask(hub.port, "/api/devices", { token: viewer.token })).status).toBe(401);
  });

  test("C3.devices a device fills no disk with its names; one with admin is not held up", async () => {
    const [viewer, owner] = [await hub.token("viewer"), await hub.token("owner")];
    const rename = async ({ token }: { token: string }): Promise<number> => {
      const options = { method: "PATCH", token, body: { name: "me" } };
      return (await ask(hub.port, `/api/devices/${viewer.deviceId}`, options)).status;
    };
    const statuses: number[] = [];
    for (let count = 0; count < 12; count += 1) statuses.push(await rename(viewer));
    expect(statuses).toEqual([...Array<number>(10).fill(204), 429, 429]);
    expect(await rename(owner)).toBe(204);
  });

  test("incident 9: nobody makes a pairing or a token with more rights than it has, whatever it declares", async () => {
    const { token } = await hub.token("sessions:read admin");
    for (const path of ["/api/pairings", "/api/tokens"]) {
      for (const scope of ["owner", "driver", "sessions:prompt"])
        expect((await ask(hub.port, path, { method: "POST", token, body: { scope, scopes: ["admin"] } })).status).toBe(
          403,
        );
      expect((await ask(hub.port, path, { method: "POST", token, body: { scope: "viewer" } })).status).toBe(201);
    }
  });
});
