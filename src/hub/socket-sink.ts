/**
 * Writes shared frames straight to the upgrade's socket: encoded once per tick, one write per client (budgets §7). Whole frames
 * only, and only while the WebSocket is open, so that they interleave with the library's own control frames.
 */
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { WebSocket } from "ws";
import type { Encoder } from "../core/fanout/feed.ts";
import type { Sink } from "../core/fanout/outbox.ts";
import { compressedFrames } from "../transport/ws-compression.ts";
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
  readonly #takesCompressed: boolean;

  /** `takesCompressed`: what the handshake agreed on (`transport/ws-compression.ts`). */
  constructor(ws: WebSocket, socket: Duplex, takesCompressed: boolean) {
    this.#ws = ws;
    this.#socket = socket;
    this.#takesCompressed = takesCompressed;
  }

  write(encoded: Buffer): void {
    if (this.#ws.readyState !== WebSocket.OPEN) return;
    this.#socket.write(this.#takesCompressed ? compressedFrames(encoded) : encoded);
  }

  buffered(): number {
    return this.#socket.writableLength;
  }

  /** Bytes the kernel gave so far. */
  get received(): number {
    return (this.#socket as Socket).bytesRead ?? 0;
  }

  /** Bytes the kernel took so far: progress, for telling a slow client from a dead one. */
  get written(): number {
    return (this.#socket as Socket).bytesWritten ?? 0;
  }
}
