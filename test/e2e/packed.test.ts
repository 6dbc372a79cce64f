/** The package as the registry would hand it out: nothing but what `npm pack` takes, in an empty folder. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Home } from "../support/cli.ts";

const place = mkdtempSync(join(tmpdir(), "acp-hub-packed-"));
const installed = join(place, "package");
const main = join(installed, "dist/cli/main.js");

beforeAll(() => {
  // Without scripts: `prepare` would build over the files other tests run from.
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", place]);
  const [tarball] = readdirSync(place).filter((name) => name.endsWith(".tgz"));
  execFileSync("tar", ["xzf", join(place, tarball ?? "no tarball"), "-C", place]);
  // The dependencies are those the lock file names; only our own files are the question here.
  symlinkSync(realpathSync("node_modules"), join(installed, "node_modules"));
}, 60_000);

afterAll(() => {
  rmSync(place, { recursive: true, force: true });
});

it("holds what it runs from, and nothing of ours that it does not need", () => {
  expect(readdirSync(installed).sort()).toEqual(
    ["LICENSE", "README.md", "config", "deploy", "dist", "node_modules", "package.json"].sort(),
  );
});

it("serves its app, and a bridge of it relays an agent", async () => {
  const home = new Home();
  try {
    const hub = home.spawnCommand(process.execPath, [main, "serve", "--port", "0"]);
    const url = await new Promise<string>((resolve, reject) => {
      let text = "";
      hub.stdout?.on("data", (chunk: Buffer) => {
        text += chunk.toString("utf8");
        const match = /acp-hub listening on (http:\/\/\S+)/.exec(text);
        if (match?.[1] !== undefined) resolve(match[1]);
      });
      hub.once("exit", (code) => reject(new Error(`serve ended with ${code}: ${text}`)));
    });
    const page = await (await fetch(url)).text();
    const script = /src="([^"]+\.js)"/.exec(page)?.[1] ?? "no script";
    expect((await fetch(new URL(script, url))).status).toBe(200);

    const bridge = home.spawnCommand(process.execPath, [main, "bridge", "demo"]);
    const answer = new Promise<string>((resolve) => {
      bridge.stdout?.once("data", (chunk: Buffer) => resolve(chunk.toString("utf8")));
    });
    const params = { protocolVersion: 1, clientCapabilities: {} };
    bridge.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    expect(JSON.parse(await answer)).toMatchObject({ id: 1, result: { protocolVersion: 1 } });
  } finally {
    await home.remove();
  }
});
