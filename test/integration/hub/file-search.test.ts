import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { fileSearchRoute } from "../../../src/hub/http/file-search-route.ts";
import { searchFiles } from "../../../src/hub/http/search-files.ts";
import { type HubHarness, startHub } from "../../support/hub-harness.ts";
import { puppetAgent } from "../../support/puppet-agent.ts";
import { connectClient, rawClient } from "../../support/raw-client.ts";

const never = new AbortController().signal;

function write(base: string, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(base, name, ".."), { recursive: true });
    writeFileSync(join(base, name), text);
  }
}

let base: string;
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-search-")));
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

describe("the search below the roots of a session", () => {
  const search = (query: string, more: Partial<Parameters<typeof searchFiles>[0]> = {}) =>
    searchFiles({ roots: [join(base, "project")], query, limit: 20, isHidden: () => false, signal: never, ...more });
  const names = async (query: string, more: Partial<Parameters<typeof searchFiles>[0]> = {}): Promise<string[]> =>
    (await search(query, more)).found.map((file) => file.relativePath);

  it("finds by letters in order, best first, at most so many", async () => {
    write(base, {
      "project/src/pool.ts": "",
      "project/src/pool.test.ts": "",
      "project/docs/p/o/o/l.md": "",
      "project/a.md": "",
    });
    expect(await names("pool")).toEqual(["src/pool.ts", "src/pool.test.ts", "docs/p/o/o/l.md"]);
    expect(await names("POOL", { limit: 1 })).toEqual(["src/pool.ts"]);
    expect(await names("zzz")).toEqual([]);
  });

  it("skips what git ignores, by every .gitignore on the way, and what tools keep for themselves", async () => {
    write(base, {
      "project/.gitignore": "dist/\n*.log\n/top.txt\n!keep.log\n",
      "project/dist/a.txt": "",
      "project/deep/dist/a.txt": "",
      "project/a.log": "",
      "project/keep.log": "",
      "project/top.txt": "",
      "project/deep/top.txt": "",
      "project/deep/.gitignore": "own.txt\n!wanted.log\n",
      "project/deep/own.txt": "",
      "project/deep/wanted.log": "",
      "project/own.txt": "",
      "project/.git/config": "",
      "project/node_modules/x/a.txt": "",
      "project/.github/ci.yml": "",
    });
    expect((await names("")).sort()).toEqual(
      [
        ".gitignore",
        "keep.log",
        "deep/top.txt",
        "deep/.gitignore",
        "deep/wanted.log",
        "own.txt",
        ".github/ci.yml",
      ].sort(),
    );
  });

  it("C3.files follows no link, in or out, and shows nothing hidden", async () => {
    write(base, { "project/src/main.ts": "", "outside/secret.txt": "", "project/keys/signing.jwk": "" });
    symlinkSync(join(base, "outside"), join(base, "project/door"));
    symlinkSync(join(base, "outside/secret.txt"), join(base, "project/secret.txt"));
    symlinkSync(join(base, "project"), join(base, "project/src/loop"));
    expect(await names("", { isHidden: (path) => path.startsWith(join(base, "project/keys")) })).toEqual([
      "src/main.ts",
    ]);
  });

  it("names what it finds below a root that is a link as the session names it", async () => {
    write(base, { "project/main.ts": "" });
    symlinkSync(join(base, "project"), join(base, "alias"));
    const { found } = await search("main", { roots: [join(base, "alias")] });
    expect(found).toEqual([{ path: join(base, "alias/main.ts"), relativePath: "main.ts" }]);
  });

  it("looks into every root once, also where one holds another, and a missing one holds nothing", async () => {
    write(base, { "project/sub/a.ts": "", "more/b.ts": "" });
    const roots = ["project/sub", "project", "project", "more", "gone"].map((name) => join(base, name));
    const { found } = await search("", { roots });
    expect(found.map(({ path }) => path).sort()).toEqual([join(base, "more/b.ts"), join(base, "project/sub/a.ts")]);
  });

  it("C3.files a session at the root of the file system has nothing to search", async () => {
    expect(await search("", { roots: ["/"] })).toEqual({ found: [], truncated: false });
  });

  it("C6.limits stops at its bounds and says so; what is near is found first", async () => {
    write(base, { "project/near.txt": "" });
    for (let index = 0; index < 300; index += 1) write(base, { [`project/d/${index}/far.txt`]: "" });
    const few = await search("", { bounds: { entriesMax: 50, ms: 60_000 }, limit: 100 });
    expect(few.truncated).toBe(true);
    expect(few.found.length).toBeLessThan(50);
    expect(few.found[0]?.relativePath).toBe("near.txt");
    expect((await search("", { bounds: { entriesMax: 50_000, ms: 0 } })).truncated).toBe(true);
    expect((await search("", { bounds: { entriesMax: 50_000, ms: 60_000 } })).truncated).toBe(false);
    await expect(search("", { bounds: { entriesMax: 301, ms: 60_000 } })).resolves.toMatchObject({ truncated: true });
  });

  it("ends when nobody waits any more", async () => {
    write(base, { "project/a.txt": "" });
    await expect(search("", { signal: AbortSignal.abort() })).rejects.toThrow();
  });
});

