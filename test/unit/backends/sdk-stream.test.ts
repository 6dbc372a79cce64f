import { expect, test } from "vitest";
import { sdkStream } from "../../../src/backends/sdk-stream.ts";
import { memoryPair } from "../../../src/transport/memory.ts";
import { Recorder } from "../../support/recorder.ts";

const note = (method: string) => ({ jsonrpc: "2.0" as const, method, params: {} });

test("messages go through as objects, in both directions, and the end is told", async () => {
  const [near, far] = memoryPair();
  const stream = sdkStream(far);
  const recorder = Recorder.on(near);
  near.send(JSON.stringify(note("in")));
  near.close();
  const reader = stream.readable.getReader();
  expect(await reader.read()).toEqual({ done: false, value: note("in") });
  expect((await reader.read()).done).toBe(true);
  await recorder.untilClosed();
});

test("T1 junk is refused to its sender under id null", async () => {
  const [near, far] = memoryPair();
  sdkStream(far);
  const recorder = Recorder.on(near);
  near.send("junk");
  await recorder.untilFrames(1);
  expect(JSON.parse(recorder.texts[0] ?? "")).toMatchObject({ id: null, error: { code: -32700 } });
});

test("B5 a writer waits while the peer does not read", async () => {
  const [near, far] = memoryPair({ highWaterBytes: 100 });
  const writer = sdkStream(far).writable.getWriter();
  const recorder = Recorder.on(near);
  near.pause();
  let written = 0;
  const writes = Array.from({ length: 10 }, (_, index) =>
    writer.write(note(`message-${index}-with-some-length`)).then(() => {
      written += 1;
    }),
  );
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toBeLessThan(3);
  near.resume();
  await Promise.all(writes);
  await recorder.untilFrames(10);
});

test("B5 a reader that does not read holds its peer back", async () => {
  const [near, far] = memoryPair({ highWaterBytes: 100 });
  const stream = sdkStream(far);
  const recorder = Recorder.on(near);
  let accepted = true;
  for (let count = 0; count < 20; count += 1) {
    accepted = near.send(JSON.stringify(note(`m${count}`)));
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(accepted).toBe(false);
  const reader = stream.readable.getReader();
  for (let count = 0; count < 20; count += 1) await reader.read();
  await recorder.until(() => recorder.drains > 0);
});

test("a writer whose peer has gone is let go, and a cancelled reader closes the transport", async () => {
  const [near, far] = memoryPair({ highWaterBytes: 10 });
  const stream = sdkStream(far);
  const recorder = Recorder.on(near);
  near.pause();
  const write = stream.writable.getWriter().write(note("long enough to wait"));
  near.close();
  await write;
  await recorder.untilClosed();
  const [, other] = memoryPair();
  await sdkStream(other).readable.cancel();
  expect(other.isClosed).toBe(true);
});
