import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as esbuild from "esbuild";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { takeLock } from "../../../src/hub/lock.ts";
import { startOf } from "../../../src/hub/process-alive.ts";

const STARTERS = 6;
const never = (): Promise<boolean> => Promise.resolve(false);

describe("the lock of a home", () => {
  let dir: string;
  let path: string;
  let starter: string;
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), "acp-hub-lock-"));
    starter = join(dir, "starter.mjs");
    const contents = `
      import { takeLock } from "./src/hub/lock.ts";
      process.stdin.once("data", async () => {
        const lock = await takeLock(process.argv[2], () => Promise.resolve(false));
        process.stdout.write(lock.ok ? "held" : "refused");
        process.stdin.once("end", () => process.exit(0));
      });
      process.stdout.write("ready");`;
    await esbuild.build({
      stdin: { contents, resolveDir: process.cwd(), loader: "ts" },
      outfile: starter,
      bundle: true,
      platform: "node",
      format: "esm",
    });
  });
  afterAll(() => rmSync(dir, { recursive: true }));
  beforeEach(() => {
    path = join(dir, `lock-${Math.round(performance.now() * 1000)}`);
  });

  it("design 2 a hub that was killed while it took a dead hub's lock over makes the next one wait, not give up", async () => {
    writeFileSync(path, "4194303 1\n");
    writeFileSync(`${path}.takeover`, "4194302 1\n");
    const at = Date.now() / 1000 - 2;
    utimesSync(`${path}.takeover`, at, at);
    const lock = await takeLock(path, never);
    expect(lock.ok).toBe(true);
    if (lock.ok) await lock.release();
  });

  it("design 2 of many that start over a dead hub's lock exactly one gets it, again and again", async () => {
    for (let round = 0; round < 8; round += 1) {
      const lock = `${path}-${round}`;
      writeFileSync(lock, "4194303 1\n");
      const children = Array.from({ length: STARTERS }, () =>
        spawn(process.execPath, [starter, lock], { stdio: ["pipe", "pipe", "inherit"] }),
      );
      const said = children.map((child) => {
        let text = "";
        child.stdout.on("data", (chunk: Buffer) => {
          text += chunk.toString("utf8");
        });
        return () => text;
      });
      await expect.poll(() => said.every((text) => text() === "ready"), { timeout: 10_000 }).toBe(true);
      for (const child of children) child.stdin.write("go");
      await expect.poll(() => said.every((text) => /held|refused/.test(text())), { timeout: 10_000 }).toBe(true);
      expect(said.filter((text) => text().endsWith("held")).length).toBe(1);
      const ended = children.map((child) => new Promise((resolve) => child.once("exit", resolve)));
      for (const child of children) child.stdin.end();
      await Promise.all(ended);
    }
  });

  // When a process started is read from /proc: elsewhere a lock is judged by its pid and the hub's answer alone.
  it.runIf(process.platform === "linux")(
    "design 2 a lock whose pid went to another process is a dead hub's, without waiting for it to answer",
    async () => {
      writeFileSync(path, `${process.ppid} 1\n`);
      const lock = await takeLock(path, never);
      expect(lock.ok).toBe(true);
      if (lock.ok) await lock.release();
      expect(existsSync(path)).toBe(false);
    },
  );

  it.runIf(process.platform === "linux")(
    "design 2 a live hub's lock is never taken, however long it needs to start",
    async () => {
      const text = `${process.ppid} ${startOf(process.ppid)}\n`;
      writeFileSync(path, text);
      expect(await takeLock(path, never)).toEqual({ ok: false, pid: process.ppid });
      expect(readFileSync(path, "utf8")).toBe(text);
    },
  );

  it("design 2 a lock that is handed over is the successor's at once, and nobody's who asks in between", async () => {
    const lock = await takeLock(path, never);
    if (!lock.ok) throw new Error("not ours");
    const child = spawn(process.execPath, [starter, path], { stdio: ["pipe", "pipe", "inherit"] });
    const said: string[] = [];
    child.stdout.on("data", (chunk: Buffer) => said.push(chunk.toString("utf8")));
    await expect.poll(() => said.join()).toBe("ready");
    await lock.release(child.pid);
    expect(await takeLock(path, () => Promise.resolve(true))).toEqual({ ok: false, pid: child.pid });
    child.stdin.write("go");
    await expect.poll(() => said.join()).toContain("held");
    const ended = new Promise((resolve) => child.once("exit", resolve));
    child.stdin.end();
    await ended;
    // It died with the lock: the next one takes it, and hands it to nobody who is dead.
    const next = await takeLock(path, never);
    if (!next.ok) throw new Error("not ours");
    await next.release(child.pid);
    expect(existsSync(path)).toBe(false);
  });

  it("design 2 a torn lock, and a takeover that was cut short, do not keep a hub from starting", async () => {
    writeFileSync(path, "");
    writeFileSync(`${path}.takeover`, "1 1\n");
    const longAgo = new Date(Date.now() - 60_000);
    for (const file of [path, `${path}.takeover`]) utimesSync(file, longAgo, longAgo);
    expect((await takeLock(path, never)).ok).toBe(true);
  });
});
