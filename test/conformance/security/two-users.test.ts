/** Another user of the same machine. Needs two users to be, so it runs as root alone (as CI does). */
import { spawn } from "node:child_process";
import {
  chmodSync,
  chownSync,
  copyFileSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { connect, createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { LinkDialer } from "../../../src/bridge/link-dialer.ts";
import { DEFAULT_CONFIG } from "../../../src/config/config.ts";
import { type Paths, resolvePaths } from "../../../src/config/paths.ts";
import { serveHub } from "../../../src/hub/serve.ts";
import { type SecureHub, startSecureHub } from "../../support/secure-hub.ts";

const STRANGER = 65_534;
const isRoot = process.getuid?.() === 0;

// This Node may lie in a directory that is ours alone (a home, a scratch directory): the stranger gets a copy to run.
let strangersNode: string;

function giveStrangerNode(): void {
  const dir = mkdtempSync(join(tmpdir(), "acp-hub-stranger-"));
  strangersNode = join(dir, "node");
  chmodSync(dir, 0o755);
  copyFileSync(process.execPath, strangersNode);
  chmodSync(strangersNode, 0o755);
}

/** Runs a line of JavaScript as another user, with no group of ours; gives its exit code and what it printed. */
function asStranger(script: string, ...args: string[]): Promise<{ code: number | null; text: string }> {
  return new Promise((resolve) => {
    const child = spawn(strangersNode, ["-e", script, "--", ...args], {
      uid: STRANGER,
      gid: STRANGER,
      cwd: "/",
      env: {},
    });
    let text = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (chunk: Buffer) => {
        text += chunk.toString();
      });
    child.on("error", (error) => resolve({ code: -1, text: error.message }));
    child.on("close", (code) => resolve({ code, text }));
  });
}

const CONNECT = `require("net").connect(process.argv[1]).on("connect", () => { console.log("in"); process.exit(0); })
  .on("error", (error) => { console.log(error.code); process.exit(7); })`;
const READ = `try { console.log(require("fs").readdirSync(process.argv[1]).length); } catch (error) { console.log(error.code); }
  try { console.log(require("fs").readFileSync(process.argv[1]).length); } catch (error) { console.log(error.code); process.exit(7); }`;

describe.runIf(isRoot)("another user of this machine", () => {
  let hub: SecureHub;
  beforeAll(giveStrangerNode);
  afterAll(() => rmSync(dirname(strangersNode), { recursive: true, force: true }));
  beforeEach(async () => {
    hub = await startSecureHub();
    // As far open as a home ever is: the way to the hub's own directories is free.
    chmodSync(hub.home, 0o755);
  });
  afterEach(() => hub.stop());

  test("C1.files, incident 19: connects to no socket of the hub and reads none of its files", async () => {
    expect((await asStranger('console.log("ok")')).text).toBe("ok\n");
    const { apiSocket, linkSocket, keysDir, database, hubInfo, runDir, dataDir } = hub.paths;
    for (const socket of [apiSocket, linkSocket])
      expect(await asStranger(CONNECT, socket)).toEqual({ code: 7, text: "EACCES\n" });
    for (const path of [keysDir, database, hubInfo, runDir, dataDir])
      expect(await asStranger(READ, path), path).toEqual({ code: 7, text: "EACCES\nEACCES\n" });
    // The files keep others out by themselves, too, were the directories open.
    for (const dir of [dataDir, runDir, keysDir]) chmodSync(dir, 0o755);
    for (const socket of [apiSocket, linkSocket]) expect((await asStranger(CONNECT, socket)).text).toBe("EACCES\n");
    expect((await asStranger(READ, database)).text).toContain("EACCES");
    for (const dir of [dataDir, runDir, keysDir]) chmodSync(dir, 0o700);
  });

  test("incidents 1 and 27: is told nothing over the loopback port either", async () => {
    const GET = `fetch(process.argv[1]).then((answer) => console.log(answer.status))`;
    expect((await asStranger(GET, `${hub.url}/api/instances`)).text).toBe("401\n");
  });
});

describe.runIf(isRoot)("a run directory that is not ours", () => {
  let home: string;
  let paths: Paths;
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-theirs-")));
    chmodSync(home, 0o755);
    paths = resolvePaths(home);
    mkdirSync(paths.runDir);
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));

  const serve = () =>
    serveHub({
      paths,
      version: "0",
      config: { ...DEFAULT_CONFIG, port: 0 },
      log: pino({ level: "silent" }),
      program: { command: "x", args: [], env: {} },
    });

  test("C1.files the hub does not start in a directory of another user, or behind a link of theirs", async () => {
    chownSync(paths.runDir, STRANGER, STRANGER);
    await expect(serve()).rejects.toThrow(/belongs to another user/);
    rmSync(paths.runDir, { recursive: true });
    const elsewhere = join(home, "elsewhere");
    mkdirSync(elsewhere, { mode: 0o700 });
    symlinkSync(elsewhere, paths.runDir);
    lchownSync(paths.runDir, STRANGER, STRANGER);
    await expect(serve()).rejects.toThrow(/belongs to another user/);
  });

  test("C1.files the hub closes a directory of ours that stands open, and refuses one that all share", async () => {
    chmodSync(paths.runDir, 0o777);
    const running = await serve();
    expect(lstatSync(paths.runDir).mode & 0o777).toBe(0o700);
    await running.stop();
    chmodSync(paths.runDir, 0o1777);
    await expect(serve()).rejects.toThrow(/shared by all users/);
  });

  test("incident 11: a bridge does not dial into a directory of another user, though it is private to them", async () => {
    let calls = 0;
    const imposter = createServer((socket) => {
      calls += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => imposter.listen(paths.linkSocket, () => resolve()));
    writeFileSync(paths.hubInfo, "{}");
    chownSync(paths.runDir, STRANGER, STRANGER);
    chmodSync(paths.runDir, 0o700);
    const warnings: string[] = [];
    const dialer = new LinkDialer({
      paths,
      hello: () => {
        throw new Error("a stranger is told nothing");
      },
      handlers: { onUp: () => undefined, onFrame: () => undefined, onDown: () => undefined, onDrain: () => undefined },
      launcher: undefined,
      log: { info: () => undefined, warn: (text: string) => void warnings.push(text), error: () => undefined } as never,
    });
    dialer.start();
    await vi.waitFor(() => expect(warnings[0]).toMatch(/not private/), { timeout: 10_000 });
    dialer.stop();
    // Who dialled before this one would have been counted before it.
    const last = connect(paths.linkSocket).resume();
    last.on("error", () => undefined);
    await new Promise((resolve) => last.once("close", resolve));
    expect(calls).toBe(1);
    await new Promise((resolve) => imposter.close(resolve));
  });
});
