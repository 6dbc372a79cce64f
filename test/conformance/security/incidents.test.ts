/** The incidents of neighbouring projects, each tried on a hub as `serve` runs it. Those of one module are in its own tests. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, statSync } from "node:fs";
import { connect, createServer } from "node:net";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LinkDialer } from "../../../src/bridge/link-dialer.ts";
import { mdns } from "../../../src/cli/doctor/checks/mdns.ts";
import type { DoctorContext } from "../../../src/cli/doctor/context.ts";
import { resolvePaths } from "../../../src/config/paths.ts";
import { startDiscovery } from "../../../src/hub/discovery.ts";
import { checkHost, makeEdge } from "../../../src/hub/edge.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, rawClient } from "../../support/raw-client.ts";
import { ask, exchange, upgradeStatus } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

describe("what happened to others", () => {
  let hub: SecureHub;
  beforeEach(async () => {
    hub = await startSecureHub();
  });
  afterEach(() => hub.stop());

  const upgrade = (path: string, headers: Record<string, string>): Promise<number> =>
    upgradeStatus(hub.port, path, headers);

  /** A browser of the owner's, paired as the app does it. */
  async function browser(preset = "driver") {
    const { token } = await hub.token("owner");
    const made = await ask(hub.port, "/api/pairings", { method: "POST", token, body: { scope: preset } });
    const paired = await ask(hub.port, "/api/pair", {
      method: "POST",
      headers: { origin: hub.url },
      body: { code: made.body["code"], name: "tab", mode: "cookie" },
    });
    const cookie = String(paired.headers["set-cookie"]?.[0]).split(";")[0] ?? "";
    return { cookie, key: String(paired.body["key"]) };
  }

  test("incident 1: a page of any site gets no CORS header, no answer and no file", async () => {
    const origin = "https://evil.example";
    for (const path of ["/api/instances", "/api/instances/i-0/fs/file?sessionId=s1&path=/etc/passwd", "/healthz"]) {
      for (const method of ["GET", "OPTIONS"]) {
        const headers = { origin, "access-control-request-method": "GET" };
        const answer = await ask(hub.port, path, { method, headers });
        expect(answer.status).toBe(403);
        expect(Object.keys(answer.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
      }
    }
  });

  test("incident 2: whoever is turned away is logged with the address, and what is done stands in the audit", async () => {
    await ask(hub.port, "/api/instances");
    await upgrade("/acp", {});
    expect(hub.log()).toMatch(/"status":401,"route":"\/api\/instances","address":"127\.0\.0\.1".*"request refused"/);
    expect(hub.log()).toMatch(/"status":401,"address":"127\.0\.0\.1".*"upgrade refused"/);
    const { token } = await hub.token("owner");
    await ask(hub.port, "/api/pairings", { method: "POST", token, body: { scope: "viewer" } });
    const audit = await ask(hub.port, "/api/audit", { token });
    expect(audit.text).toContain('"pairing.create"');
    expect(audit.text).toContain('"token.create"');
  });

  test("incident 3: announcing is a switch of its own and never opens the hub to the network", () => {
    const advert = { id: "i", version: "1", isTls: false, path: "", fingerprint: "f", port: 1, name: "n" };
    const log = pino({ level: "silent" });
    const loopback = startDiscovery({ host: "127.0.0.1", isEnabled: true, advert, log });
    expect(loopback.state).toEqual({ kind: "off", reason: "loopback" });
    const off = startDiscovery({ host: "0.0.0.0", isEnabled: false, advert, log });
    expect(off.state).toEqual({ kind: "off", reason: "disabled" });
  });

  test("incidents 4 and 5: a rebound name gets no socket either, whatever credential it brings", async () => {
    const { token } = await hub.token("owner");
    for (const Host of ["evil.example", `evil.example:${hub.port}`, "127.0.0.1.nip.io", "localhost.evil.example"])
      expect(await upgrade("/acp", { Host, Authorization: `Bearer ${token}` }), Host).toBe(403);
    expect(await upgrade("/acp", { Authorization: `Bearer ${token}` })).toBe(101);
    // None, two, and an absolute target that says another one.
    const get = (head: string) => exchange(hub.port, `${head}\r\nConnection: close\r\n\r\n`);
    expect(await get("GET /healthz HTTP/1.1")).toMatch(/^HTTP\/1\.1 400/);
    expect(await get(`GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example`)).toMatch(/^HTTP\/1\.1 4/);
    expect(await get("GET http://evil.example/healthz HTTP/1.1\r\nHost: evil.example")).toMatch(/^HTTP\/1\.1 403/);
  });

  test("incident 6: no GET changes anything, a browser's cross-site GET with the cookie is refused, and loopback is bound exactly", async () => {
    for (const route of hub.running.hub.routesOnNetwork.keys())
      expect(route).not.toMatch(/^(GET|HEAD) .*(revoke|answer|close|rename|logout|pair$|create|delete)/);
    const { cookie, key } = await browser();
    for (const site of ["cross-site", "same-site", "none"]) {
      const headers = { cookie, "x-acp-hub-key": key, "sec-fetch-site": site };
      expect(await ask(hub.port, "/api/instances", { headers })).toMatchObject({ status: 403 });
    }
    const own = { cookie, "x-acp-hub-key": key, "sec-fetch-site": "same-origin" };
    expect((await ask(hub.port, "/api/instances", { headers: own })).status).toBe(200);
    expect(hub.running.hub.options.host).toBe("127.0.0.1");
  });

  test("incidents 7, 12, 13 and 15: a page elsewhere gets no socket with the owner's cookie, and not one byte of state", async () => {
    const agent = puppetAgent();
    const editor = rawClient(hub.bridge(agent.backend).editor);
    await editor.initialize({});
    await vi.waitFor(() => expect(hub.running.hub.registry.get("i-0")).toBeDefined(), { timeout: 20_000 });
    const { cookie, key } = await browser();
    const elsewhere = ["https://evil.example", "http://localhost:3000", `http://127.0.0.1:${hub.port + 1}`, "null"];
    for (const Origin of elsewhere) {
      const text = await exchange(
        hub.port,
        `GET /acp?instance=i-0 HTTP/1.1\r\nHost: 127.0.0.1:${hub.port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
          `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: ${cookie}\r\nOrigin: ${Origin}\r\n\r\n`,
      );
      expect(text).toMatch(/^HTTP\/1\.1 403 /);
      expect(text).not.toContain("puppet");
    }
    // The cookie alone opens no socket, from its own page neither: pages cannot add the key to an upgrade, so they bring a ticket.
    expect(await upgrade("/acp", { Cookie: cookie, Origin: hub.url })).toBe(401);
    expect(await upgrade("/acp", { Cookie: cookie })).toBe(403);
    const headers = { cookie, "x-acp-hub-key": key, origin: hub.url };
    const { body } = await ask(hub.port, "/api/ws-ticket", { method: "POST", headers });
    const ticket = String(body["ticket"]);
    // A ticket in the wrong hands is still bound to the page's origin, and to one use.
    expect(await upgrade(`/acp?ticket=${ticket}`, { Origin: "https://evil.example" })).toBe(403);
    expect(await upgrade(`/acp?ticket=${ticket}`, { Origin: hub.url })).toBe(101);
    expect(await upgrade(`/acp?ticket=${ticket}`, { Origin: hub.url })).toBe(401);
  });

  test("incident 8: another port of this host, where the agent's dev servers run, gets nowhere with the hub's cookie", async () => {
    const { cookie, key } = await browser();
    const devServer = "http://127.0.0.1:3000";
    const post = (headers: Record<string, string>, body: unknown = {}) =>
      ask(hub.port, "/api/ws-ticket", { method: "POST", headers: { cookie, ...headers }, body });
    // Its page: browsers send the cookie along (a port is no other site), and its true origin.
    expect((await post({ origin: devServer })).status).toBe(403);
    expect((await post({ origin: devServer, "x-acp-hub-key": key })).status).toBe(403);
    // Its server: it has seen the cookie, may say any origin, and has never seen the key.
    expect(await post({ origin: hub.url })).toMatchObject({ status: 401, body: {} });
    expect((await post({ origin: hub.url, "x-acp-hub-key": "A".repeat(43) })).status).toBe(401);
    expect((await ask(hub.port, "/api/instances", { headers: { cookie, referer: `${hub.url}/` } })).status).toBe(401);
    expect((await ask(hub.port, "/api/events", { headers: { cookie, origin: hub.url } })).status).toBe(401);
    // A form needs no script and no preflight.
    const form = { origin: devServer, "content-type": "application/x-www-form-urlencoded" };
    expect((await post(form, "a=b")).status).toBe(403);
    expect((await post({ origin: hub.url, "x-acp-hub-key": key })).status).toBe(201);
  });

  test("incident 10: nothing that comes over the network becomes a command", async () => {
    const agent = puppetAgent();
    const editor = rawClient(hub.bridge(agent.backend).editor);
    await editor.initialize({});
    await vi.waitFor(() => expect(hub.running.hub.registry.get("i-0")).toBeDefined(), { timeout: 20_000 });
    const { token } = await hub.token("driver");
    const phone = await connectClient(`ws://127.0.0.1:${hub.port}/acp?instance=i-0`, token);
    await phone.initialize();
    const mcpServers = [{ name: "evil", command: "/bin/sh", args: ["-c", "id"], env: [] }];
    const made = await phone.call("session/new", {
      cwd: hub.workspace,
      mcpServers,
      _meta: { claudeCode: { options: { executable: "/bin/sh" } }, zcode: {} },
    });
    expect(made["_meta"]).toMatchObject({ "acp-hub": { ignored: ["evil", "_meta.claudeCode"] } });
    const params = agent.calls.find((call) => call.method === "session/new")?.params;
    expect(params).toMatchObject({ mcpServers: [] });
    expect(JSON.stringify(params)).not.toContain("/bin/sh");
    const { token: owner } = await hub.token("owner");
    for (const agentName of [{ command: "/bin/sh" }, ["/bin/sh"], 7])
      expect(
        await ask(hub.port, "/api/instances", {
          method: "POST",
          token: owner,
          body: { workspacePath: hub.workspace, agent: agentName },
        }),
      ).toMatchObject({ status: 400 });
  });

  test("incident 16: one gate for HTTP, sockets, streams and the app: each knows the same credentials", async () => {
    const { token } = await hub.token("viewer");
    const [good, bad] = [{ authorization: `Bearer ${token}` }, { authorization: "Bearer nothing" }];
    expect((await ask(hub.port, "/api/events", { headers: good, isHeadOnly: true })).status).toBe(200);
    expect((await ask(hub.port, "/api/events", { headers: bad })).status).toBe(401);
    expect(await upgrade("/acp", { Authorization: `Bearer ${token}` })).toBe(101);
    expect(await upgrade("/acp", { Authorization: "Bearer nothing" })).toBe(401);
    // There is no other socket than /acp, at whatever path and with whatever name of it.
    for (const path of ["/", "/api/instances", "/acp/", "/acp/x", "//acp", "/ACP", "/%61cp"])
      expect(await upgrade(path, { Authorization: `Bearer ${token}` }), path).toBe(404);
  });

  test("incident 19: there is no first credential for whoever asks on this computer: only who can open a private file", async () => {
    for (const path of ["/bootstrap", "/api/bootstrap", "/api/pairings", "/api/tokens", "/api/pair", "/api/token"])
      for (const body of [{}, { scope: "owner" }, { code: "" }, { refreshToken: "" }])
        expect((await ask(hub.port, path, { method: "POST", body })).text).not.toMatch(
          /accessToken|"token"|"code":"[0-9A-Z]/,
        );
    const modeOf = (path: string): number => statSync(path).mode & 0o777;
    const { apiSocket, linkSocket, runDir, keysDir, dataDir, hubInfo, database } = hub.paths;
    expect([runDir, keysDir, dataDir].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
    expect([apiSocket, linkSocket, hubInfo, database].map(modeOf)).toEqual([0o600, 0o600, 0o600, 0o600]);
  });

  test("incident 20: no header makes a request local, and none hides who guesses", async () => {
    const forged = { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1", forwarded: "for=127.0.0.1" };
    expect((await ask(hub.port, "/api/instances", { headers: forged })).status).toBe(401);
    for (let n = 0; n < 10; n += 1)
      await ask(hub.port, "/api/pair", {
        method: "POST",
        headers: { "x-forwarded-for": `203.0.113.${n}` },
        body: { code: "0000-0000" },
      });
    const next = await ask(hub.port, "/api/pair", {
      method: "POST",
      headers: { "x-forwarded-for": "203.0.113.99" },
      body: { code: "0000-0000" },
    });
    expect(next).toMatchObject({ status: 429, body: { code: "rate-limited" } });
    expect(Number(next.headers["retry-after"])).toBeGreaterThan(800);
  });

  test("incident 21: a hub on the network says over which addresses it is reached, and a pairing link names the true one", async () => {
    const { token } = await hub.token("owner");
    const made = await ask(hub.port, "/api/pairings", { method: "POST", token, body: { scope: "viewer" } });
    expect(made.body["url"]).toMatch(new RegExp(`^${hub.url}/#pair=[A-Za-z0-9_-]{43}$`));
  });

  test("incident 22: bound to everything the hub answers for this machine's names, and says how to add another", () => {
    const edge = makeEdge({
      host: "0.0.0.0",
      port: 8377,
      isTls: false,
      hosts: ["my.name"],
      publicUrl: "https://x.example",
    });
    const name = hostname().toLowerCase();
    for (const host of [
      "localhost:8377",
      "127.0.0.1",
      "[::1]:8377",
      name,
      `${name.replace(/\.local$/, "")}.local`,
      "my.name",
      "x.example",
    ])
      expect(checkHost(edge, host), host).toEqual({ ok: true });
    expect(checkHost(edge, "evil.example")).toMatchObject({ ok: false, status: 403 });
    expect(checkHost(edge, "evil.example")).toMatchObject({ detail: expect.stringMatching(/http\.hosts.*publicUrl/) });
  });

  test("incident 27: what opened a connection once opens no other one", async () => {
    // There is no relay; a replayed upgrade brings a ticket that is used up, and a replayed answer meets a settled question (X4).
    const { token } = await hub.token("driver");
    const { body } = await ask(hub.port, "/api/ws-ticket", { method: "POST", token });
    const once = `/acp?ticket=${String(body["ticket"])}`;
    expect([await upgrade(once, {}), await upgrade(once, {})]).toEqual([101, 401]);
  });
});

test("incident 11: a bridge says nothing to a socket in a directory that is not its user's alone", async () => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-imposter-")));
  const paths = resolvePaths(home);
  mkdirSync(paths.runDir, { mode: 0o700 });
  let calls = 0;
  const imposter = createServer((socket) => {
    calls += 1;
    socket.on("error", () => undefined);
    socket.destroy();
  });
  await new Promise<void>((resolve) => imposter.listen(paths.linkSocket, () => resolve()));
  const warnings: string[] = [];
  const dial = (): LinkDialer =>
    new LinkDialer({
      paths,
      hello: () => {
        throw new Error("a closed socket is told nothing");
      },
      handlers: { onUp: () => undefined, onFrame: () => undefined, onDown: () => undefined, onDrain: () => undefined },
      launcher: undefined,
      log: { info: () => undefined, warn: (text: string) => void warnings.push(text), error: () => undefined } as never,
    });
  for (const mode of [0o777, 0o755, 0o710]) {
    chmodSync(paths.runDir, mode);
    warnings.length = 0;
    const dialer = dial();
    dialer.start();
    await vi.waitFor(() => expect(warnings.length).toBeGreaterThan(0), { timeout: 10_000 });
    dialer.stop();
    expect(warnings[0]).toMatch(/not private/);
  }
  // Who dialled before this one would have been counted before it.
  const last = connect(paths.linkSocket).resume();
  last.on("error", () => undefined);
  await new Promise((resolve) => last.once("close", resolve));
  expect(calls).toBe(1);
  await new Promise((resolve) => imposter.close(resolve));
  rmSync(home, { recursive: true });
});

test("incident 24: what a link or a request names never becomes a flag", async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-argv-")));
  const out = join(root, "argv.json");
  const odd = join(root, "--settings=evil");
  mkdirSync(odd);
  const program = {
    command: process.execPath,
    args: ["-e", "require('fs').writeFileSync(process.env.OUT, JSON.stringify(process.argv.slice(1)))"],
    env: { OUT: out },
  };
  const agents = { mine: { command: "x", args: [], env: {} } };
  const hub = await startSecureHub({ create: { roots: [root] }, agents }, program);
  const { token } = await hub.token("owner");
  const create = (body: object) => ask(hub.port, "/api/instances", { method: "POST", token, body });
  for (const agent of ["--settings=evil", "-e", "mine --x", "../mine", "constructor", "__proto__"])
    expect(await create({ workspacePath: root, agent }), agent).toMatchObject({
      status: 403,
      body: { code: "no-profile" },
    });
  for (const workspacePath of ["--settings=evil", "-C", "file:///etc", "/etc", `${root}/..`, "\0", ""])
    expect(await create({ workspacePath, agent: "mine" }), workspacePath).toMatchObject({ status: 403 });
  // The program is no bridge: it ends, and the answer says so. What it was called with is what counts.
  expect((await create({ workspacePath: odd, agent: "mine" })).status).toBe(504);
  expect(JSON.parse(readFileSync(out, "utf8"))).toEqual([
    "bridge",
    "--headless",
    "--cwd",
    odd,
    "--name",
    "mine",
    "mine",
  ]);
  await hub.stop();
  rmSync(root, { recursive: true });
});

test("incident 25: an announcement that fails is shown by doctor, with what to do", async () => {
  const discovery = { kind: "failed" as const, failures: [{ interface: "eth0", code: "EADDRINUSE" }] };
  const findings = await mdns.run({ discovery } as unknown as DoctorContext);
  expect(findings).toMatchObject([
    { level: "fail", text: expect.stringContaining("eth0"), fix: expect.stringMatching(/5353/) },
  ]);
});

test("incident 18: what opens the hub stands in no log line, though it stood in a URL", async () => {
  const hub = await startSecureHub();
  const { token } = await hub.token("viewer", { query: true });
  for (const path of [
    `/api/instances?token=${token}`,
    `/nothing?token=${token}`,
    `/%zz?token=${token}`,
    `/acp?token=${token}`,
  ])
    await ask(hub.port, path);
  const client = await connectClient(`ws://127.0.0.1:${hub.port}/acp?token=${token}`, "x", {
    headers: { authorization: "none" },
  });
  client.close();
  await hub.stop();
  expect(hub.log()).not.toContain(token.slice(-40));
});
