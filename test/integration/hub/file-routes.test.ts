import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileRoutes } from "../../../src/hub/http/file-routes.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, rawClient } from "../../support/raw-client.ts";

describe("the files of a session over HTTP", () => {
  let base: string;
  let harness: HubHarness;
  let own: string;
  let remote: string;

  beforeEach(async () => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-files-")));
    for (const dir of ["project/src", "project/keys", "more", "outside", "open/app"])
      mkdirSync(join(base, dir), { recursive: true });
    writeFileSync(join(base, "project/src/main.ts"), "one\ntwo\nthree\n");
    writeFileSync(join(base, "project/keys/signing.jwk"), "private");
    writeFileSync(join(base, "more/notes.md"), "# notes\n");
    writeFileSync(join(base, "outside/secret"), "secret");
    writeFileSync(join(base, "open/app/a.txt"), "remote");
    symlinkSync(join(base, "outside"), join(base, "project/door"));
    symlinkSync("src/main.ts", join(base, "project/main"));
    harness = await startHub({
      routes: (hub) => [
        fileRoutes({
          registry: hub.registry,
          isStarting: () => false,
          createRoots: [join(base, "open")],
          hidden: [join(base, "project/keys")],
        }),
      ],
    });
    const agent = puppetAgent();
    const { editor } = harness.bridge(agent.backend);
    const client = rawClient(editor);
    await client.initialize({});
    const params = { cwd: join(base, "project"), additionalDirectories: [join(base, "more")], mcpServers: [] };
    own = String((await client.call("session/new", params))["sessionId"]);
    await expect.poll(() => [...(harness.hub.registry.get("i-0")?.mirror.sessions ?? [])].length).toBe(1);
    remote = await remoteSession(join(base, "outside"));
  });
  afterEach(async () => {
    await harness.stop();
    rmSync(base, { recursive: true, force: true });
  });

  const remoteSession = async (cwd: string): Promise<string> => {
    const phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "driver:phone");
    await phone.initialize();
    const { sessionId } = await phone.call("session/new", { cwd, mcpServers: [] });
    phone.close();
    return String(sessionId);
  };

  const get = (
    what: "list" | "file",
    query: Record<string, string>,
    init: { preset?: string; method?: string } = {},
  ): Promise<Response> => {
    const search = new URLSearchParams({ sessionId: own, ...query }).toString();
    return fetch(`${harness.url}/api/instances/i-0/fs/${what}?${search}`, {
      method: init.method ?? "GET",
      headers: { authorization: `Bearer ${init.preset ?? "driver"}:phone` },
    });
  };
  const list = async (query: Record<string, string>) =>
    (await (await get("list", query)).json()) as { path: string; truncated: boolean; entries: { name: string }[] };

  it("C3.files lists one level of a directory, named as it was asked for", async () => {
    const top = await list({});
    expect(top.truncated).toBe(false);
    expect(top.entries).toMatchObject([
      { name: "keys", path: "keys", type: "directory" },
      { name: "src", path: "src", type: "directory" },
      { name: "door", path: "door", type: "other", isLink: true, size: 0 },
      { name: "main", path: "main", type: "file", isLink: true, size: 14 },
    ]);
    expect((await list({ path: "src" })).entries).toMatchObject([{ name: "main.ts", path: "src/main.ts", size: 14 }]);
    const absolute = join(base, "more");
    expect((await list({ path: absolute })).entries).toMatchObject([{ path: join(absolute, "notes.md") }]);
    expect((await get("list", { path: "src/main.ts" })).status).toBe(404);
  });

  it("C3.files gives the bytes whole or in ranges, and refuses what lies past the end", async () => {
    const bytes = randomBytes(300_000);
    writeFileSync(join(base, "project/blob"), bytes);
    const whole = await get("file", { path: "blob" });
    expect(whole.status).toBe(200);
    expect(whole.headers.get("content-length")).toBe("300000");
    const digest = (data: ArrayBuffer | Buffer) =>
      createHash("sha256")
        .update(Buffer.from(data as Buffer))
        .digest("hex");
    expect(digest(await whole.arrayBuffer())).toBe(digest(bytes));
    const part = await get("file", { path: "blob", offset: "299000", length: "5000" });
    expect(part.status).toBe(206);
    expect(part.headers.get("content-range")).toBe("bytes 299000-299999/300000");
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(299_000))).toBe(true);
    const past = await get("file", { path: "blob", offset: "300000" });
    expect(past.status).toBe(416);
    expect(past.headers.get("content-range")).toBe("bytes */300000");
    writeFileSync(join(base, "project/empty"), "");
    expect(await (await get("file", { path: "empty" })).text()).toBe("");
  });

  it("C3.files HEAD tells the size without the bytes", async () => {
    const head = await get("file", { path: "src/main.ts" }, { method: "HEAD" });
    expect(head.status).toBe(200);
    expect(head.headers.get("content-length")).toBe("14");
    expect(await head.text()).toBe("");
  });

  it("C3.files gives a window of lines and says which is the first", async () => {
    const window = await get("file", { path: "src/main.ts", line: "2", limit: "1" });
    expect(window.status).toBe(200);
    expect(await window.text()).toBe("two\n");
    expect(window.headers.get("x-first-line")).toBe("2");
    expect(window.headers.get("x-zcode-first-line")).toBe("2");
    expect(window.headers.get("x-has-more")).toBe("true");
    expect((await get("file", { path: "src/main.ts", line: "4", limit: "9" })).status).toBe(200);
    expect((await get("file", { path: "src/main.ts", line: "5", limit: "9" })).status).toBe(416);
  });

  it("C3.files nothing that is sent can act as a page of the hub", async () => {
    writeFileSync(join(base, "project/page.html"), "<script>fetch('/api/devices')</script>");
    writeFileSync(join(base, "project/a.svg"), "<svg onload='x()'/>");
    writeFileSync(join(base, "project/a.png"), "");
    for (const [path, type] of [
      ["page.html", "application/octet-stream"],
      ["a.svg", "application/octet-stream"],
      ["a.png", "image/png"],
    ] as const) {
      const { headers } = await get("file", { path });
      expect(headers.get("content-type")).toBe(type);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("content-security-policy")).toContain("sandbox");
    }
    const text = await get("file", { path: "page.html", line: "1" });
    expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  it.each([
    ["../outside/secret"],
    ["door/secret"],
    ["door"],
    ["/etc/hostname"],
    ["/nothing/here"],
    ["../project2"],
    ["keys/signing.jwk"],
  ])("C3.files %s is outside: 403, and nothing of it is told", async (path) => {
    const answer = await get("file", { path });
    expect(answer.status).toBe(403);
    expect(await answer.json()).toMatchObject({ status: 403, code: "outside" });
    expect((await get("list", { path: join(path, "..") })).status).toBe(path === "door" ? 200 : 403);
  });

  it("C3.files what is missing is 404, a wrong question 400, a missing scope 403 by name", async () => {
    expect((await get("file", { path: "nothing" })).status).toBe(404);
    expect((await get("file", { path: "src" })).status).toBe(404);
    expect((await get("file", { path: "x", sessionId: "other" })).status).toBe(404);
    for (const query of [{ offset: "-1" }, { offset: "x" }, { length: "0" }, { line: "0" }, { line: "1", offset: "1" }])
      expect((await get("file", { path: "src/main.ts", ...(query as Record<string, string>) })).status).toBe(400);
    expect((await get("file", { path: "a\0b" })).status).toBe(400);
    expect((await get("file", { sessionId: "" })).status).toBe(400);
    const url = `${harness.url}/api/instances/i-0/fs/file?sessionId=${own}&path=a&path=b`;
    expect((await fetch(url, { headers: { authorization: "Bearer driver:phone" } })).status).toBe(400);
    const refused = await get("file", { path: "src/main.ts" }, { preset: "approver" });
    expect(refused.status).toBe(403);
    expect(await refused.json()).toMatchObject({ code: "missing-scope", missing: ["files:read"] });
  });

  it("C3.files a directory a remote client chose is not served, one below what the owner opened is", async () => {
    expect((await get("list", { sessionId: remote })).status).toBe(403);
    expect((await get("file", { sessionId: remote, path: "secret" })).status).toBe(403);
    const inRoots = await remoteSession(join(base, "open/app"));
    expect(await (await get("file", { sessionId: inRoots, path: "a.txt" })).text()).toBe("remote");
    const inProject = await remoteSession(join(base, "project/src"));
    expect((await get("file", { sessionId: inProject, path: "main.ts" })).status).toBe(200);
    expect((await get("file", { sessionId: inProject, path: "../keys/signing.jwk" })).status).toBe(403);
  });

  it("C3.files a pipe is no file, and a file that shrinks while it is sent ends in a cut, not in silence", async () => {
    execFileSync("mkfifo", [join(base, "project/pipe")]);
    expect((await get("file", { path: "pipe" })).status).toBe(404);
    const path = join(base, "project/large");
    writeFileSync(path, Buffer.alloc(30_000_000));
    const answer = await get("file", { path: "large" });
    const reader = answer.body?.getReader();
    await reader?.read();
    truncateSync(path, 0);
    const rest = async (): Promise<void> => {
      while ((await reader?.read())?.done === false);
    };
    await expect(rest()).rejects.toThrow();
  });

  it("C3.files a directory of many entries is listed up to a bound, and says so", async () => {
    mkdirSync(join(base, "project/many"));
    for (let index = 0; index < 5001; index += 1) writeFileSync(join(base, "project/many", `${index}`), "");
    const { entries, truncated } = await list({ path: "many" });
    expect(entries).toHaveLength(5000);
    expect(truncated).toBe(true);
  });
});
