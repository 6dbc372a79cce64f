/** Behind a proxy the configuration names, a request is the client's: its address, and the scheme the client's browser sees. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { checkOrigin, isOwnOrigin, makeEdge } from "../../../src/hub/edge.ts";
import { type Answer, ask, upgradeStatus } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

const NAME = "hub.example";
const CLIENT = "203.0.113.7";

let hub: SecureHub | undefined;

async function start(trustedProxies: readonly string[]): Promise<SecureHub> {
  hub = await startSecureHub({ trustedProxies, http: { ...DEFAULT_CONFIG.http, hosts: [NAME] } });
  return hub;
}
beforeEach(() => {
  hub = undefined;
});
afterEach(() => hub?.stop());

const through = (proto: string): Record<string, string> => ({
  host: NAME,
  "x-forwarded-for": CLIENT,
  "x-forwarded-proto": proto,
});

/** Pairs as the app does it, from a page of this origin. */
async function pair(on: SecureHub, headers: Record<string, string>): Promise<Answer> {
  const { token } = await on.token("owner");
  const made = await ask(on.port, "/api/pairings", { method: "POST", token, body: { scope: "driver" } });
  const body = { code: made.body["code"], name: "tab", mode: "cookie" };
  return await ask(on.port, "/api/pair", { method: "POST", headers, body });
}

test("C3.order what is refused behind a trusted proxy is logged with the client's address, requests and upgrades alike", async () => {
  const on = await start(["127.0.0.1"]);
  await ask(on.port, "/api/instances", { headers: through("https") });
  expect(await upgradeStatus(on.port, "/acp", { Host: NAME, "X-Forwarded-For": CLIENT })).toBe(401);
  expect(await upgradeStatus(on.port, "/acp", { Host: "evil.example", "X-Forwarded-For": CLIENT })).toBe(403);
  await ask(on.port, "/api/instances", { headers: { host: "evil.example", "x-forwarded-for": CLIENT } });
  const refused = on
    .log()
    .split("\n")
    .filter((line) => line.includes(" refused"));
  expect(refused.map((line) => JSON.parse(line)).map(({ msg, status, address }) => [msg, status, address])).toEqual([
    ["request refused", 401, CLIENT],
    ["upgrade refused", 401, CLIENT],
    ["upgrade refused", 403, CLIENT],
    ["request refused", 403, CLIENT],
  ]);
});

test("C2.carriers the app's cookie is Secure where a trusted proxy says that the browser speaks https", async () => {
  const on = await start(["127.0.0.1"]);
  const paired = await pair(on, { ...through("https"), origin: `https://${NAME}` });
  expect(paired.status).toBe(201);
  const setCookie = String(paired.headers["set-cookie"]?.[0]);
  expect(setCookie).toMatch(/; Secure$/);
  const session = { cookie: setCookie.split(";")[0] ?? "", "x-acp-hub-key": String(paired.body["key"]) };
  const page = { ...through("https"), ...session, origin: `https://${NAME}` };
  expect((await ask(on.port, "/api/instances", { headers: page })).status).toBe(200);
  // The same page in plain http is another origin.
  expect((await ask(on.port, "/api/instances", { headers: { ...page, origin: `http://${NAME}` } })).status).toBe(403);
  const out = await ask(on.port, "/api/logout", { method: "POST", headers: page });
  expect(String(out.headers["set-cookie"]?.[0])).toMatch(/; Secure$/);
});

test("C2.carriers a hub with a public address gives a page in plain http a cookie that works there", async () => {
  hub = await startSecureHub({ publicUrl: `https://${NAME}` });
  const at = async (origin: string, host: string): Promise<string> =>
    String((await pair(hub as SecureHub, { host, origin })).headers["set-cookie"]?.[0]);
  expect(await at(`https://${NAME}`, NAME)).toMatch(/; Secure$/);
  expect(await at(`http://127.0.0.1:${hub.port}`, `127.0.0.1:${hub.port}`)).not.toMatch(/Secure/);
});

test("C2.carriers it is not where the proxy says http, and nobody else's word counts", async () => {
  const trusting = await start(["127.0.0.1"]);
  const plain = await pair(trusting, { ...through("http"), origin: `http://${NAME}` });
  expect(String(plain.headers["set-cookie"]?.[0])).not.toMatch(/Secure/);
  await trusting.stop();
  const alone = await start([]);
  const forged = await pair(alone, { ...through("https"), origin: `http://${NAME}` });
  expect(String(forged.headers["set-cookie"]?.[0])).not.toMatch(/Secure/);
  expect((await pair(alone, { ...through("https"), origin: `https://${NAME}` })).status).toBe(403);
});

test("C3.order the hub's own origin has the scheme the browser sees", () => {
  const edge = makeEdge({ host: "127.0.0.1", port: 8377, isTls: false, hosts: [NAME] });
  for (const isHttps of [false, true]) {
    const at = { host: NAME, isHttps };
    expect(isOwnOrigin(edge, `https://${NAME}`, at)).toBe(isHttps);
    expect(checkOrigin(edge, `http://${NAME}`, at).ok).toBe(!isHttps);
  }
});
