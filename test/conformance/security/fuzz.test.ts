/** Junk at every door: an answer that blames the sender or a close, never a fault of ours, never silence, never an echo of a secret. */

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { rawClient } from "../../support/raw-client.ts";
import { type Answer, ask, exchange } from "../../support/raw-http.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

/** Stands where a credential would: no answer may give it back. */
const SECRET = "sk-0123456789-DO-NOT-ECHO-abcdefghijklmnop";
const RUNS = { numRuns: 300, interruptAfterTimeLimit: 20_000, markInterruptAsFailure: false } as const;

/** Lone surrogates have no place in a URL. */
const wellFormed = (text: string): string => text.replace(/\p{Cs}/gu, "");

describe("junk", () => {
  let hub: SecureHub;
  let driver: string;
  let owner: string;
  beforeAll(async () => {
    hub = await startSecureHub();
    const editor = rawClient(hub.bridge(puppetAgent().backend).editor);
    await editor.initialize({});
    await editor.call("session/new", { cwd: hub.workspace, mcpServers: [] });
    writeFileSync(join(hub.workspace, "a.txt"), "hello");
    await vi.waitFor(() => expect(hub.running.hub.registry.get("i-0")?.mirror.holdsSession("s1")).toBe(true), {
      timeout: 20_000,
    });
    // For a moment after a start an unknown instance may be on its way back: that is a 503, and no fault (L5).
    await vi.waitFor(() => expect(hub.running.hub.isStarting).toBe(false), { timeout: 10_000, interval: 200 });
    [driver, owner] = [(await hub.token("driver")).token, (await hub.token("owner")).token];
  });
  afterAll(() => hub.stop());

  function expectSound(status: number, text: string): void {
    expect(status, text.slice(0, 300)).toBeLessThan(500);
    expect(text).not.toContain(SECRET);
    expect(text).not.toMatch(/\n\s+at .*\.(?:ts|js):\d+/);
  }
  const isAlive = async (): Promise<void> => expect((await ask(hub.port, "/healthz")).status).toBe(200);

  const headerValue = fc.oneof(
    fc.constant(SECRET),
    fc.string({ unit: fc.constantFrom(..."abcXYZ019 ,;=./-_~%\"'\\") }),
    fc.string({ unit: "binary", maxLength: 40 }).map((text) => text.replace(/[\r\n]/g, "")),
    fc.constantFrom(
      "",
      "a".repeat(9_000),
      "\u0000",
      "bearer.",
      `bearer.${SECRET}`,
      "acp, acp",
      ",,,",
      `Bearer ${SECRET}`,
    ),
  );
  const headerName = fc.constantFrom(
    "Sec-WebSocket-Key",
    "Sec-WebSocket-Version",
    "Sec-WebSocket-Protocol",
    "Sec-WebSocket-Extensions",
    "Authorization",
    "Cookie",
    "X-Acp-Hub-Key",
    "Upgrade",
    "Connection",
    "Content-Length",
    "Transfer-Encoding",
    "Expect",
    "X-Forwarded-For",
    "Odd-Header",
  );
  const target = fc.oneof(
    fc.constantFrom(
      "/acp",
      `/acp?ticket=${SECRET}`,
      `/acp?token=${SECRET}`,
      "/acp?instance=i-0",
      "/acp?session=%zz",
      "*",
      "//",
      "/%zz",
    ),
    fc.string({ unit: fc.constantFrom(..."/?#%&=:@[]\\abc019.~"), maxLength: 40 }).map((text) => `/${text}`),
    fc.webUrl(),
  );
  const method = fc.constantFrom("GET", "POST", "HEAD", "OPTIONS", "CONNECT", "TRACE", "PRI", "get", "QUERY", "");

  test("C4.upgrade no upgrade, however made, is a fault, a hang or an echo", async () => {
    const key = fc.constantFrom("dGhlIHNhbXBsZSBub25jZQ==", "short", "", "=".repeat(24), "x".repeat(4_000));
    const upgrade = fc.record({
      method,
      target,
      version: fc.constantFrom("HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/9", ""),
      key,
      headers: fc.array(fc.tuple(headerName, headerValue), { maxLength: 5 }),
      /** Bytes that follow at once: another request, a frame, junk. */
      tail: fc.constantFrom(
        "",
        "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
        "\u0081\u0085abcd",
        "\u0000".repeat(50),
      ),
      hasCredential: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(upgrade, async (made) => {
        const lines = [
          `${made.method} ${made.target} ${made.version}`,
          `Host: 127.0.0.1:${hub.port}`,
          "Connection: Upgrade",
          "Upgrade: websocket",
          "Sec-WebSocket-Version: 13",
          `Sec-WebSocket-Key: ${made.key}`,
          ...(made.hasCredential ? [`Authorization: Bearer ${driver}`] : []),
          ...made.headers.map(([name, value]) => `${name}: ${value}`),
        ];
        const text = await exchange(hub.port, Buffer.from(`${lines.join("\r\n")}\r\n\r\n${made.tail}`, "latin1"));
        for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) expectSound(Number(status), text);
        expectSound(0, text.replaceAll(`bearer.${SECRET}`, ""));
      }),
      RUNS,
    );
    await isAlive();
  });

  test("C3.order bytes that are no HTTP end in a refusal or a close", async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      fc.constantFrom(
        Buffer.from(`GET / HTTP/1.1\r\n${"X: y\r\n".repeat(3_000)}\r\n`),
        Buffer.from(`GET /${"a".repeat(40_000)} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`),
        Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: ${"a".repeat(100_000)}\r\n\r\n`),
        Buffer.from("GET / HTTP/1.1\nHost: 127.0.0.1\n\n"),
        Buffer.from(
          "POST /api/pair HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ),
        Buffer.from("POST /api/pair HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n\r\n"),
        Buffer.from("\u0016\u0003\u0001\u0002\u0000\u0001\u0000", "latin1"),
        Buffer.from('{"jsonrpc":"2.0","id":1,"method":"initialize"}\n'),
      ),
    );
    await fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        const text = await exchange(hub.port, sent);
        for (const [, status] of text.matchAll(/HTTP\/1\.1 (\d{3})/g)) expectSound(Number(status), text);
      }),
      RUNS,
    );
    await isAlive();
  });

  const json = fc.oneof(
    fc.jsonValue().map((value) => JSON.stringify(value)),
    fc.constantFrom(
      "",
      "{",
      "null",
      "[]",
      '"x"',
      '{"__proto__":{"admin":true}}',
      '{"constructor":{"prototype":{}}}',
      "\u0000",
    ),
    fc.constant(`{"code":"${SECRET}","refreshToken":"${SECRET}","name":"${SECRET}"`),
  );
  const text = fc.oneof(
    fc.string({ maxLength: 60 }),
    fc.constant(SECRET),
    fc.constant("x".repeat(5_000)),
    fc.jsonValue(),
  );
  const body = fc.oneof(
    json,
    fc
      .record(
        {
          code: text,
          name: text,
          mode: text,
          refreshToken: text,
          scope: text,
          ttlSeconds: text,
          url: text,
          query: text,
          answer: text,
          title: text,
          subscription: text,
        },
        { requiredKeys: [] },
      )
      .map((value) => JSON.stringify(value)),
  );
  const contentType = fc.constantFrom(
    "application/json",
    "application/json; charset=x",
    "text/plain",
    "a/b",
    SECRET,
    "",
  );

  function expectOwnWords(answer: Answer): void {
    expectSound(answer.status, answer.text);
    if (answer.status >= 400 && answer.text !== "")
      expect(answer.headers["content-type"], answer.text).toMatch(/^application\/problem\+json/);
  }

  test.each([
    ["POST", "/api/pair"],
    ["POST", "/api/token"],
    ["POST", "/api/pairings"],
    ["POST", "/api/tokens"],
    ["PATCH", "/api/devices/none"],
    ["POST", "/api/interactions/none/answer"],
    ["POST", "/api/instances"],
    ["POST", "/api/instances/i-0/sessions/s1/rename"],
    ["POST", "/api/instances/i-0/sessions/none/close"],
    ["PUT", "/api/push/subscription"],
    ["PATCH", "/api/push/preferences"],
    ["PUT", "/api/push/seen"],
  ])("C3.problem whatever stands in the body of %s %s is answered in the hub's own words", async (verb, path) => {
    await fc.assert(
      fc.asyncProperty(body, contentType, async (content, type) => {
        const answer = await ask(hub.port, path, {
          method: verb,
          token: owner,
          body: content,
          headers: type === "" ? {} : { "content-type": type },
        });
        if (answer.status >= 400) expectOwnWords(answer);
        else expect(answer.status).toBeLessThan(300);
      }),
      { ...RUNS, numRuns: 150 },
    );
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined();
    await isAlive();
  });

  const segment = fc.oneof(
    fc.constantFrom(
      "..",
      ".",
      "",
      "a.txt",
      "%2e%2e",
      "..%2f",
      "%00",
      "\\..",
      "/etc/passwd",
      "~",
      "....//",
      "%c0%ae%c0%ae",
      "a.txt/..",
      SECRET,
    ),
    fc.string({ maxLength: 20 }),
    fc.string({ unit: "binary", maxLength: 10 }),
  );
  test("C3.files no path, range or name makes the file routes fail, or leave the session's directory", async () => {
    const route = fc.constantFrom("list", "file");
    const number = fc.constantFrom("0", "1", "-1", "1e9", "9".repeat(20), "NaN", "", "0x10", "١");
    const query = fc.record(
      { offset: number, length: number, line: number, limit: number, extra: segment },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(
        route,
        fc.array(segment, { maxLength: 6 }),
        query,
        fc.boolean(),
        async (kind, parts, more, isEncoded) => {
          const path = wellFormed(parts.join("/"));
          const given = new URLSearchParams({ sessionId: "s1", ...(isEncoded && { path }), ...more }).toString();
          const raw = isEncoded ? "" : `&path=${path.replace(/[^\x21-\x7e]|[#?&]/g, "")}`;
          const answer = await ask(hub.port, `/api/instances/i-0/fs/${kind}?${given}${raw}`, { token: driver });
          if (answer.status >= 400) expectOwnWords(answer);
          expect(answer.text).not.toMatch(/root:.*:0:0|"hub\.db"|"keys"/);
        },
      ),
      { ...RUNS, numRuns: 400 },
    );
    await isAlive();
  });

  test("C3.problem an id of any kind in a path is a 404, a 400 or a 403", async () => {
    const paths = fc.constantFrom(
      "/api/instances/$",
      "/api/instances/$/status",
      "/api/sessions/$/export",
      "/api/devices/$",
      "/api/instances/$/fs/list?sessionId=x",
      "/api/instances/$/fs/search?sessionId=x&q=x",
    );
    await fc.assert(
      fc.asyncProperty(paths, segment, async (path, id) => {
        const encoded = encodeURIComponent(wellFormed(id));
        const answer = await ask(hub.port, path.replace("$", encoded === "" ? "%20" : encoded), { token: owner });
        if (answer.status >= 400) expectOwnWords(answer);
        for (const odd of ["%", "%zz", "%ff", "a%2Fb", "x".repeat(3_000)])
          expectOwnWords(await ask(hub.port, path.replace("$", odd), { token: owner }));
      }),
      { ...RUNS, numRuns: 60 },
    );
  });

  test("C6.limits who has no credential has no more than 16 KiB read of a body", async () => {
    for (const [path, body] of [
      ["/api/pair", { code: "x" }],
      ["/api/token", { refreshToken: "x" }],
    ] as const) {
      const filled = (chars: number): object => ({ ...body, fill: "x".repeat(chars) });
      expect((await ask(hub.port, path, { method: "POST", body: filled(17_000) })).status).toBe(413);
      expect((await ask(hub.port, path, { method: "POST", body: filled(15_000) })).status).not.toBe(413);
    }
  });

  test("C6.limits a body over the bound is 413 before it is read, and a query of any shape is no fault", async () => {
    const big = await ask(hub.port, "/api/pair", { method: "POST", body: { code: "x".repeat(1_100_000) } });
    expect(big.status).toBe(413);
    for (const query of [
      "q=%ff",
      "limit=-1",
      "limit=9e9",
      "cursor=x",
      "cursor=%00",
      "state=x",
      "q=%22%27%3B--",
      `q=${"(".repeat(2_000)}`,
      "q=a&q=b",
      "limit=1&limit=2",
      "workspace[]=x",
    ])
      expectOwnWords(await ask(hub.port, `/api/sessions?${query}`, { token: owner }));
    for (const query of ["after=x", "after=-1", "limit=1e99", "limit=1&limit=2"])
      expectOwnWords(await ask(hub.port, `/api/audit?${query}`, { token: owner }));
  });
});
