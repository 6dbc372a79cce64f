/** C6: what guards the pairing codes is as the configuration says. */
import { afterEach, beforeEach, expect, test } from "vitest";
import { LIMITS } from "../../../src/protocol/limits.ts";
import { type Answer, ask } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

let hub: SecureHub;
beforeEach(async () => {
  const changes = { pairingMs: 60_000, pairingWrongTriesMax: 2, failuresPerAddress: 3, failuresMs: 60_000 };
  hub = await startSecureHub({ trustedProxies: ["127.0.0.1"], limits: { ...LIMITS, ...changes } });
});
afterEach(() => hub.stop());

const pair = (code: unknown, from: string): Promise<Answer> =>
  ask(hub.port, "/api/pair", { method: "POST", headers: { "x-forwarded-for": from }, body: { code, name: "x" } });

test("C6.limits a code's life, the wrong tries that end it, and the failures of an address are configured", async () => {
  const { token } = await hub.token("owner");
  const body = { scope: "viewer", ttlSeconds: 600 };
  const made = await ask(hub.port, "/api/pairings", { method: "POST", token, body });
  expect(Number(made.body["expiresAt"]) - Date.now()).toBeLessThanOrEqual(60_000);
  for (const from of ["203.0.113.1", "203.0.113.2"]) expect((await pair("0000-0000", from)).status).toBe(401);
  expect(await pair(made.body["code"], "203.0.113.3")).toMatchObject({
    status: 401,
    body: { code: "pairing-refused" },
  });
  const stranger = "203.0.113.4";
  for (let n = 0; n < 3; n += 1) expect((await pair("0000-0000", stranger)).status).toBe(401);
  const refused = await pair("0000-0000", stranger);
  expect(refused).toMatchObject({ status: 429, body: { code: "rate-limited" } });
  expect(Number(refused.headers["retry-after"])).toBeLessThanOrEqual(60);
});
