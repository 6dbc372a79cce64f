import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BrowserPairing, TokenPair } from "../../../src/auth/auth.ts";
import type { CarrierRequest } from "../../../src/auth/carrier.ts";
import { isAuthFailure } from "../../../src/auth/failures.ts";
import type { Principal } from "../../../src/auth/principal.ts";
import { PRESETS } from "../../../src/protocol/scopes.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { type AuthFixture, authFixture, COOKIE, given, LOCAL_OWNER, OWN_ORIGIN } from "../../support/auth-fixture.ts";
import { ManualClock } from "../../support/manual-clock.ts";

const ADDRESS = "192.0.2.1";

describe("one way in", () => {
  let fixture: AuthFixture;
  beforeEach(async () => {
    fixture = await authFixture();
  });
  afterEach(() => fixture.dispose());

  const codeOf = async (request: Partial<CarrierRequest>): Promise<string> => {
    const answer = await fixture.ask(request);
    return isAuthFailure(answer) ? answer.code : answer.via;
  };

  async function phone(scopes = PRESETS.driver): Promise<TokenPair> {
    const { linkSecret } = given(fixture.auth.createPairing({ scopes }, LOCAL_OWNER));
    return given(await fixture.auth.pair({ code: linkSecret, name: "phone", address: ADDRESS }));
  }

  async function browser(): Promise<BrowserPairing & { readonly cookie: string }> {
    const { code } = given(fixture.auth.createPairing({ scopes: PRESETS.owner, name: "tablet" }, LOCAL_OWNER));
    const paired = given(await fixture.auth.pairBrowser({ code, name: undefined, address: ADDRESS }, COOKIE));
    return { ...paired, cookie: paired.setCookie.split(";")[0] ?? "" };
  }

  const script = async (queryAllowed: boolean): Promise<string> =>
    given(await fixture.auth.createToken({ name: "ci", scopes: PRESETS.driver, queryAllowed }, LOCAL_OWNER)).token;

  test("C3.devices a device just paired has been seen, and where from; a token not used yet has not", async () => {
    const ids = [(await phone()).deviceId, (await browser()).deviceId];
    for (const id of ids)
      expect(fixture.auth.devices.get(id)).toMatchObject({ lastSeenAt: fixture.clock.now(), lastAddress: ADDRESS });
    await script(false);
    const token = fixture.auth.devices.list().find(({ kind }) => kind === "script");
    expect(token).toBeDefined();
    expect(token).not.toHaveProperty("lastSeenAt");
  });

  test("C2.carriers a bearer token is taken in the header and as a subprotocol, and says who it is", async () => {
    const { accessToken, deviceId } = await phone();
    expect(await fixture.ask({ headers: { authorization: `Bearer ${accessToken}` } })).toEqual({
      deviceId,
      name: "phone",
      kind: "app",
      scopes: new Set(PRESETS.driver),
      via: "bearer",
    });
    expect(await codeOf({ headers: { "sec-websocket-protocol": `acp, bearer.${accessToken}` } })).toBe("subprotocol");
    expect(await codeOf({ headers: { "sec-websocket-protocol": `bearer.${accessToken}, bearer.x` } })).toBe(
      "malformed-credential",
    );
  });

  test("C2.carriers, incident 18: only a token made for it stands in a URL", async () => {
    const { accessToken } = await phone();
    expect(await codeOf({ url: `/acp?token=${accessToken}` })).toBe("query-not-allowed");
    expect(await codeOf({ url: `/acp?token=${await script(false)}` })).toBe("query-not-allowed");
    const made = await script(true);
    expect(await codeOf({ url: `/acp?token=${made}` })).toBe("query");
    expect(await codeOf({ url: `/acp?token=${made}&token=${made}` })).toBe("malformed-credential");
    expect(await codeOf({ headers: { authorization: `Bearer ${made}` } })).toBe("bearer");
  });

  test("C2.carriers, incidents 7, 12 and 15: the browser session needs cookie, key and the hub's own page", async () => {
    const { cookie, key } = await browser();
    const headers = { cookie, "x-acp-hub-key": key, origin: OWN_ORIGIN };
    expect(await codeOf({ method: "POST", headers })).toBe("cookie");
    expect(await codeOf({ headers: { ...headers, origin: undefined } })).toBe("origin-refused");
    expect(await codeOf({ headers: { ...headers, origin: "http://127.0.0.1:3000" } })).toBe("origin-refused");
    expect(await codeOf({ method: "POST", headers: { cookie, origin: OWN_ORIGIN } })).toBe("key-missing");
    expect(await codeOf({ method: "POST", headers: { "x-acp-hub-key": key, origin: OWN_ORIGIN } })).toBe(
      "missing-credential",
    );
    const reading = { cookie, "x-acp-hub-key": key, "sec-fetch-site": "same-origin" };
    expect(await codeOf({ headers: reading })).toBe("cookie");
    expect(await codeOf({ method: "POST", headers: reading })).toBe("origin-refused");
  });

  test("C2.carriers a socket of the app comes with a ticket, once, with the rights of its device", async () => {
    const { cookie, key, deviceId } = await browser();
    const holder = given(
      await fixture.ask({ method: "POST", headers: { cookie, "x-acp-hub-key": key, origin: OWN_ORIGIN } }),
    );
    const { ticket } = fixture.auth.issueTicket(holder);
    const opened = given(await fixture.ask({ url: `/acp?ticket=${ticket}`, headers: { cookie } }));
    expect(opened).toMatchObject({ deviceId, via: "ticket", kind: "browser", name: "tablet" });
    expect(await codeOf({ url: `/acp?ticket=${ticket}`, headers: { cookie } })).toBe("invalid-credential");
    const late = fixture.auth.issueTicket(holder).ticket;
    fixture.auth.devices.revoke(deviceId, "lost", LOCAL_OWNER);
    expect(await codeOf({ url: `/acp?ticket=${late}` })).toBe("revoked-device");
  });

  test("C2.carriers what is sent by intent decides; a browser's cookie does not rescue a bad token", async () => {
    const { cookie, key } = await browser();
    const headers = { cookie, "x-acp-hub-key": key, origin: OWN_ORIGIN };
    expect(await codeOf({ method: "POST", headers: { ...headers, authorization: "Bearer wrong" } })).toBe(
      "invalid-credential",
    );
    expect(await codeOf({ method: "POST", headers: { ...headers, authorization: "Basic abc" } })).toBe("cookie");
  });

  test("incidents 1, 20 and 27: no address gets in without a credential, loopback neither", async () => {
    for (const address of ["127.0.0.1", "::1", "::ffff:127.0.0.1", "192.168.1.2", ""]) {
      const headers = { "x-forwarded-for": "127.0.0.1", forwarded: "for=127.0.0.1", origin: OWN_ORIGIN };
      expect(await codeOf({ address, headers }), address).toBe("missing-credential");
    }
  });

  test("C2.tokens, incident 9: a long-lived token gives what its record says and ends with it", async () => {
    const approver: Principal = { ...LOCAL_OWNER, scopes: new Set(PRESETS.approver) };
    expect(await fixture.auth.createToken({ name: "x", scopes: PRESETS.driver }, approver)).toMatchObject({
      code: "scope-exceeds-issuer",
    });
    const made = given(
      await fixture.auth.createToken({ name: "ci", scopes: PRESETS.viewer, ttlMs: 3_600_000 }, approver),
    );
    const headers = { authorization: `Bearer ${made.token}` };
    expect(await fixture.ask({ headers })).toMatchObject({
      kind: "script",
      scopes: new Set(PRESETS.viewer),
      expiresAt: fixture.clock.now() + 3_600_000,
    });
    await fixture.clock.advance(3_600_000 + 6_000);
    expect(await codeOf({ headers })).toBe("expired-credential");
  });

  test("C3.devices revoking ends every kind of credential at once, and stays so after a restart", async () => {
    const app = await phone();
    const tab = await browser();
    const token = given(await fixture.auth.createToken({ name: "ci", scopes: PRESETS.viewer }, LOCAL_OWNER));
    const requests: Partial<CarrierRequest>[] = [
      { headers: { authorization: `Bearer ${app.accessToken}` } },
      { method: "POST", headers: { cookie: tab.cookie, "x-acp-hub-key": tab.key, origin: OWN_ORIGIN } },
      { headers: { authorization: `Bearer ${token.token}` } },
    ];
    for (const request of requests) expect(isAuthFailure(await fixture.ask(request))).toBe(false);
    const heard: string[] = [];
    fixture.auth.onRevoked((id) => heard.push(id));
    const ids = [app.deviceId, tab.deviceId, token.record.deviceId];
    for (const id of ids) fixture.auth.devices.revoke(id, "lost", LOCAL_OWNER);
    expect(heard).toEqual(ids);
    const again = await fixture.restart();
    for (const hub of [fixture, again]) {
      for (const request of requests) expect(isAuthFailure(await hub.ask(request))).toBe(true);
      expect(isAuthFailure(await hub.auth.refresh(app.refreshToken, ADDRESS))).toBe(true);
    }
  });

  test("C2.tokens a refresh credential used twice revokes its device, and the audit says so", async () => {
    const { refreshToken, deviceId } = await phone();
    const next = given(await fixture.auth.refresh(refreshToken, ADDRESS));
    expect(await fixture.auth.refresh(refreshToken, "203.0.113.9")).toMatchObject({
      code: "revoked-device",
      status: 401,
    });
    expect(await codeOf({ headers: { authorization: `Bearer ${next.accessToken}` } })).toBe("revoked-device");
    expect(isAuthFailure(await fixture.auth.refresh(next.refreshToken, ADDRESS))).toBe(true);
    expect(fixture.audit.slice(-2)).toMatchObject([
      { action: "refresh.reuse", target: deviceId, actor: { address: "203.0.113.9" } },
      { action: "device.revoke", target: deviceId },
    ]);
  });

  test("C6.limits, incident 8: ten bad codes from an address and it waits; others, and good credentials, do not", async () => {
    const { accessToken } = await phone();
    for (let n = 0; n < 10; n++) {
      expect(await fixture.auth.pair({ code: "0000-0000", name: "x", address: "127.0.0.1" })).toMatchObject({
        status: 401,
      });
    }
    const { code } = given(fixture.auth.createPairing({ scopes: PRESETS.viewer }, LOCAL_OWNER));
    expect(await fixture.auth.pair({ code, name: "x", address: "127.0.0.1" })).toMatchObject({
      code: "rate-limited",
      retryAfterSeconds: 900,
    });
    const guess = { address: "127.0.0.1", headers: { authorization: "Bearer guess" } };
    expect(await fixture.ask(guess)).toMatchObject({ code: "rate-limited", status: 429 });
    expect(await codeOf({ ...guess, headers: { authorization: `Bearer ${accessToken}` } })).toBe("bearer");
    expect(isAuthFailure(await fixture.auth.pair({ code, name: "x", address: "192.0.2.9" }))).toBe(false);
  });

  test("C6.limits an expired or revoked credential is no guess", async () => {
    const { accessToken } = await phone();
    await fixture.clock.advance(3_600_000);
    for (let n = 0; n < 30; n++)
      expect(await codeOf({ headers: { authorization: `Bearer ${accessToken}` } })).toBe("expired-credential");
    for (let n = 0; n < 30; n++) expect(await codeOf({})).toBe("missing-credential");
  });

  test("C3.pairing a device is named by itself, else by its pairing, and remembers who let it in", async () => {
    const issuer: Principal = { ...LOCAL_OWNER, name: "laptop" };
    const names = [];
    for (const [own, given_] of [
      ["Ada\u202E", "x"],
      [undefined, "kitchen"],
      [undefined, undefined],
    ] as const) {
      const request = { scopes: PRESETS.viewer, ...(given_ !== undefined && { name: given_ }) };
      const { code } = given(fixture.auth.createPairing(request, issuer));
      const { deviceId } = given(await fixture.auth.pair({ code, name: own, address: ADDRESS }));
      names.push([fixture.auth.devices.get(deviceId)?.name, fixture.auth.devices.get(deviceId)?.createdBy]);
    }
    expect(names).toEqual([
      ["Ada", "laptop"],
      ["kitchen", "laptop"],
      ["app", "laptop"],
    ]);
  });

  test("no audit entry, failure or error holds a secret", async () => {
    const app = await phone();
    const tab = await browser();
    const token = await script(true);
    const { ticket } = fixture.auth.issueTicket(LOCAL_OWNER);
    const answers = [
      await fixture.auth.refresh(`${app.refreshToken.slice(0, -2)}xx`, ADDRESS),
      await fixture.ask({ headers: { authorization: `Bearer ${token.slice(0, -2)}xx` } }),
      await fixture.ask({ url: `/acp?ticket=${ticket}x` }),
    ];
    const text = JSON.stringify([fixture.audit, fixture.errors, answers]);
    for (const secret of [app.accessToken, app.refreshToken, tab.key, tab.cookie.split("=")[1] ?? "", token, ticket]) {
      for (const part of secret.split(/[._]/).filter((piece) => piece.length > 20)) expect(text).not.toContain(part);
    }
  });

  test("a store that fails is a 503 that blames nobody, and gives nothing out", async () => {
    const { accessToken, refreshToken } = await phone();
    const { code } = given(fixture.auth.createPairing({ scopes: PRESETS.viewer }, LOCAL_OWNER));
    const fail = (): never => {
      throw new Error("disk full");
    };
    Object.assign(fixture.store, { getDevice: fail, putDevice: fail, getCredential: fail });
    const failures = [
      await fixture.ask({ headers: { authorization: `Bearer ${accessToken}` } }),
      await fixture.auth.refresh(refreshToken, ADDRESS),
      await fixture.auth.pair({ code, name: "x", address: ADDRESS }),
      await fixture.auth.createToken({ name: "x", scopes: PRESETS.viewer }, LOCAL_OWNER),
      fixture.auth.adoptRemoteToken("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"),
    ];
    for (const failure of failures) expect(failure).toMatchObject({ status: 503, code: "store-unavailable" });
    expect(fixture.errors).toHaveLength(5);
  });

  test("whatever a request carries, it is answered and never thrown", async () => {
    const { accessToken } = await phone();
    const text = fc.oneof(fc.string({ maxLength: 40 }), fc.constantFrom(accessToken, "Bearer x.y.z", "acp-hub-8377=x"));
    const names = ["authorization", "cookie", "origin", "sec-websocket-protocol", "x-acp-hub-key", "referer", "host"];
    let address = 0;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), text), text, async (headers, url) => {
        const answer = await fixture.ask({ headers, url: `/acp?token=${url}`, address: `10.0.0.${address++}` });
        expect(isAuthFailure(answer)).toBe(true);
      }),
      { numRuns: 200 },
    );
    expect(fixture.errors).toEqual([]);
  });
});

