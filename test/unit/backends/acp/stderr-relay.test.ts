import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { StderrRelay } from "../../../../src/backends/acp/stderr-relay.ts";

/** A stderr that may stop taking anything. */
class FakeStderr extends Writable {
  readonly chunks: string[] = [];
  isStuck = false;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk.toString("utf8"));
    if (!this.isStuck) done();
  }
}

const relay = (): { out: FakeStderr; relay: StderrRelay } => {
  const out = new FakeStderr();
  return { out, relay: new StderrRelay(out) };
};

test("T4 only whole lines are passed on, so that they never end up inside a line of ours", () => {
  const { out, relay: stderr } = relay();
  stderr.push(Buffer.from("one\ntw"));
  stderr.push(Buffer.from("o"));
  expect(out.chunks).toEqual(["one\n"]);
  stderr.push(Buffer.from("\nthree"));
  expect(out.chunks).toEqual(["one\n", "two\n"]);
  stderr.end();
  stderr.end();
  expect(out.chunks).toEqual(["one\n", "two\n", "three\n"]);
});

test("T4 when nobody reads our stderr, text is dropped instead of kept", () => {
  const { out, relay: stderr } = relay();
  out.isStuck = true;
  const line = Buffer.from(`${"x".repeat(99_999)}\n`);
  for (let count = 0; count < 100; count += 1) stderr.push(line);
  expect(out.writableLength).toBeLessThan(1_300_000);
});

test("S8 the tail holds the last whole lines, at most 8 KiB of them", () => {
  const { relay: stderr } = relay();
  stderr.push(Buffer.from("short\nmessage\n"));
  expect(stderr.tail).toBe("short\nmessage");
  for (let index = 0; index < 3000; index += 1) stderr.push(Buffer.from(`line ${index} é\n`));
  const lines = stderr.tail.split("\n");
  expect(lines.at(-1)).toBe("line 2999 é");
  expect(lines[0]).toMatch(/^line \d+ é$/);
  expect(Buffer.byteLength(stderr.tail)).toBeLessThanOrEqual(8192);
  expect(lines.length).toBeGreaterThan(500);
});

test("T4 a long last line that went out in pieces gets its line end, too", () => {
  const { out, relay: stderr } = relay();
  stderr.push(Buffer.from("x".repeat(70_000)));
  stderr.end();
  stderr.end();
  expect(out.chunks.join("")).toBe(`${"x".repeat(70_000)}\n`);
});