describe("the search over HTTP", () => {
  let harness: HubHarness;
  let own: string;
  let remote: string;

  beforeEach(async () => {
    write(base, { "project/src/main.ts": "", "project/my file.ts": "", "more/notes.md": "", "outside/main.ts": "" });
    harness = await startHub({
      routes: (hub) => [
        fileSearchRoute({ registry: hub.registry, isStarting: () => false, createRoots: [], hidden: [] }),
      ],
    });
    const client = rawClient(harness.bridge(puppetAgent().backend).editor);
    await client.initialize({});
    const params = { cwd: join(base, "project"), additionalDirectories: [join(base, "more")], mcpServers: [] };
    own = String((await client.call("session/new", params))["sessionId"]);
    await expect.poll(() => [...(harness.hub.registry.get("i-0")?.mirror.sessions ?? [])].length).toBe(1);
    const phone = await connectClient(`ws://127.0.0.1:${harness.port}/acp?instance=i-0`, "driver:phone");
    await phone.initialize();
    remote = String((await phone.call("session/new", { cwd: join(base, "outside"), mcpServers: [] }))["sessionId"]);
    phone.close();
  });
  afterEach(() => harness.stop());

  const get = (query: Record<string, string>, preset = "driver"): Promise<Response> =>
    fetch(
      `${harness.url}/api/instances/i-0/fs/search?${new URLSearchParams({ sessionId: own, ...query }).toString()}`,
      {
        headers: { authorization: `Bearer ${preset}:phone` },
      },
    );

  it("C3.files gives a path the other routes take and an address an agent takes", async () => {
    const found = (await (await get({ q: "m" })).json()) as { entries: unknown[]; truncated: boolean };
    expect(found).toEqual({
      entries: [
        { path: "my file.ts", name: "my file.ts", uri: pathToFileURL(join(base, "project/my file.ts")).href },
        { path: "src/main.ts", name: "main.ts", uri: pathToFileURL(join(base, "project/src/main.ts")).href },
        { path: join(base, "more/notes.md"), name: "notes.md", uri: pathToFileURL(join(base, "more/notes.md")).href },
      ],
      truncated: false,
    });
  });

  it("C3.files finds nothing below a directory that a remote client chose", async () => {
    expect(await (await get({ sessionId: remote, q: "" })).json()).toEqual({ entries: [], truncated: false });
  });

  it("refuses by name what it cannot use", async () => {
    expect((await get({ q: "a" }, "viewer")).status).toBe(403);
    expect((await get({ sessionId: "none", q: "a" })).status).toBe(404);
    expect((await get({ sessionId: "", q: "a" })).status).toBe(400);
    for (const query of [{ q: "x".repeat(201) }, { q: "a", limit: "0" }, { q: "a", limit: "x" }])
      expect((await get(query)).status).toBe(400);
    expect((await get({ q: "", limit: "1" })).status).toBe(200);
  });

  it("C6.limits a caller that hangs up frees its place at once", async () => {
    const query = new URLSearchParams({ sessionId: own, q: "a" }).toString();
    for (let round = 0; round < 20; round += 1) {
      const socket = connect(harness.port, "127.0.0.1");
      await new Promise((resolve) => socket.once("connect", resolve));
      socket.write(
        `GET /api/instances/i-0/fs/search?${query} HTTP/1.1\r\nHost: 127.0.0.1:${harness.port}\r\nAuthorization: Bearer driver:phone\r\n\r\n`,
      );
      socket.destroy();
    }
    await expect.poll(async () => (await get({ q: "main" })).status).toBe(200);
    // Many searches over one connection leave nothing behind on it.
    const warnings: Error[] = [];
    const listen = (warning: Error): void => void warnings.push(warning);
    process.on("warning", listen);
    for (let round = 0; round < 30; round += 1) await (await get({ q: "main" })).json();
    process.off("warning", listen);
    expect(warnings).toEqual([]);
  });
});
