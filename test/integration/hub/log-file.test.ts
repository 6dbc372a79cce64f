import { mkdirSync, mkdtempSync, readFileSync, rmdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { rotatingLogFile } from "../../../src/hub/log-file.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "acp-hub-log-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

it("C1.files the log turns over when it is large, keeps one older file, and loses no line of the two", async () => {
  const path = join(dir, "logs/hub.log");
  const log = rotatingLogFile(path, 1000);
  const flushed = (): Promise<void> => new Promise((done) => log.flush(() => done()));
  for (let index = 0; index < 100; index += 1) {
    log.write(`line ${String(index).padStart(3, "0")} ${"x".repeat(40)}\n`);
    await flushed();
  }
  const lines = [`${path}.1`, path].flatMap((file) => readFileSync(file, "utf8").trim().split("\n"));
  const numbers = lines.map((line) => Number(line.slice(5, 8)));
  expect(numbers.at(-1)).toBe(99);
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_each, index) => 100 - numbers.length + index));
  expect(statSync(`${path}.1`).size).toBeLessThan(1100);
  expect(statSync(path).mode & 0o777).toBe(0o600);
});

it("C1.files a log that is large already turns over at the first line", async () => {
  const path = join(dir, "hub.log");
  const first = rotatingLogFile(path, 10);
  first.write("a long first line\n");
  await new Promise<void>((done) => first.flush(() => done()));
  const second = rotatingLogFile(path, 10);
  second.write("b\n");
  await new Promise<void>((done) => second.flush(() => done()));
  expect([readFileSync(`${path}.1`, "utf8"), readFileSync(path, "utf8")]).toEqual(["a long first line\n", "b\n"]);
});

it("C1.files a disk that takes nothing costs lines, not the hub, and how many is said once it takes them again", async () => {
  const path = join(dir, "hub.log");
  mkdirSync(path);
  const log = rotatingLogFile(path);
  const flushed = (): Promise<void> => new Promise((done) => log.flush(() => done()));
  log.write("one\n");
  await flushed();
  log.write("two\n");
  await flushed();
  rmdirSync(path);
  log.write("three\n");
  await flushed();
  const [note, line] = readFileSync(path, "utf8").split("\n");
  expect(JSON.parse(note ?? "")).toMatchObject({ level: 40, lost: 2, msg: "log lines were lost" });
  expect(line).toBe("three");
});

it("C1.files lines wait within bounds while the disk is slow", async () => {
  const log = rotatingLogFile(join(dir, "hub.log"));
  const line = `${"x".repeat(99_999)}\n`;
  for (let index = 0; index < 20; index += 1) log.write(line);
  await new Promise<void>((done) => log.flush(() => done()));
  log.write("after\n");
  await new Promise<void>((done) => log.flush(() => done()));
  const text = readFileSync(join(dir, "hub.log"), "utf8");
  expect(text.length).toBeLessThan(1_100_000);
  expect(text).toContain('"lost":10');
  expect(text.endsWith("after\n")).toBe(true);
});

it("C1.files what was on its way to the disk when the process ends is there", async () => {
  const path = join(dir, "hub.log");
  const log = rotatingLogFile(path);
  log.write("on its way\n");
  // The write has begun: the disk has not answered before the next turn of the loop.
  await new Promise((resolve) => setImmediate(resolve));
  log.write("waiting\n");
  log.flushNow();
  expect(readFileSync(path, "utf8")).toBe("on its way\nwaiting\n");
  await new Promise<void>((done) => log.flush(() => done()));
});