describe("the predecessor's remote token", () => {
  const STRONG = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
  const OTHER = "5e884898da28047151d0e56f8dc6292773603d0d6aabbdd62a11ef721d1542d8";
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-remote-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  /** A hub over real files. */
  async function hub() {
    const clock = new ManualClock();
    const { store } = openStore({
      path: join(dir, "hub.db"),
      scheduler: clock,
      onError: (error) => expect.unreachable(error.message),
    });
    const fixture = await authFixture({ keysDir: join(dir, "keys"), store: store.devices, clock });
    const via = async (token: string): Promise<string> => {
      const answer = await fixture.ask({ url: `/acp?token=${token}` });
      return isAuthFailure(answer) ? answer.code : [...answer.scopes].join(" ");
    };
    return { auth: fixture.auth, via, audit: fixture.audit, close: () => store.close() };
  }

  test("C1.zcode-env a good one is driver and may create instances, in a URL too, on every start the same device", async () => {
    const first = await hub();
    const { deviceId } = given(first.auth.adoptRemoteToken(STRONG));
    expect(await first.via(STRONG)).toBe(
      "sessions:read interactions:answer sessions:prompt files:read instances:create",
    );
    expect(await first.via(OTHER)).toBe("invalid-credential");
    first.close();
    const second = await hub();
    expect(given(second.auth.adoptRemoteToken(STRONG)).deviceId).toBe(deviceId);
    expect(second.audit).toEqual([]);
    expect(second.auth.devices.list()).toHaveLength(1);
    second.close();
  });

  test("C1.zcode-env, incident 3: a weak or empty one is refused in words that say what to do", async () => {
    const { auth, close } = await hub();
    for (const weak of ["", "secret", "my-secret-token-for-the-hub-1234"]) {
      const refusal = auth.adoptRemoteToken(weak);
      expect(refusal).toMatchObject({ code: "weak-token", detail: expect.stringContaining("openssl rand -hex 32") });
      expect(weak === "" || !JSON.stringify(refusal).includes(weak)).toBe(true);
    }
    expect(auth.devices.list()).toEqual([]);
    close();
  });

  test("C1.zcode-env another token ends the one before, and a revoked one stays dead over restarts", async () => {
    const first = await hub();
    given(first.auth.adoptRemoteToken(STRONG));
    const { deviceId } = given(first.auth.adoptRemoteToken(OTHER));
    expect(await first.via(STRONG)).toBe("invalid-credential");
    first.auth.devices.revoke(deviceId, "lost", LOCAL_OWNER);
    first.close();
    const second = await hub();
    expect(second.auth.adoptRemoteToken(OTHER)).toMatchObject({ code: "revoked-device" });
    expect(second.auth.adoptRemoteToken(STRONG)).toMatchObject({ code: "revoked-device" });
    expect(await second.via(OTHER)).toBe("invalid-credential");
    second.close();
  });
});
