/** What the hub's own pages and answers may do in a browser, and what other pages may. */
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { readWebFiles } from "../../../src/hub/http/web-files.ts";
import { webRoutes } from "../../../src/hub/http/web-routes.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { ask } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

const policyOf = (header: unknown): Map<string, string[]> =>
  new Map(
    String(header)
      .split(";")
      .map((part) => part.trim().split(/\s+/))
      .map(([name = "", ...values]) => [name, values]),
  );

describe("pages", () => {
  let harness: HubHarness;
  let dir: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-web-"));
    mkdirSync(join(dir, "assets"));
    writeFileSync(join(dir, "index.html"), "<!doctype html><script type=module src=./assets/a-12345678.js></script>");
    writeFileSync(join(dir, "assets", "a-12345678.js"), "export {};");
    const files = await readWebFiles(dir);
    harness = await startHub({ routes: () => [webRoutes(files)] });
  });
  afterAll(async () => {
    await harness.stop();
    rmSync(dir, { recursive: true });
  });

  test("incidents 1 and 28: a page runs the hub's own scripts alone, talks to the hub alone, and stands in no frame", async () => {
    for (const path of ["/", "/assets/a-12345678.js"]) {
      const { status, headers } = await ask(harness.port, path);
      expect(status).toBe(200);
      const policy = policyOf(headers["content-security-policy"]);
      expect(policy.get("default-src")).toEqual(["'none'"]);
      expect(policy.get("script-src")).toEqual(["'self'"]);
      expect(policy.get("style-src")).toEqual(["'self'"]);
      expect(policy.get("img-src")).toEqual(["'self'", "data:", "blob:"]);
      const own = `127.0.0.1:${harness.port}`;
      expect(policy.get("connect-src")).toEqual(["'self'", `ws://${own}`, `wss://${own}`]);
      for (const name of ["base-uri", "form-action", "frame-ancestors"])
        expect(policy.get(name), name).toEqual(["'none'"]);
      expect(String(headers["content-security-policy"])).not.toMatch(/unsafe|\*|https?:/);
      expect(headers).toMatchObject({
        "x-frame-options": "DENY",
        "x-content-type-options": "nosniff",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "referrer-policy": "same-origin",
      });
    }
  });

  test("incident 24: whatever a link names, it is the same page or none: no path of the disk", async () => {
    for (const path of [
      "/../package.json",
      "/%2e%2e/package.json",
      "/assets/..%2f..%2fpackage.json",
      "/assets/%00",
      "/.git/HEAD",
    ])
      expect((await ask(harness.port, path)).status, path).toBeGreaterThanOrEqual(400);
  });

  test("incident 28: the app has no way from text to markup, and names what a link leads to", () => {
    const sources = readdirSync("src/web", { recursive: true, encoding: "utf8" }).filter((path) =>
      /\.(tsx?|html)$/.test(path),
    );
    expect(sources.length).toBeGreaterThan(50);
    const sinks =
      /dangerouslySetInnerHTML|\b(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(|srcdoc/i;
    for (const path of sources) {
      const text = readFileSync(join("src/web", path), "utf8");
      expect(text, path).not.toMatch(sinks);
      for (const [tag] of text.matchAll(/<a\b[^>]*target="_blank"[^>]*>/g)) expect(tag, path).toContain("noopener");
    }
    expect(readFileSync("src/web/index.html", "utf8")).not.toMatch(/<script(?![^>]*\bsrc=)|\son\w+=|javascript:/i);
  });
});

describe("other pages", () => {
  let hub: SecureHub;
  const origin = "https://app.example";
  beforeAll(async () => {
    hub = await startSecureHub({ http: { origins: [origin], hosts: [], compression: false } });
  });
  afterAll(() => hub.stop());

  test("C3.cors a configured origin is answered before the credential is asked for, exactly it, never a star, never cookies", async () => {
    const asks = {
      origin,
      "access-control-request-method": "PATCH",
      "access-control-request-headers": "authorization",
    };
    for (const path of ["/api/instances", "/api/devices/x", "/nothing"]) {
      const preflight = await ask(hub.port, path, { method: "OPTIONS", headers: asks });
      expect(preflight).toMatchObject({ status: 204, text: "" });
      expect(preflight.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
      expect(String(preflight.headers["access-control-allow-methods"])).toContain("PATCH");
      expect(String(preflight.headers["access-control-allow-headers"])).toMatch(/authorization/i);
      expect(preflight.headers).not.toHaveProperty("access-control-allow-credentials");
    }
    for (const other of [
      "https://app.example:8443",
      "http://app.example",
      "https://app.example.evil.example",
      "null",
    ]) {
      const preflight = await ask(hub.port, "/api/instances", {
        method: "OPTIONS",
        headers: { ...asks, origin: other },
      });
      expect(preflight.status, other).toBe(403);
      expect(preflight.headers).not.toHaveProperty("access-control-allow-origin");
    }
  });

  test("C3.cors its headers stand on every status, a stream's too", async () => {
    const { token } = await hub.token("viewer");
    const cases = [
      [await ask(hub.port, "/api/instances", { headers: { origin } }), 401],
      [await ask(hub.port, "/metrics", { token, headers: { origin } }), 403],
      [await ask(hub.port, "/nothing", { token, headers: { origin } }), 404],
      [await ask(hub.port, "/api/instances", { token, headers: { origin } }), 200],
      [await ask(hub.port, "/api/events", { token, headers: { origin }, isHeadOnly: true }), 200],
      [await ask(hub.port, "/api/pair", { method: "POST", headers: { origin }, body: {} }), 400],
    ] as const;
    for (const [answer, status] of cases) {
      expect(answer.status).toBe(status);
      expect(answer.headers).toMatchObject({ "access-control-allow-origin": origin, vary: "Origin" });
      expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
    }
  });

  test("C3.cors, incident 14: the cookie is not taken from a configured origin either", async () => {
    const { token } = await hub.token("owner");
    const made = await ask(hub.port, "/api/pairings", { method: "POST", token, body: { scope: "viewer" } });
    const paired = await ask(hub.port, "/api/pair", {
      method: "POST",
      body: { code: made.body["code"], mode: "cookie" },
    });
    const cookie = String(paired.headers["set-cookie"]?.[0]);
    expect(cookie).toMatch(/; HttpOnly; SameSite=Strict/);
    const headers = { cookie: cookie.split(";")[0] ?? "", "x-acp-hub-key": String(paired.body["key"]) };
    expect((await ask(hub.port, "/api/instances", { headers: { ...headers, origin } })).status).toBe(403);
    expect((await ask(hub.port, "/api/instances", { headers: { ...headers, origin: hub.url } })).status).toBe(200);
    // No Origin, no fetch metadata, no referrer: nobody says that a page of the hub asks.
    expect((await ask(hub.port, "/api/instances", { headers })).status).toBe(403);
  });

  test("incident 28: no answer of the API can be shown as a page, in a frame, or be loaded by another site", async () => {
    const { token } = await hub.token("owner");
    for (const path of [
      "/api/instances",
      "/api/devices",
      "/healthz",
      "/nothing",
      "/metrics",
      "/api/sessions/none/export",
    ]) {
      const { headers } = await ask(hub.port, path, { token });
      expect(headers, path).toMatchObject({
        "x-content-type-options": "nosniff",
        "x-frame-options": "DENY",
        "cross-origin-resource-policy": "same-origin",
        "content-security-policy": expect.stringContaining("default-src 'none'"),
      });
      expect(String(headers["content-type"])).not.toContain("html");
    }
  });
});
