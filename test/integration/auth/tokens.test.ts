import { createHmac } from "node:crypto";
import fc from "fast-check";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { TokenPair } from "../../../src/auth/auth.ts";
import { isAuthFailure } from "../../../src/auth/failures.ts";
import { PRESETS } from "../../../src/protocol/scopes.ts";
import { type AuthFixture, authFixture, given, LOCAL_OWNER } from "../../support/auth-fixture.ts";

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const decode = (part: string | undefined): Record<string, unknown> =>
  JSON.parse(Buffer.from(part ?? "", "base64url").toString()) as Record<string, unknown>;

describe("access tokens", () => {
  let fixture: AuthFixture;
  let pair: TokenPair;
  beforeAll(async () => {
    fixture = await authFixture();
    const { code } = given(fixture.auth.createPairing({ scopes: PRESETS.driver }, LOCAL_OWNER));
    pair = given(await fixture.auth.pair({ code, name: "phone", address: "192.0.2.1" }));
  });
  afterAll(() => fixture.dispose());

  let address = 0;
  /** Every try from an address of its own, so that no limit is met. */
  const codeOf = async (token: string): Promise<string> => {
    const answer = await fixture.ask({ headers: { authorization: `Bearer ${token}` }, address: `10.0.0.${address++}` });
    return isAuthFailure(answer) ? answer.code : "taken";
  };

  test("C2.tokens a token names its device and its end, and carries no rights (incident 9)", async () => {
    const [header, payload] = pair.accessToken.split(".").map((part, index) => (index < 2 ? decode(part) : {}));
    expect(header).toEqual({ alg: "EdDSA", kid: fixture.auth.keys.fingerprint, typ: "at+jwt" });
    const iat = Math.floor(fixture.clock.now() / 1_000);
    expect(payload).toEqual({
      iss: "acp-hub",
      aud: "acp-hub",
      sub: pair.deviceId,
      jti: expect.any(String),
      iat,
      exp: iat + 900,
    });
    expect(await codeOf(pair.accessToken)).toBe("taken");
  });

  test("C2.tokens no algorithm but ours: none, a public key as a shared secret, another curve", async () => {
    const [, payload = ""] = pair.accessToken.split(".");
    const kid = fixture.auth.keys.fingerprint;
    const [jwk] = fixture.auth.jwks().keys;
    for (const alg of ["none", "None", "NONE", ""]) {
      const head = encode({ alg, kid, typ: "at+jwt" });
      expect(await codeOf(`${head}.${payload}.`), alg).toBe("invalid-credential");
      expect(await codeOf(`${head}.${payload}.AAAA`), alg).toBe("invalid-credential");
    }
    for (const secret of [JSON.stringify(jwk), jwk?.x ?? "", Buffer.from(jwk?.x ?? "", "base64url")]) {
      const body = `${encode({ alg: "HS256", kid, typ: "at+jwt" })}.${payload}`;
      const mac = createHmac("sha256", secret).update(body).digest("base64url");
      expect(await codeOf(`${body}.${mac}`)).toBe("invalid-credential");
    }
    const { privateKey } = await generateKeyPair("ES256");
    const other = await new SignJWT(decode(payload))
      .setProtectedHeader({ alg: "ES256", kid, typ: "at+jwt" })
      .sign(privateKey);
    expect(await codeOf(other)).toBe("invalid-credential");
  });

  test("C2.tokens a key that comes with the token, or from anywhere else, is not believed", async () => {
    const { privateKey, publicKey } = await generateKeyPair("EdDSA", { extractable: true });
    const [, payload] = pair.accessToken.split(".");
    const jwk = await exportJWK(publicKey);
    const headers = [
      { kid: fixture.auth.keys.fingerprint },
      { kid: "unknown" },
      { kid: fixture.auth.keys.fingerprint, jwk },
      { kid: "x", jku: "http://127.0.0.1:1/jwks.json" },
      { kid: "../../etc/passwd" },
      {},
    ];
    for (const header of headers) {
      const token = await new SignJWT(decode(payload))
        .setProtectedHeader({ alg: "EdDSA", typ: "at+jwt", ...header })
        .sign(privateKey);
      expect(await codeOf(token), JSON.stringify(header)).toBe("invalid-credential");
    }
  });

  test("C2.tokens issuer, audience, type, subject and times have to be ours", async () => {
    const now = Math.floor(fixture.clock.now() / 1_000);
    const good = { iss: "acp-hub", aud: "acp-hub", sub: pair.deviceId, jti: "j", iat: now, exp: now + 900 };
    const sign = (payload: object, typ = "at+jwt"): Promise<string> =>
      new SignJWT({ ...payload })
        .setProtectedHeader({ alg: "EdDSA", kid: fixture.auth.keys.fingerprint, typ })
        .sign(fixture.auth.keys.current.privateKey);
    expect(await codeOf(await sign(good))).toBe("taken");
    const bad: readonly (readonly [object, string])[] = [
      [{ ...good, iss: "other" }, "invalid-credential"],
      [{ ...good, aud: "other" }, "invalid-credential"],
      [{ ...good, aud: undefined }, "invalid-credential"],
      [{ ...good, sub: undefined }, "invalid-credential"],
      [{ ...good, jti: undefined }, "invalid-credential"],
      [{ ...good, exp: undefined }, "invalid-credential"],
      [{ ...good, iat: undefined }, "invalid-credential"],
      [{ ...good, iat: now + 60 }, "invalid-credential"],
      [{ ...good, nbf: now + 60 }, "invalid-credential"],
      [{ ...good, exp: now - 60 }, "expired-credential"],
      [{ ...good, sub: "d_somebody-else" }, "revoked-device"],
    ];
    for (const [payload, code] of bad) expect(await codeOf(await sign(payload)), JSON.stringify(payload)).toBe(code);
    for (const typ of ["JWT", "acp-hub-token+jwt", "AT+JWT ", ""]) {
      expect(await codeOf(await sign(good, typ)), typ).not.toBe("taken");
    }
    const critical = new SignJWT({ ...good })
      .setProtectedHeader({
        alg: "EdDSA",
        kid: fixture.auth.keys.fingerprint,
        typ: "at+jwt",
        crit: ["urn:x"],
        "urn:x": true,
      })
      .sign(fixture.auth.keys.current.privateKey, { crit: { "urn:x": true } });
    expect(await codeOf(await critical)).toBe("invalid-credential");
  });

  test("C2.tokens a clock a few seconds off is forgiven, a minute is not", async () => {
    const { accessToken } = pair;
    await fixture.clock.advance(900_000 + 4_000);
    expect(await codeOf(accessToken)).toBe("taken");
    await fixture.clock.advance(2_000);
    expect(await codeOf(accessToken)).toBe("expired-credential");
    pair = given(await fixture.auth.refresh(pair.refreshToken, "192.0.2.1"));
    expect(await codeOf(pair.accessToken)).toBe("taken");
  });

  test("C2.tokens no changed byte, no cut and no junk is ever taken, and nothing throws", async () => {
    const token = pair.accessToken;
    const changed = fc.tuple(fc.nat(token.length - 2), fc.integer({ min: 0, max: 63 })).map(([at, to]) => {
      const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
      return `${token.slice(0, at)}${letters[to]}${token.slice(at + 1)}`;
    });
    const cut = fc.nat(token.length - 1).map((length) => token.slice(0, length));
    const shuffled = fc.shuffledSubarray(token.split("."), { minLength: 1 }).map((parts) => parts.join("."));
    const built = fc
      .tuple(fc.jsonValue(), fc.jsonValue(), fc.string())
      .map(([header, payload, signature]) => `${encode(header)}.${encode(payload)}.${signature}`);
    await fc.assert(
      fc.asyncProperty(fc.oneof(changed, cut, shuffled, built, fc.string()), async (candidate) => {
        fc.pre(candidate.trim() !== token && !candidate.startsWith(`${token} `));
        expect(await codeOf(candidate)).not.toBe("taken");
      }),
      { numRuns: 400 },
    );
    expect(fixture.errors).toEqual([]);
  });

  test("C2.tokens what a rotated key signed stays good, and new tokens have the new key", async () => {
    const before = fixture.auth.keys.fingerprint;
    await fixture.auth.rotateKeys(LOCAL_OWNER);
    expect(await codeOf(pair.accessToken)).toBe("taken");
    pair = given(await fixture.auth.refresh(pair.refreshToken, "192.0.2.1"));
    expect(decode(pair.accessToken.split(".")[0])["kid"]).not.toBe(before);
    expect(await codeOf(pair.accessToken)).toBe("taken");
    expect(fixture.audit.map((event) => event.action)).toContain("keys.rotate");
  });
});
