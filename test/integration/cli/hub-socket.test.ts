import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { HubSocket, type SocketEnd } from "../../../src/cli/attach/hub-socket.ts";
import { ManualClock } from "../../support/manual-clock.ts";

let server: WebSocketServer;
let clock: ManualClock;
let socket: HubSocket;
let ends: SocketEnd[];

/** A hub that takes the connection and never says a word. */
beforeEach(async () => {
  server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  await once(server, "listening");
  clock = new ManualClock();
  ends = [];
  await new Promise<void>((resolve) => {
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const events = { onOpen: resolve, onText: () => undefined, onEnd: (end: SocketEnd) => void ends.push(end) };
    socket = new HubSocket({ url, protocols: [] }, events, clock);
  });
});
afterEach(async () => {
  socket.close();
  for (const client of server.clients) client.terminate();
  await new Promise((resolve) => server.close(resolve));
});

it("L4 a hub that misses its pings is taken for gone", async () => {
  await clock.advance(60_000);
  expect(ends).toEqual([]);
  await clock.advance(30_000);
  expect(ends).toEqual([{ code: 1006, words: "the hub went silent" }]);
});

it("L4 C6.limits one that says it pings every ten minutes is waited for as long", async () => {
  socket.expectPings(600_000);
  await clock.advance(1_400_000);
  expect(ends).toEqual([]);
  await clock.advance(200_000);
  expect(ends).toEqual([{ code: 1006, words: "the hub went silent" }]);
});
