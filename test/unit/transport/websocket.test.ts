import { afterEach, expect, test, vi } from "vitest";
import { type WebSocketLike, webSocketTransport } from "../../../src/transport/websocket.ts";
import { Recorder } from "../../support/recorder.ts";

type Listener = (event: never) => void;

/** A runtime's own socket: cannot be paused, takes few close codes, has no drain event. */
class FakeSocket implements WebSocketLike {
  readyState = 1;
  bufferedAmount = 0;
  binaryType = "blob";
  readonly sent: string[] = [];
  readonly closed: (number | undefined)[] = [];
  readonly #listeners = new Map<string, Listener>();

  addEventListener(type: string, listener: Listener): void {
    this.#listeners.set(type, listener);
  }

  send(data: string): void {
    this.sent.push(data);
  }

  close(code?: number): void {
    if (code !== undefined && code !== 1000 && code < 3000) throw new Error("InvalidAccessError");
    this.closed.push(code);
  }

  emit(type: string, event: object): void {
    this.#listeners.get(type)?.(event as never);
  }

  message(data: unknown): void {
    this.emit("message", { data });
  }
}

const note = (method: string): string => `{"jsonrpc":"2.0","method":"${method}"}`;

afterEach(() => {
  vi.useRealTimers();
});

test("T1 binary frames are read like text frames", () => {
  const socket = new FakeSocket();
  const recorder = Recorder.on(webSocketTransport(socket));
  expect(socket.binaryType).toBe("arraybuffer");
  const bytes = new TextEncoder().encode(`${note("a")}\n${note("b")}\n`);
  socket.message(bytes.buffer);
  expect(recorder.texts).toEqual([note("a"), note("b")]);
});

test("messages sent while the socket opens go out when it is open, before a close that came meanwhile", () => {
  const socket = new FakeSocket();
  socket.readyState = 0;
  const transport = webSocketTransport(socket);
  expect(transport.send(note("early"))).toBe(true);
  expect(transport.bufferedBytes).toBe(note("early").length);
  transport.close();
  expect(socket.closed).toEqual([]);
  socket.readyState = 1;
  socket.emit("open", {});
  expect(socket.sent).toEqual([note("early")]);
  expect(socket.closed).toEqual([1000]);
});

test("while paused, messages of a socket that cannot be paused are held, in order and within a bound", async () => {
  const socket = new FakeSocket();
  const transport = webSocketTransport(socket, { maxPayloadBytes: 1000 });
  const recorder = Recorder.on(transport);
  transport.pause();
  socket.message(note("a"));
  socket.message(note("b"));
  expect(recorder.texts).toEqual([]);
  transport.resume();
  await recorder.untilFrames(2);
  expect(recorder.texts).toEqual([note("a"), note("b")]);
  transport.pause();
  for (let count = 0; count < 40; count += 1) socket.message(note("flood"));
  await recorder.untilClosed();
  expect(recorder.closes).toEqual([{ code: 1013, reason: "slow" }]);
});

test("C4.close-codes a message over the limit closes the socket as too big", async () => {
  const socket = new FakeSocket();
  const recorder = Recorder.on(webSocketTransport(socket, { maxPayloadBytes: 100 }));
  socket.message(note("x".repeat(200)));
  await recorder.untilClosed();
  expect(recorder.closes).toEqual([{ code: 1009, reason: "too-big" }]);
  // The code itself is refused by this kind of socket; it is closed all the same.
  expect(socket.closed).toEqual([undefined]);
});

test("C4.close-codes the peer's close code, reason and error reach the owner", async () => {
  const socket = new FakeSocket();
  const recorder = Recorder.on(webSocketTransport(socket));
  socket.emit("error", { message: "boom" });
  socket.emit("close", { code: 4401, reason: "revoked" });
  await recorder.untilClosed();
  expect(recorder.closes).toMatchObject([{ code: 4401, reason: "revoked", error: { message: "boom" } }]);
});

test("B5 a socket without a drain event is looked at until it has drained", () => {
  vi.useFakeTimers();
  const socket = new FakeSocket();
  const transport = webSocketTransport(socket, { highWaterBytes: 100 });
  const recorder = Recorder.on(transport);
  socket.bufferedAmount = 500;
  expect(transport.send(note("a"))).toBe(false);
  vi.advanceTimersByTime(1000);
  expect(recorder.drains).toBe(0);
  socket.bufferedAmount = 50;
  vi.advanceTimersByTime(20);
  expect(recorder.drains).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});
