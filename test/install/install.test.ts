import { execFile, execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Home } from "../support/cli.ts";
import { until } from "../support/stage.ts";

interface Runtime {
  readonly node: string;
  /** What `npm install` is told besides. */
  readonly options: readonly string[];
}

/** This runtime; and a newer one, named by `INSTALL_NODE`, whose SQLite is its own. */
const RUNTIMES: readonly Runtime[] = [
  { node: process.execPath, options: [] },
  ...(process.env["INSTALL_NODE"] === undefined
    ? []
    : [{ node: process.env["INSTALL_NODE"], options: ["--omit=optional"] }]),
];

const place = mkdtempSync(join(tmpdir(), "acp-hub-install-"));
let tarball = "";
beforeAll(() => {
  // Without scripts: `prepare` would build over the files other tests run from.
  execFileSync("npm", ["pack", "--ignore-scripts", "--silent", "--pack-destination", place]);
  const [name] = readdirSync(place).filter((each) => each.endsWith(".tgz"));
  tarball = join(place, name ?? "no tarball");
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

const run = (command: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<string> =>
  new Promise((resolve, reject) => {
    execFile(command, [...args], { cwd, env, maxBuffer: 16_777_216 }, (error, stdout, stderr) =>
      error === null ? resolve(stdout) : reject(new Error(`${command} ${args.join(" ")}: ${stderr}`, { cause: error })),
    );
  });

describe.each(RUNTIMES)("installed on $node $options", ({ node, options }) => {
  it("installs into an empty folder, runs by its name, serves, bridges, and leaves nothing when it goes", async () => {
    const folder = join(place, options.join() || "whole");
    mkdirSync(folder);
    writeFileSync(join(folder, "package.json"), "{}");
    await run("npm", ["install", "--no-audit", "--no-fund", ...options, tarball], folder, process.env);
    const bin = join(folder, "node_modules/.bin");
    const home = new Home();
    // By its name, as a shell finds it, on this runtime.
    const env = { PATH: [bin, dirname(node), process.env["PATH"] ?? ""].join(delimiter) };
    const acpHub = (...args: string[]): Promise<string> => run("acp-hub", args, folder, home.env(env));
    try {
      expect(await acpHub("--version")).toMatch(/^\d+\.\d+\.\d+\n$/);
      const hub = home.spawnCommand("acp-hub", ["serve", "--port", "0"], env);
      let words = "";
      for (const stream of [hub.stdout, hub.stderr])
        stream?.on("data", (chunk: Buffer) => {
          words += chunk.toString("utf8");
        });
      expect(await until(() => /listening on \S+\n/.test(words) || hub.exitCode !== null, 60_000), words).toBe(true);
      const url = /listening on (\S+)/.exec(words)?.[1] ?? words;
      expect((await fetch(`${url}/readyz`)).status).toBe(200);
      expect(await (await fetch(url)).text()).toContain("<script");
      const bridge = home.spawnCommand("acp-hub", ["bridge", "demo"], env);
      let answer = "";
      bridge.stdout?.on("data", (chunk: Buffer) => {
        answer += chunk.toString("utf8");
      });
      const params = { protocolVersion: 1, clientCapabilities: {} };
      bridge.stdin?.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
      expect(await until(() => answer.includes("\n"), 60_000)).toBe(true);
      expect(JSON.parse(answer.slice(0, answer.indexOf("\n")))).toMatchObject({
        id: 1,
        result: { protocolVersion: 1 },
      });
      expect(await acpHub("pair", "--scope", "viewer")).toContain(`${url}/#pair=`);
      const findings = JSON.parse(await acpHub("doctor", "--json").catch((error: Error) => error.message)) as object[];
      expect(findings.filter((each) => "level" in each && each.level === "fail")).toEqual([]);
      expect(JSON.stringify(findings)).toContain("the database opens");
    } finally {
      await home.remove();
    }
    await run("npm", ["uninstall", "--no-audit", "--no-fund", "acp-hub"], folder, process.env);
    expect(existsSync(join(bin, "acp-hub"))).toBe(false);
    expect(existsSync(join(folder, "node_modules/acp-hub"))).toBe(false);
  });
});
