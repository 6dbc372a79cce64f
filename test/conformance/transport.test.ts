import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { connect, createServer, type Socket } from "node:net";
import { PassThrough } from "node:stream";
import { WebSocket, WebSocketServer } from "ws";
import { memoryPair } from "../../src/transport/memory.ts";
import { ndjsonTransport } from "../../src/transport/ndjson.ts";
import { webSocketTransport } from "../../src/transport/websocket.ts";
import { type TransportPair, transportSuite } from "./transport.suite.ts";

transportSuite("memory", () => {
  const [near, far] = memoryPair();
  return { near, far, dispose: () => undefined };
});

transportSuite("ndjson pipe", () => {
  const up = new PassThrough();
  const down = new PassThrough();
  return { near: ndjsonTransport(down, up), far: ndjsonTransport(up, down), dispose: () => undefined };
});

transportSuite("ndjson socket", async (): Promise<TransportPair> => {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const accepted = once(server, "connection");
  const near = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await accepted) as [Socket];
  return {
    near: ndjsonTransport(near, near),
    far: ndjsonTransport(far, far),
    dispose: async () => {
      server.close();
      await once(server, "close");
    },
  };
});

transportSuite("WebSocket", async (): Promise<TransportPair> => {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", perMessageDeflate: false });
  await once(server, "listening");
  const accepted = once(server, "connection");
  const near = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const nearTransport = webSocketTransport(near);
  const [far] = (await accepted) as [WebSocket];
  return {
    near: nearTransport,
    far: webSocketTransport(far),
    dispose: async () => {
      server.close();
      await once(server, "close");
    },
  };
});
