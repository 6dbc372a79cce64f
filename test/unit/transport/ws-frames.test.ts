import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { WebSocket, WebSocketServer } from "ws";
import { encodeTextFrame, encodeTextFrames } from "../../../src/transport/ws-frames.ts";

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

/** A real `ws` client, and the raw socket under the server's end. */
async function connected(): Promise<{ client: WebSocket; server: WebSocket; socket: Duplex }> {
  const http = createServer();
  const wss = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  const accepted = new Promise<{ server: WebSocket; socket: Duplex }>((resolve) => {
    http.on("upgrade", (request, socket, head) =>
      wss.handleUpgrade(request, socket, head, (server) => resolve({ server, socket })),
    );
  });
  const client = new WebSocket(`ws://127.0.0.1:${(http.address() as AddressInfo).port}`, { maxPayload: 50_000_000 });
  cleanups.push(async () => {
    client.terminate();
    http.close();
    await once(http, "close");
  });
  await once(client, "open");
  return { client, ...(await accepted) };
}

function collect(client: WebSocket, count: number): Promise<string[]> {
  const texts: string[] = [];
  return new Promise((resolve, reject) => {
    client.on("error", reject);
    client.on("message", (data: Buffer, isBinary) => {
      if (isBinary) reject(new Error("a text frame arrived as binary"));
      texts.push(data.toString("utf8"));
      if (texts.length === count) resolve(texts);
    });
  });
}

test("T1 frames of every header size are read by a ws client, pings and sends between them", async () => {
  const { client, server, socket } = await connected();
  const lengths = [0, 1, 125, 126, 127, 65_535, 65_536, 200_000];
  const texts = lengths.map((length) => "x".repeat(length));
  const seen = collect(client, texts.length * 2 + 1);
  socket.write(encodeTextFrames(texts));
  server.ping();
  server.send("between");
  for (const text of texts) socket.write(encodeTextFrame(text));
  expect(await seen).toEqual([...texts, "between", ...texts]);
});

test("T1 a 20 MB frame and lone surrogates pass a ws client's checks", async () => {
  const { client, socket } = await connected();
  const large = "é\u2028\u{1f680}x".repeat(2_000_000);
  const seen = collect(client, 2);
  socket.write(encodeTextFrames([large, "\ud83d|\ude80"]));
  const [first, second] = await seen;
  expect(first === large).toBe(true);
  expect(second).toBe("\ufffd|\ufffd");
});

/** A reader of unmasked text frames, written from RFC 6455 5.2. */
function decode(frames: Buffer): string[] {
  const texts: string[] = [];
  for (let at = 0; at < frames.length; ) {
    expect(frames[at]).toBe(0x81);
    const short = frames[at + 1] ?? 0;
    const [header, size] =
      short === 127
        ? [10, Number(frames.readBigUInt64BE(at + 2))]
        : short === 126
          ? [4, frames.readUInt16BE(at + 2)]
          : [2, short];
    texts.push(frames.toString("utf8", at + header, at + header + size));
    at += header + size;
  }
  return texts;
}

test("T1 any texts go into one buffer of exactly their size", () => {
  const text = fc.oneof(
    fc.array(fc.nat(0xffff)).map((units) => String.fromCharCode(...units)),
    fc.nat(70_000).map((length) => "é".repeat(length)),
  );
  fc.assert(
    fc.property(fc.array(text, { maxLength: 8 }), (texts) => {
      const frames = encodeTextFrames(texts);
      expect(decode(frames)).toEqual(texts.map((one) => Buffer.from(one).toString()));
      expect(Buffer.concat(texts.map(encodeTextFrame)).equals(frames)).toBe(true);
    }),
    { numRuns: 60 },
  );
});
