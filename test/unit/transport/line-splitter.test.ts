import fc from "fast-check";
import { expect, test } from "vitest";
import { LineSplitter } from "../../../src/transport/line-splitter.ts";

/** Feeds `bytes` in pieces of the given sizes, used round and round. */
function split(bytes: Buffer, sizes: readonly number[], maxLineBytes = 1_000_000) {
  const lines: string[] = [];
  const oversize: number[] = [];
  const splitter = new LineSplitter(
    { onLine: (line) => lines.push(line.toString("utf8")), onOversize: (size) => oversize.push(size) },
    maxLineBytes,
  );
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    splitter.push(Buffer.from(bytes.subarray(at, at + size)));
    at += size;
  }
  splitter.end();
  return { lines, oversize };
}

/** Any UTF-16, lone surrogates too, without line ends. */
const text = fc
  .array(fc.nat(0xffff), { maxLength: 30 })
  .map((units) => String.fromCharCode(...units).replace(/[\r\n]/g, "\u2028\u0085"));
const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 20 });

test("T2 any chunking gives the same lines", () => {
  fc.assert(
    fc.property(fc.array(text), sizes, fc.constantFrom("\n", "\r\n"), (lines, chunkSizes, end) => {
      const bytes = Buffer.from(lines.map((line) => line + end).join(""));
      const expected = lines.filter((line) => line.length > 0).map((line) => Buffer.from(line).toString("utf8"));
      expect(split(bytes, chunkSizes).lines).toEqual(expected);
      expect(split(bytes, [bytes.length]).lines).toEqual(expected);
    }),
  );
});

test("T2 a frame split in 1-byte chunks arrives whole", () => {
  const line = `{"text":"é漢\u{1f680}\u2028\u0085\u2029"}`;
  expect(split(Buffer.from(`${line}\r\n${line}\n`), [1]).lines).toEqual([line, line]);
});

test("T2 a last line without a line end counts", () => {
  expect(split(Buffer.from("a\nb"), [2]).lines).toEqual(["a", "b"]);
  expect(split(Buffer.from("a\nb\r"), [2]).lines).toEqual(["a", "b"]);
});

test("T2 a carriage return inside a line is part of it", () => {
  expect(split(Buffer.from("a\rb\r\r\n"), [1]).lines).toEqual(["a\rb\r"]);
});

test("T2 a line over the cap is reported with its size and skipped, and the next one is read", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 30 })), sizes, (lengths, chunkSizes) => {
      const bytes = Buffer.from(lengths.map((length) => `${"x".repeat(length)}\r\n`).join(""));
      const { lines, oversize } = split(bytes, chunkSizes, 10);
      expect(lines.map((line) => line.length)).toEqual(lengths.filter((length) => length <= 10));
      // The carriage return of a skipped line may be counted with it.
      const skipped = lengths.filter((length) => length > 10);
      expect(oversize.length).toBe(skipped.length);
      for (const [index, length] of skipped.entries()) expect([length, length + 1]).toContain(oversize[index]);
    }),
  );
});

test("T2 an oversize line that never ends is reported when the stream does", () => {
  expect(split(Buffer.from("x".repeat(5000)), [7], 100).oversize).toEqual([5000]);
});

test("T2 a 20 MB line costs one pass, whatever the size of its chunks", () => {
  const line = "z".repeat(20_000_000);
  const bytes = Buffer.from(`${line}\n`);
  // Searching the whole partial line again for every chunk would take hours at this size: the timeout is the assertion.
  expect(split(bytes, [100, 1, 7], 30_000_000).lines[0] === line).toBe(true);
  expect(split(bytes, [65_536], 30_000_000).lines[0] === line).toBe(true);
});

test("T2 lines over the cap are not held: what is kept stays under the cap", () => {
  const before = process.memoryUsage().arrayBuffers;
  const splitter = new LineSplitter({ onLine: () => undefined, onOversize: () => undefined }, 1024);
  const chunk = Buffer.alloc(65_536, "x");
  for (let count = 0; count < 2000; count += 1) splitter.push(chunk);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000);
});
