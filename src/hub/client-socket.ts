/** One WebSocket of a remote client: frames in and out, its deadline, its pings, its close (contract §4, L4, T1). */
import type { Duplex } from "node:stream";
import type { RawData, WebSocket } from "ws";
import type { Limits } from "../config/config.ts";
import { Outbox } from "../core/fanout/outbox.ts";
import { Connection, type ConnectionSeed } from "../core/mirror/connection.ts";
import { CLOSE, type CloseCode } from "../protocol/close-codes.ts";
import type { Frame, ParsedFrame } from "../protocol/envelope.ts";
import { decodeBinary, readMessages } from "../transport/ws-messages.ts";
import { SocketSink, wsEncoder } from "./socket-sink.ts";
import type { Traffic } from "./traffic.ts";
import { Inbox, type Turns } from "./turns.ts";

/** Where a connection's messages go: one instance's mirror, or the hub-wide router. */
export interface Route {
  add(connection: Connection<Buffer>): void;
  onFrame(connection: Connection<Buffer>, frame: Frame): void;
  remove(connection: Connection<Buffer>): void;
}

export interface ClientSocketEvents {
  readonly limits: Limits;
  /** Of all clients. */
  readonly turns: Turns;
  /** The handshake agreed that large frames may come compressed. */
  readonly takesCompressed: boolean;
  /** When it was opened, in milliseconds that only grow. */
  readonly openedAt: number;
  onClosed(socket: ClientSocket, code: number): void;
}

export class ClientSocket {
  readonly connection: Connection<Buffer>;
  readonly #ws: WebSocket;
  readonly #sink: SocketSink;
  readonly #route: Route;
  readonly #events: ClientSocketEvents;
  readonly #limits: Limits;
  readonly #inbox: Inbox<ParsedFrame>;
  #isClosed = false;
  /** Pings sent since the last pong. */
  #unanswered = 0;
  #stalledAt: number | undefined;
  #writtenAt = 0;
  /** When the credential behind it ends (an external issuer's), or undefined. */
  readonly expiresAt: number | undefined;

  constructor(
    ws: WebSocket,
    socket: Duplex,
    seed: ConnectionSeed,
    route: Route,
    events: ClientSocketEvents,
    expiresAt?: number,
  ) {
    this.#ws = ws;
    this.#route = route;
    this.#events = events;
    this.#limits = events.limits;
    this.expiresAt = expiresAt;
    this.#sink = new SocketSink(ws, socket, events.takesCompressed);
    const limits = { pauseBytes: this.#limits.outboxSoftBytes, hardBytes: this.#limits.outboxHardBytes };
    const outbox = new Outbox(seed.id, this.#sink, wsEncoder, limits, () => setImmediate(() => this.close(CLOSE.slow)));
    this.connection = new Connection(seed, outbox);
    this.#inbox = new Inbox(events.turns, {
      handle: (parsed) => this.#handle(parsed),
      pause: () => ws.pause(),
      resume: () => ws.resume(),
    });
    socket.on("drain", () => this.connection.outbox.onDrain());
    ws.on("message", (data, isBinary) => this.#onMessage(data, isBinary));
    ws.on("pong", () => {
      this.#unanswered = 0;
    });
    ws.on("close", (code) => this.#onClose(code));
    ws.on("error", () => undefined);
    route.add(this.connection);
  }

  get traffic(): Traffic {
    const { catchUpCount, gapCount } = this.connection.outbox;
    return { sent: this.#sink.written, received: this.#sink.received, catchUps: catchUpCount, gaps: gapCount };
  }

  /** Pings, and drops what does not answer or does not read (L4, B5). Called every few seconds; `now` is monotonic. */
  onTick(now: number, isPingDue: boolean): void {
    if (this.expiresAt !== undefined && Date.now() >= this.expiresAt) return this.close(CLOSE.revoked);
    if (!this.connection.isInitialized && now - this.#events.openedAt > this.#limits.initializeMs)
      return this.close(CLOSE.protocol);
    if (isPingDue) {
      if (this.#unanswered >= 2) return this.terminate();
      // A ping behind a full socket would only add to what it does not read. Who was not asked owes no answer: whether it reads at
      // all is for `#checkProgress` to say.
      if (this.#sink.buffered() === 0) {
        this.#unanswered += 1;
        this.#ws.ping();
      }
    }
    return this.#checkProgress(now);
  }

  close(code: CloseCode): void {
    if (this.#isClosed) return;
    // Whoever comes back goes on where it was: what it has said already counts. The others are not served any more.
    if (code !== CLOSE.goingAway) this.#inbox.close();
    this.#ws.close(code.code, code.name);
    // A peer that does not read never answers the close: it is cut off.
    const timer = setTimeout(() => this.terminate(), 2000);
    timer.unref();
  }

  terminate(): void {
    this.#ws.terminate();
  }

  #checkProgress(now: number): void {
    const { written } = this.#sink;
    if (this.#sink.buffered() === 0 || written !== this.#writtenAt) this.#stalledAt = undefined;
    else this.#stalledAt ??= now;
    this.#writtenAt = written;
    if (this.#stalledAt !== undefined && now - this.#stalledAt > this.#limits.outboxStallMs) this.close(CLOSE.slow);
  }

  #onMessage(data: RawData, isBinary: boolean): void {
    // Whoever speaks is there: on a slow link the ping may still lie behind what was sent before it.
    this.#unanswered = 0;
    const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data as Buffer);
    const text = isBinary ? decodeBinary(bytes) : bytes.toString("utf8");
    for (const parsed of readMessages(text)) this.#inbox.take(parsed);
  }

  #handle(parsed: ParsedFrame): void {
    if (this.#isClosed) return;
    if (parsed.ok) this.#route.onFrame(this.connection, parsed.frame);
    else this.connection.outbox.send(JSON.stringify(parsed.reply));
  }

  #onClose(code: number): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#inbox.close();
    this.connection.isGone = true;
    this.connection.outbox.close();
    this.#route.remove(this.connection);
    this.#events.onClosed(this, code);
  }
}
