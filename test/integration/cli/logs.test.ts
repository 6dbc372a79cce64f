import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { TailFile } from "../../../src/cli/logs/tail-file.ts";
import { showLogs } from "../../../src/cli/logs.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "acp-hub-logs-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const line = (time: number, msg: string): string => `${JSON.stringify({ time, level: 30, msg })}\n`;
const base = { count: 50, isFollowing: false, isJson: true, signal: new AbortController().signal };

async function shown(over: Partial<Parameters<typeof showLogs>[0]> = {}): Promise<string[]> {
  const lines: string[] = [];
  await showLogs({ ...base, logDir: dir, print: (more) => lines.push(...more), ...over });
  return lines.map((each) => (each.startsWith("{") ? String(JSON.parse(each).msg) : each));
}

describe("logs", () => {
  it("C1.daemon all files in one order, the last lines alone, rotated files left out", async () => {
    writeFileSync(join(dir, "hub.log"), line(1, "a") + line(4, "d"));
    writeFileSync(join(dir, "bridge.log"), line(2, "b") + line(3, "c"));
    writeFileSync(join(dir, "bridge.log.1"), line(0, "old"));
    expect(await shown()).toEqual(["a", "b", "c", "d"]);
    expect(await shown({ count: 2 })).toEqual(["c", "d"]);
    expect(await shown({ isJson: false, count: 1 })).toEqual([expect.stringMatching(/info {2}hub d$/)]);
  });

  it("C1.daemon nothing logged is told apart from nothing new", async () => {
    const quiet = { ...base, logDir: join(dir, "absent"), print: () => undefined };
    expect(await showLogs(quiet)).toBe(false);
  });

  it("C1.daemon following shows new lines and new files, and ends when told", async () => {
    writeFileSync(join(dir, "hub.log"), line(1, "a"));
    const controller = new AbortController();
    const lines: string[] = [];
    const { signal } = controller;
    const following = showLogs({
      ...base,
      logDir: dir,
      isFollowing: true,
      signal,
      print: (more) => lines.push(...more),
    });
    await expect.poll(() => lines.length).toBe(1);
    appendFileSync(join(dir, "hub.log"), line(2, "b"));
    writeFileSync(join(dir, "bridge.log"), line(3, "c"));
    await expect.poll(() => lines.map((each) => JSON.parse(each).msg).join()).toBe("a,b,c");
    controller.abort();
    expect(await following).toBe(true);
  });
});

describe("one file", () => {
  const file = (): string => join(dir, "hub.log");

  it("loses no line over a rotation", async () => {
    writeFileSync(file(), "one\n");
    const tail = new TailFile(file());
    expect(await tail.last(10)).toEqual(["one"]);
    appendFileSync(file(), "two\n");
    renameSync(file(), `${file()}.1`);
    appendFileSync(`${file()}.1`, "three\n");
    writeFileSync(file(), "four\n");
    expect(await tail.poll()).toEqual(["two", "three", "four"]);
    expect(await tail.poll()).toEqual([]);
    await tail.close();
  });

  it("begins again when it was emptied, and waits while it is away", async () => {
    writeFileSync(file(), "one\ntwo\n");
    const tail = new TailFile(file());
    await tail.last(1);
    truncateSync(file(), 0);
    appendFileSync(file(), "x\n");
    expect(await tail.poll()).toEqual(["x"]);
    renameSync(file(), `${file()}.1`);
    expect(await tail.poll()).toEqual([]);
    writeFileSync(file(), "y\n");
    expect(await tail.poll()).toEqual(["y"]);
    await tail.close();
  });

  it("gives a line out when it is whole, cut anywhere, in any script", async () => {
    writeFileSync(file(), "");
    const tail = new TailFile(file());
    await tail.last(1);
    const text = Buffer.from("größe 日本\n");
    for (const byte of text.subarray(0, -1)) {
      appendFileSync(file(), Buffer.from([byte]));
      expect(await tail.poll()).toEqual([]);
    }
    appendFileSync(file(), "\n");
    expect(await tail.poll()).toEqual(["größe 日本"]);
    await tail.close();
  });

  it("of many megabytes gives its last lines, none of them half", async () => {
    writeFileSync(
      file(),
      Array.from({ length: 60_000 }, (_each, index) => `line ${index} ${"x".repeat(30)}\n`).join(""),
    );
    const tail = new TailFile(file());
    const lines = await tail.last(100_000);
    expect(lines.length).toBeLessThan(60_000);
    expect(lines.every((each) => /^line \d+ x{30}$/.test(each))).toBe(true);
    expect(lines.at(-1)).toContain("line 59999");
    await tail.close();
  });

  it("that is a directory or absent has no lines", async () => {
    mkdirSync(join(dir, "d.log"));
    const tail = new TailFile(join(dir, "absent.log"));
    expect([await tail.last(5), await tail.poll()]).toEqual([[], []]);
    await tail.close();
  });
});
