import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { carrier, OWN_ORIGIN } from "../../support/auth-fixture.ts";

const own = (headers: Record<string, string | string[] | undefined>, method = "GET"): boolean =>
  carrier({ method, headers }).isFromOwnPage;

describe("carriers", () => {
  test("C2.carriers each place of a credential is read as written", () => {
    const all = carrier({
      url: "/acp?token=q&ticket=t&instance=i",
      headers: {
        authorization: "bearer abc.def",
        "sec-websocket-protocol": "acp, bearer.x.y.z",
        cookie: "acp-hub-8377=c",
        "x-acp-hub-key": "k",
      },
    });
    expect(all).toMatchObject({
      bearer: "abc.def",
      subprotocolTokens: ["x.y.z"],
      queryTokens: ["q"],
      tickets: ["t"],
      cookies: ["c"],
      key: "k",
    });
  });

  test("C2.carriers other schemes, half a scheme and doubled headers carry nothing", () => {
    for (const authorization of ["Basic abc", "Bearer", "Bearer ", "Bearer a b", "Bearer a, Bearer b", "xBearer a"]) {
      expect(carrier({ headers: { authorization } }).bearer, authorization).toBeUndefined();
    }
    expect(carrier({ headers: { "x-acp-hub-key": ["a", "b"] } }).key).toBeUndefined();
  });

  test("C2.carriers, incident 12: the Origin has to be the hub's exactly: scheme, host and port", () => {
    expect(own({ origin: OWN_ORIGIN })).toBe(true);
    const foreign = [
      "http://127.0.0.1:3000",
      "https://127.0.0.1:8377",
      "http://localhost:8377",
      "http://127.0.0.1",
      "http://127.0.0.1:8377.evil.example",
      "http://evil.example",
      "null",
      "",
    ];
    for (const origin of foreign) expect(own({ origin }), origin).toBe(false);
    expect(own({ origin: [OWN_ORIGIN, OWN_ORIGIN] })).toBe(false);
  });

  test("C2.carriers, incident 14: without an Origin only what a browser itself says about a reading request counts", () => {
    expect(own({})).toBe(false);
    expect(own({ "sec-fetch-site": "same-origin" })).toBe(true);
    for (const site of ["same-site", "cross-site", "none", ""])
      expect(own({ "sec-fetch-site": site }), site).toBe(false);
    expect(own({ referer: `${OWN_ORIGIN}/app?x=1` })).toBe(true);
    expect(own({ referer: "http://127.0.0.1:3000/app" })).toBe(false);
    expect(own({ referer: "no url" })).toBe(false);
    expect(own({ "sec-fetch-site": "cross-site", referer: `${OWN_ORIGIN}/` })).toBe(false);
  });

  test("C2.carriers, incident 13: a changing request needs the Origin itself", () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "post"]) {
      expect(own({ "sec-fetch-site": "same-origin", referer: `${OWN_ORIGIN}/` }, method), method).toBe(false);
      expect(own({ origin: OWN_ORIGIN }, method), method).toBe(true);
    }
  });

  test("C2.carriers no header and no target makes the reader throw", () => {
    const names = [
      "authorization",
      "cookie",
      "origin",
      "referer",
      "host",
      "sec-websocket-protocol",
      "x-acp-hub-key",
      "sec-fetch-site",
    ];
    const value = fc.oneof(
      fc.string(),
      fc.string({ unit: "binary" }),
      fc.array(fc.string(), { maxLength: 3 }),
      fc.constant(undefined),
    );
    const headers = fc.dictionary(fc.constantFrom(...names), value);
    fc.assert(
      fc.property(headers, fc.option(fc.string(), { nil: undefined }), fc.string(), (headers, url, method) => {
        const read = carrier({ headers, url, method });
        expect(read.cookies.length).toBeLessThanOrEqual(4);
      }),
    );
  });
});
