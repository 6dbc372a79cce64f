/**
 * Writes shared frames straight to the upgrade's socket: encoded once per tick, one write per client (budgets §7). Whole frames
 * only, and only while the WebSocket is open, so that they interleave with the library's own control frames.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import type { Encoder } from "../core/fanout/feed.ts";
import type { Sink } from "../core/fanout/outbox.ts";
import { encodeTextFrames } from "../transport/ws-frames.ts";

export const wsEncoder: Encoder<Buffer> = {
  encode(texts) {
    const encoded = encodeTextFrames(texts);
    return { encoded, bytes: encoded.length };
  },
};

export class SocketSink implements Sink<Buffer> {
  readonly #ws: WebSocket;
  readonly #socket: Duplex;

  constructor(ws: WebSocket, socket: Duplex) {
    this.#ws = ws;
    this.#socket = socket;
  }

  write(encoded: Buffer): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#socket.write(encoded);
  }

  buffered(): number {
    return this.#socket.writableLength;
  }

  /** Bytes the kernel took so far: progress, for telling a slow client from a dead one. */
  get written(): number {
    return (this.#socket as Socket).bytesWritten ?? 0;
  }
}
