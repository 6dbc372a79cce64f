import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { createLocalJWKSet, exportJWK, generateKeyPair, type JWK, SignJWT } from "jose";
import { afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { ExternalIssuer } from "../../../src/auth/external-issuer.ts";
import { isAuthFailure } from "../../../src/auth/failures.ts";
import { PRESETS } from "../../../src/protocol/scopes.ts";
import { type AuthFixture, authFixture, given, LOCAL_OWNER, OWN_ORIGIN } from "../../support/auth-fixture.ts";

type Keys = Awaited<ReturnType<typeof generateKeyPair>>;

const ISSUER = "https://team.cloudflareaccess.example";
const issuer: ExternalIssuer = {
  issuer: ISSUER,
  audience: "hub-aud",
  jwksUrl: "https://team.cloudflareaccess.example/cdn-cgi/access/certs",
  claim: "groups",
  presets: { admins: "owner", staff: "approver" },
  header: "Cf-Access-Jwt-Assertion",
};

describe("external issuer", () => {
  let keys: Keys;
  let jwk: JWK;
  let fixture: AuthFixture;

  beforeAll(async () => {
    keys = await generateKeyPair("RS256", { extractable: true });
    jwk = { ...(await exportJWK(keys.publicKey)), kid: "k1", alg: "RS256" };
  });
  beforeEach(async () => {
    fixture = await authFixture({ issuers: [issuer], makeKeySet: () => createLocalJWKSet({ keys: [jwk] }) });
  });
  afterEach(() => fixture.dispose());

  const seconds = (): number => Math.floor(fixture.clock.now() / 1_000);
  const token = (
    claims: Record<string, unknown> = {},
    alg = "RS256",
    key: Keys["privateKey"] = keys.privateKey,
  ): Promise<string> =>
    new SignJWT({
      iss: ISSUER,
      aud: "hub-aud",
      sub: "u1",
      email: "ada@example.org",
      groups: ["staff"],
      exp: seconds() + 600,
      ...claims,
    })
      .setProtectedHeader({ alg, kid: "k1" })
      .sign(key);
  const codeOf = async (text: string): Promise<string> => {
    const answer = await fixture.ask({ headers: { authorization: `Bearer ${text}` } });
    return isAuthFailure(answer) ? answer.code : "taken";
  };

  test("C2.issuer a subject gets the preset of its claim, a name, a device, and an end", async () => {
    const answer = given(await fixture.ask({ headers: { authorization: `Bearer ${await token()}` } }));
    expect(answer).toMatchObject({
      name: "ada@example.org",
      kind: "external",
      scopes: new Set(PRESETS.approver),
      expiresAt: (seconds() + 600) * 1_000,
      via: "bearer",
    });
    await fixture.ask({ headers: { authorization: `Bearer ${await token()}` } });
    expect(fixture.auth.devices.list().map((record) => record.deviceId)).toEqual([answer.deviceId]);
  });

  test("C2.issuer the widest preset that fits counts, and it is today's, not yesterday's", async () => {
    const scopesOf = async (groups: unknown): Promise<unknown> => {
      const answer = await fixture.ask({ headers: { authorization: `Bearer ${await token({ groups })}` } });
      return isAuthFailure(answer) ? answer.code : answer.scopes;
    };
    expect(await scopesOf(["staff", "admins", "other"])).toEqual(new Set(PRESETS.owner));
    expect(await scopesOf("staff")).toEqual(new Set(PRESETS.approver));
    expect(fixture.auth.devices.list()[0]?.scopes).toEqual(PRESETS.approver);
    for (const groups of [[], ["other"], "constructor", ["__proto__"], 7, null])
      expect(await scopesOf(groups)).toBe("no-preset");
  });

  test("C2.issuer an address its owner never confirmed gives nothing", async () => {
    const byMail = { ...issuer, claim: "email", presets: { "ada@example.org": "owner" as const } };
    const other = await authFixture({ issuers: [byMail], makeKeySet: () => createLocalJWKSet({ keys: [jwk] }) });
    const ask = async (claims: object) =>
      other.ask({ headers: { authorization: `Bearer ${await token({ ...claims })}` } });
    expect(await ask({ email_verified: false })).toMatchObject({ code: "no-preset" });
    expect(await ask({ email_verified: true })).toMatchObject({ scopes: new Set(PRESETS.owner) });
    other.dispose();
  });

  test("C2.issuer signature, audience, end and algorithm are checked", async () => {
    const stranger = await generateKeyPair("RS256");
    expect(await codeOf(await token({}, "RS256", stranger.privateKey))).toBe("invalid-credential");
    expect(await codeOf(await token({ aud: "another app" }))).toBe("invalid-credential");
    expect(await codeOf(await token({ exp: seconds() - 60 }))).toBe("expired-credential");
    expect(await codeOf(await token({ exp: undefined }))).toBe("invalid-credential");
    expect(await codeOf(await token({ iss: "https://evil.example" }))).toBe("invalid-credential");
    const [, payload] = (await token()).split(".");
    const none = Buffer.from(JSON.stringify({ alg: "none" })).toString("base64url");
    expect(await codeOf(`${none}.${payload}.`)).toBe("invalid-credential");
    const shared = await new SignJWT({
      iss: ISSUER,
      aud: "hub-aud",
      sub: "u1",
      groups: ["admins"],
      exp: seconds() + 600,
    })
      .setProtectedHeader({ alg: "HS256", kid: "k1" })
      .sign(Buffer.from(JSON.stringify(jwk)));
    expect(await codeOf(shared)).toBe("invalid-credential");
  });

  test("C2.issuer a revoked subject stays out, however good its token", async () => {
    const good = await token();
    const { deviceId } = given(await fixture.ask({ headers: { authorization: `Bearer ${good}` } }));
    fixture.auth.devices.revoke(deviceId, "left", LOCAL_OWNER);
    expect(await codeOf(good)).toBe("revoked-device");
    expect(await codeOf(await token({ groups: ["admins"] }))).toBe("revoked-device");
  });

  test("C2.issuer a proxy's header proves no more than a cookie: another site's request is refused", async () => {
    const header = { "cf-access-jwt-assertion": await token() };
    const via = async (headers: Record<string, string>): Promise<string> => {
      const answer = await fixture.ask({ method: "POST", headers });
      return isAuthFailure(answer) ? answer.code : answer.via;
    };
    expect(await via({ ...header, origin: OWN_ORIGIN })).toBe("issuer-header");
    expect(await via(header)).toBe("issuer-header");
    expect(await via({ ...header, origin: "https://evil.example" })).toBe("origin-refused");
  });

  test("C2.issuer a token never stands in a URL, and a ticket ends when it ends", async () => {
    const good = await token();
    expect(await fixture.ask({ url: `/acp?token=${good}` })).toMatchObject({ code: "query-not-allowed" });
    const holder = given(await fixture.ask({ headers: { authorization: `Bearer ${good}` } }));
    const { ticket } = fixture.auth.issueTicket(holder);
    expect(await fixture.ask({ url: `/acp?ticket=${ticket}` })).toMatchObject({
      via: "ticket",
      expiresAt: holder.expiresAt,
    });
  });

  test("C2.issuer service tokens without a subject are known by their common name", async () => {
    const service = await token({ sub: "", email: undefined, common_name: "ci.access" });
    expect(await fixture.ask({ headers: { authorization: `Bearer ${service}` } })).toMatchObject({ name: "ci.access" });
    const nobody = await token({ sub: "", email: undefined });
    expect(await codeOf(nobody)).toBe("invalid-credential");
  });

  describe("with keys from the net", () => {
    let server: Server;
    let body: () => string;
    let requests: number;
    beforeEach(async () => {
      requests = 0;
      server = createServer((_request, response) => {
        requests++;
        response.setHeader("content-type", "application/json").end(body());
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    });
    afterEach(() => new Promise((resolve) => server.close(resolve)));

    test("C2.issuer keys are fetched once for many requests, and a fetch that fails blames nobody", async () => {
      const jwksUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
      const other = await authFixture({ issuers: [{ ...issuer, jwksUrl }] });
      const headers = { authorization: `Bearer ${await token()}` };
      body = () => "this is no key set";
      expect(await other.ask({ headers })).toMatchObject({ status: 503, code: "issuer-unavailable" });
      body = () => JSON.stringify({ keys: [jwk] });
      requests = 0;
      const answers = await Promise.all(Array.from({ length: 20 }, () => other.ask({ headers })));
      expect(answers.filter(isAuthFailure)).toEqual([]);
      expect(requests).toBe(1);
      other.dispose();
    });
  });
});
