/** Guessing, and where secrets may stand: nowhere but with their owner. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { connectClient } from "../../support/raw-client.ts";
import { ask } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

describe("guessing a pairing code", () => {
  let hub: SecureHub;
  beforeEach(async () => {
    // A proxy in front, so that a request may come from any address.
    hub = await startSecureHub({ trustedProxies: ["127.0.0.1"] });
  });
  afterEach(() => hub.stop());

  const makeCode = async (): Promise<string> => {
    const { token } = await hub.token("owner");
    const made = await ask(hub.port, "/api/pairings", { method: "POST", token, body: { scope: "viewer" } });
    return String(made.body["code"]);
  };
  const pair = (code: string, from: string) =>
    ask(hub.port, "/api/pair", { method: "POST", headers: { "x-forwarded-for": from }, body: { code, name: "x" } });

  test("C6.limits ten wrong codes from one address and it waits a quarter of an hour, the right one in hand or not", async () => {
    for (let n = 0; n < 10; n += 1) expect((await pair("0000-0000", "203.0.113.1")).status).toBe(401);
    const code = await makeCode();
    const refused = await pair(code, "203.0.113.1");
    expect(refused).toMatchObject({ status: 429, body: { code: "rate-limited" } });
    const seconds = Number(refused.headers["retry-after"]);
    expect(seconds).toBeGreaterThan(840);
    expect(seconds).toBeLessThanOrEqual(900);
    // Refused is refused: the code was not looked at and is still good elsewhere.
    expect((await pair(code, "203.0.113.2")).status).toBe(201);
  });

  test("C6.limits a code dies after ten wrong tries in all, from however many addresses", async () => {
    const code = await makeCode();
    for (let n = 0; n < 10; n += 1) expect((await pair("ZZZZ-ZZZZ", `203.0.113.${n}`)).status).toBe(401);
    expect(await pair(code, "198.51.100.1")).toMatchObject({ status: 401, body: { code: "pairing-refused" } });
    const { token } = await hub.token("owner");
    expect((await ask(hub.port, "/api/audit", { token })).text).toContain('"pairing.burned"');
    expect((await pair(await makeCode(), "198.51.100.1")).status).toBe(201);
  });

  test("C3.pairing of a hundred guesses at once no more than ten are looked at, and one code makes one device", async () => {
    const guesses = await Promise.all(Array.from({ length: 100 }, () => pair("0000-0000", "203.0.113.7")));
    const statuses = guesses.map(({ status }) => status);
    expect(statuses.filter((status) => status === 401).length).toBeLessThanOrEqual(10);
    expect(statuses.filter((status) => status === 429).length).toBeGreaterThanOrEqual(90);
    const code = await makeCode();
    const tries = await Promise.all(Array.from({ length: 5 }, (_, n) => pair(code, `198.51.100.${n}`)));
    expect(tries.filter(({ status }) => status === 201)).toHaveLength(1);
  });

  test("C6.limits a browser that was revoked and goes on asking is not locked out of pairing again", async () => {
    const { token } = await hub.token("owner");
    const headers = { "x-forwarded-for": "203.0.113.8", origin: `http://127.0.0.1:${hub.port}` };
    const paired = await ask(hub.port, "/api/pair", {
      method: "POST",
      headers,
      body: { code: await makeCode(), mode: "cookie" },
    });
    const cookie = String(paired.headers["set-cookie"]?.[0]).split(";")[0] ?? "";
    const session = { ...headers, cookie, "x-acp-hub-key": String(paired.body["key"]) };
    expect((await ask(hub.port, "/api/instances", { headers: session })).status).toBe(200);
    await ask(hub.port, `/api/devices/${String(paired.body["deviceId"])}`, { method: "DELETE", token });
    for (let n = 0; n < 20; n += 1)
      expect((await ask(hub.port, "/api/instances", { headers: session })).status).toBe(401);
    expect((await pair(await makeCode(), "203.0.113.8")).status).toBe(201);
  });
});

test("C2.carriers, incidents 18 and 26: no secret stands in a log, an error, a metric, the audit, a list or the home", async () => {
  const hub = await startSecureHub();
  const owner = await hub.token("owner");
  const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
    ask(hub.port, path, { method: "POST", token: owner.token, headers, body });
  const pairing = async () => (await post("/api/pairings", { scope: "driver" })).body;
  const secrets = new Set<string>();
  const keep = (...values: unknown[]): void => {
    for (const value of values) secrets.add(String(value));
  };

  const app = await pairing();
  const phone = (await post("/api/pair", { code: app["code"], name: "phone" })).body;
  const next = (await post("/api/token", { refreshToken: phone["refreshToken"] })).body;
  const link = await pairing();
  const linkSecret = /#pair=(.+)$/.exec(String(link["url"]))?.[1];
  const tab = await post("/api/pair", { code: linkSecret, name: "tab", mode: "cookie" }, { origin: hub.url });
  const cookie = /=([^;]+)/.exec(String(tab.headers["set-cookie"]))?.[1];
  const script = (await hub.token("driver", { query: true })).token;
  const ticket = (await post("/api/ws-ticket", {})).body["ticket"];
  keep(
    owner.token,
    app["code"],
    phone["accessToken"],
    phone["refreshToken"],
    next["accessToken"],
    next["refreshToken"],
  );
  keep(link["code"], linkSecret, cookie, tab.body["key"], script, ticket);
  const remote = "4f1d9c0e7ab25836d1c7f0b92e64a85337cde10f9b8a6254";
  hub.running.hub.options.auth.adoptRemoteToken(remote);
  hub.running.hub.options.auth.adoptRemoteToken("weak-weak-weak-secret");
  keep(remote, "weak-weak-weak-secret");

  // Used well and badly, in every place there is.
  const answers: string[] = [];
  const note = async (path: string, headers: Record<string, string> = {}): Promise<void> => {
    const { text, headers: given } = await ask(hub.port, path, { headers });
    answers.push(text, JSON.stringify(given));
  };
  for (const secret of secrets) {
    await note(`/api/instances?token=${secret}`);
    await note(`/api/instances?ticket=${secret}`);
    await note(`/nothing/${secret}?token=${secret}`);
    await note(`/%zz${secret}`);
    await note("/api/instances", { authorization: `Bearer ${secret}` });
    await note("/api/instances", { authorization: `Bearer x${secret}` });
    await note("/api/instances", { cookie: `acp-hub-${hub.port}=${secret}`, "x-acp-hub-key": secret, origin: hub.url });
    answers.push((await post("/api/pair", { code: `${secret}x`, name: "x" })).text);
    answers.push((await post("/api/token", { refreshToken: `${secret}x` })).text);
    await connectClient(`ws://127.0.0.1:${hub.port}/acp?token=${secret}`, secret, {
      protocols: ["acp", `bearer.${secret}`],
    }).then(
      (client) => client.close(),
      () => undefined,
    );
  }
  for (const path of ["/api/devices", "/api/audit", "/metrics", "/api/instances", "/api/diagnostics?only=none"])
    answers.push((await ask(hub.port, path, { token: owner.token })).text);
  const log = hub.log();
  await hub.running.stop();

  const places: [string, string][] = [
    ["log", log],
    ["answers", answers.join("\n")],
    ...filesBelow(hub.paths.dataDir).map((path): [string, string] => [path, readFileSync(path, "latin1")]),
  ];
  expect(places.map(([place]) => place)).toContain(hub.paths.database);
  expect(log.length).toBeGreaterThan(1000);
  for (const secret of secrets) {
    // Of a token the signature is what opens; of a refresh credential its second half.
    const opening = secret.split(".").at(-1) ?? secret;
    for (const [place, text] of places)
      expect(text.includes(opening), `${opening.slice(0, 6)}… in ${place}`).toBe(false);
  }
  await hub.restart();
  await hub.stop();
});

function filesBelow(dir: string): string[] {
  if (!existsSync(dir)) return [];
  return readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name));
}
