import { PassThrough, Readable, Writable } from "node:stream";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { ndjsonTransport } from "../../../src/transport/ndjson.ts";
import { Recorder } from "../../support/recorder.ts";

const note = (method: string): string => `{"jsonrpc":"2.0","method":"${method}"}`;

/** A writable that keeps its chunks and answers them when told to. */
class HeldWritable extends Writable {
  readonly chunks: string[] = [];
  #release: (() => void) | undefined;

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk.toString("utf8"));
    this.#release = done;
  }

  release(): void {
    this.#release?.();
  }
}

const nextTick = (): Promise<void> => new Promise((resolve) => process.nextTick(resolve));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

test("T2 the messages of one tick are one write", async () => {
  const out = new HeldWritable();
  const transport = ndjsonTransport(new PassThrough(), out);
  transport.send(note("a"));
  transport.send(note("b"));
  transport.send(note("c"));
  expect(transport.bufferedBytes).toBeGreaterThanOrEqual(3 * note("a").length);
  await nextTick();
  expect(out.chunks).toEqual([`${note("a")}\n${note("b")}\n${note("c")}\n`]);
  transport.close();
});

test("B5 onDrain comes once, when the unsent bytes are back under the mark", async () => {
  const out = new HeldWritable();
  const transport = ndjsonTransport(new PassThrough(), out, { highWaterBytes: 60 });
  const recorder = Recorder.on(transport);
  expect(transport.send(note("aaaaaaaaaa"))).toBe(true);
  await nextTick();
  expect(transport.send(note("bbbbbbbbbb"))).toBe(false);
  await nextTick();
  expect(transport.bufferedBytes).toBe(2 * note("aaaaaaaaaa").length + 2);
  out.release();
  await recorder.until(() => recorder.drains === 1);
  expect(transport.bufferedBytes).toBe(note("bbbbbbbbbb").length + 1);
  out.release();
  await nextTick();
  expect(recorder.drains).toBe(1);
});

test("T2 bytes that are not UTF-8 are replaced, and what is no JSON is reported by its length", async () => {
  const input = new PassThrough();
  const recorder = Recorder.on(ndjsonTransport(input, new PassThrough()));
  input.write(
    Buffer.concat([Buffer.from('{"jsonrpc":"2.0","method":"x\xff"}\n', "latin1"), Buffer.from("Debug: ok\n")]),
  );
  input.write("\n\r\n");
  await recorder.until(() => recorder.junk.length === 1);
  expect(recorder.texts).toEqual(['{"jsonrpc":"2.0","method":"x\ufffd"}']);
  expect(recorder.junk[0]?.bytes).toBe("Debug: ok".length);
});

test("T2 a byte order mark some programs begin with is no part of their first message", async () => {
  const input = new PassThrough();
  const recorder = Recorder.on(ndjsonTransport(input, new PassThrough()));
  input.write(`\ufeff${note("first")}\n${note("next")}\n`);
  await recorder.untilFrames(2);
  expect(recorder.texts).toEqual([note("first"), note("next")]);
  expect(recorder.junk).toEqual([]);
});

test("T2 a line over the cap is junk under id null, and the next message arrives", async () => {
  const input = new PassThrough();
  const recorder = Recorder.on(ndjsonTransport(input, new PassThrough(), { maxLineBytes: 100 }));
  input.write(`"${"x".repeat(200)}"\n${note("next")}\n`);
  await recorder.untilFrames(1);
  expect(recorder.junk.map((junk) => [junk.refusal.error.code, junk.refusal.id, junk.bytes])).toEqual([
    [-32600, null, 202],
  ]);
});

test("T2 a line over the shared cap of 64 MiB still reaches the owner", async () => {
  const input = new PassThrough();
  const recorder = Recorder.on(ndjsonTransport(input, new PassThrough()));
  const piece = Buffer.alloc(1_048_576, "x");
  input.write('{"jsonrpc":"2.0","method":"');
  for (let count = 0; count < 65; count += 1) input.write(piece);
  input.write('"}\n');
  await recorder.untilFrames(1);
  expect(recorder.texts[0]?.length).toBe(65 * piece.length + 29);
});

test("T2 the last message before the end counts without a line end, and the end is told after it", async () => {
  const input = new PassThrough();
  const out = new PassThrough();
  const recorder = Recorder.on(ndjsonTransport(input, out));
  input.end(note("last"));
  await recorder.untilClosed();
  expect(recorder.texts).toEqual([note("last")]);
  expect(recorder.closes).toEqual([{ reason: "eof" }]);
  expect(out.writableEnded).toBe(true);
});

test("a broken pipe ends the transport with its error after what the peer had said, and never the process", async () => {
  const input = new PassThrough();
  const epipe = new Error("write EPIPE");
  const out = new Writable({ write: (_chunk, _encoding, done) => done(epipe) });
  const transport = ndjsonTransport(input, out);
  const recorder = Recorder.on(transport);
  transport.send(note("lost"));
  await new Promise((resolve) => out.once("close", resolve));
  expect(transport.send(note("later"))).toBe(false);
  input.write(`${note("said before")}\n`);
  await recorder.untilFrames(1);
  input.end();
  await recorder.untilClosed();
  expect(recorder.closes).toEqual([{ reason: "write-failed", error: epipe }]);
});

test("a peer that takes nothing and says nothing more is given up after the linger time", async () => {
  const out = new PassThrough();
  const recorder = Recorder.on(ndjsonTransport(new PassThrough(), out, { lingerMs: 500 }));
  out.destroy();
  await new Promise((resolve) => out.once("close", resolve));
  vi.advanceTimersByTime(499);
  await nextTick();
  expect(recorder.closes.length).toBe(0);
  vi.advanceTimersByTime(1);
  await recorder.untilClosed();
  expect(recorder.closes[0]?.reason).toBe("write-failed");
});

test("an error of the input before start is kept for start, and errors after close are swallowed", async () => {
  const input = new Readable({ read: () => undefined });
  const broken = new Error("read ECONNRESET");
  const transport = ndjsonTransport(input, new PassThrough());
  input.destroy(broken);
  await new Promise((resolve) => input.once("close", resolve));
  const recorder = Recorder.on(transport);
  await recorder.untilClosed();
  expect(recorder.closes).toEqual([{ reason: "read-failed", error: broken }]);
  input.emit("error", new Error("again"));
  expect(recorder.closes.length).toBe(1);
});
