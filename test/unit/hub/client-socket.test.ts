import { EventEmitter } from "node:events";
import type { Duplex } from "node:stream";
import { expect, test } from "vitest";
import type { WebSocket } from "ws";
import { ClientSocket } from "../../../src/hub/client-socket.ts";
import { Turns } from "../../../src/hub/turns.ts";
import { connectionId } from "../../../src/protocol/ids.ts";
import { LIMITS } from "../../../src/protocol/limits.ts";

const PING_MS = LIMITS.pingMs;

/** A socket whose kernel takes what the test says, and a WebSocket that notes what is done to it. */
function slowSocket() {
  const socket = Object.assign(new EventEmitter(), { writableLength: 0, bytesWritten: 0, bytesRead: 0 });
  const done: string[] = [];
  const ws = Object.assign(new EventEmitter(), {
    ping: () => done.push("ping"),
    close: (code: number) => done.push(`close ${code}`),
    terminate: () => done.push("terminate"),
  });
  const route = { add: () => undefined, onFrame: () => undefined, remove: () => undefined };
  const seed = { id: connectionId("c"), device: "d", name: "phone", scopes: new Set<never>() };
  const events = { turns: new Turns(), limits: LIMITS, takesCompressed: false, openedAt: 0, onClosed: () => undefined };
  const client = new ClientSocket(ws as unknown as WebSocket, socket as unknown as Duplex, seed, route, events);
  client.connection.isInitialized = true;
  let now = 0;
  /** A ping falls due `count` times; `onDue` stands for what the other end did until then. */
  const due = (count: number, onDue: () => void): string[] => {
    const before = done.length;
    for (let times = 0; times < count; times += 1) {
      now += PING_MS;
      onDue();
      client.onTick(now, true);
    }
    return done.slice(before);
  };
  return { socket, ws, due };
}

test("L4 B5 who reads slowly and is never asked for a pong is not dropped for owing one", () => {
  const { socket, due } = slowSocket();
  const reads = (): void => {
    socket.writableLength = 200_000;
    socket.bytesWritten += 1_000_000;
  };
  expect(due(20, reads)).toEqual([]);
});

test("L4 one that has read everything and then answers no ping is dropped after two", () => {
  const { socket, due } = slowSocket();
  due(5, () => {
    socket.writableLength = 200_000;
    socket.bytesWritten += 1_000_000;
  });
  expect(due(3, () => (socket.writableLength = 0))).toEqual(["ping", "ping", "terminate"]);
});

test("L4 one that speaks is there, though its pongs are still on their way", () => {
  const { ws, due } = slowSocket();
  expect(due(6, () => ws.emit("message", Buffer.from("{}"), false))).toEqual(Array(6).fill("ping"));
  expect(due(3, () => undefined)).toEqual(["ping", "terminate", "terminate"]);
});

test("B5 one that takes nothing at all is closed as slow, with a code that says resume", () => {
  const { socket, due } = slowSocket();
  expect(due(4, () => (socket.writableLength = 200_000))).toContain("close 1013");
});
