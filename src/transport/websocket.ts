/** A client's end of a WebSocket, over the `ws` package's object or a runtime's own. The hub's end frames by itself. */
import { CLOSE } from "../protocol/close-codes.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { CloseInfo, Transport, TransportHandlers } from "./transport.ts";
import { decodeBinary, readMessages } from "./ws-messages.ts";

/** What both kinds of socket offer. */
export interface WebSocketLike {
  readonly readyState: number;
  readonly bufferedAmount: number;
  binaryType: string;
  send(data: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: "open", listener: () => void): void;
  addEventListener(type: "message", listener: (event: { data: unknown }) => void): void;
  addEventListener(type: "close", listener: (event: { code: number; reason: string }) => void): void;
  addEventListener(type: "error", listener: (event: { message?: string }) => void): void;
  /** Of `ws` only: stops reading the socket, so that the peer is held back. */
  pause?(): void;
  resume?(): void;
}

export interface WebSocketOptions {
  /** A larger message closes the socket with 1009. Set the same limit on the socket where it can be set. */
  readonly maxPayloadBytes?: number;
  /** `send` answers false above this many unsent bytes. */
  readonly highWaterBytes?: number;
}

const CONNECTING = 0;
const OPEN = 1;
const HIGH_WATER_BYTES = 1_048_576;
/** No WebSocket API tells when its buffer has drained, so it is looked at while somebody waits. */
const DRAIN_CHECK_MS = 20;

/** Takes a socket that is opening or open. Messages sent before it is open go out when it is. */
export function webSocketTransport(socket: WebSocketLike, options: WebSocketOptions = {}): Transport {
  return new WebSocketTransport(socket, options);
}

class WebSocketTransport implements Transport {
  readonly #socket: WebSocketLike;
  readonly #maxPayloadBytes: number;
  readonly #highWaterBytes: number;
  #handlers: TransportHandlers | undefined;
  #closeInfo: CloseInfo | undefined;
  /** True from our own close on: what still comes is thrown away. */
  #isDropping = false;
  #lastError: Error | undefined;
  #unopened: string[] = [];
  #unopenedBytes = 0;
  #drainTimer: ReturnType<typeof setTimeout> | undefined;
  /** Messages that came before `start`, or while paused on a socket that cannot be. */
  #held: string[] = [];
  #heldBytes = 0;
  #isPaused = false;

  constructor(socket: WebSocketLike, options: WebSocketOptions) {
    this.#socket = socket;
    this.#maxPayloadBytes = options.maxPayloadBytes ?? LIMITS.remoteFrameBytes;
    this.#highWaterBytes = options.highWaterBytes ?? HIGH_WATER_BYTES;
    socket.binaryType = "arraybuffer";
    socket.addEventListener("open", () => this.#onOpen());
    socket.addEventListener("message", (event) => this.#onMessage(event.data));
    socket.addEventListener("error", (event) => {
      // The close event that follows carries no cause.
      this.#lastError = new Error(event.message ?? "the WebSocket failed");
    });
    socket.addEventListener("close", (event) => this.#onClose(event.code, event.reason));
  }

  get isClosed(): boolean {
    return this.#closeInfo !== undefined;
  }

  get bufferedBytes(): number {
    return this.#unopenedBytes + this.#socket.bufferedAmount;
  }

  start(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    queueMicrotask(() => this.#deliverHeld());
  }

  send(text: string): boolean {
    if (this.isClosed) return false;
    if (this.#socket.readyState === CONNECTING) {
      this.#unopened.push(text);
      this.#unopenedBytes += text.length;
    } else if (this.#socket.readyState === OPEN) this.#socket.send(text);
    else return false;
    if (this.bufferedBytes <= this.#highWaterBytes) return true;
    this.#watchDrain();
    return false;
  }

  pause(): void {
    this.#isPaused = true;
    this.#socket.pause?.();
  }

  resume(): void {
    this.#isPaused = false;
    this.#socket.resume?.();
    queueMicrotask(() => this.#deliverHeld());
  }

  close(info: CloseInfo = { reason: "closed" }): void {
    if (this.isClosed) return;
    this.#closeInfo = info;
    this.#isDropping = true;
    this.#held = [];
    this.#heldBytes = 0;
    clearTimeout(this.#drainTimer);
    // A paused socket would never read the peer's close frame.
    this.#socket.resume?.();
    // What waits for the opening still goes out; the dialler's own handshake timeout bounds that.
    if (this.#unopened.length === 0) this.#closeSocket(info);
    queueMicrotask(() => this.#reportClose());
  }

  /** A runtime's own socket takes 1000 and 3000 to 4999 only; the peer then learns that it is over, not why. */
  #closeSocket(info: CloseInfo): void {
    try {
      this.#socket.close(info.code ?? CLOSE.normal.code, info.reason);
    } catch {
      this.#socket.close();
    }
  }

  #onOpen(): void {
    for (const text of this.#unopened) this.#socket.send(text);
    this.#unopened = [];
    this.#unopenedBytes = 0;
    if (this.#closeInfo !== undefined) this.#closeSocket(this.#closeInfo);
  }

  #onMessage(data: unknown): void {
    if (this.isClosed) return;
    const text = textOf(data);
    if (text.length > this.#maxPayloadBytes) {
      this.close({ code: CLOSE.tooBig.code, reason: CLOSE.tooBig.name });
      return;
    }
    this.#held.push(text);
    this.#heldBytes += text.length;
    this.#deliverHeld();
    // The bound of a socket that cannot be paused: its owner may dial again and resume by cursor.
    if (this.#heldBytes > this.#maxPayloadBytes) this.close({ code: CLOSE.slow.code, reason: CLOSE.slow.name });
  }

  #deliverHeld(): void {
    const handlers = this.#handlers;
    if (handlers === undefined) return;
    while (this.#held.length > 0 && !this.#isPaused) {
      const text = this.#held.shift() ?? "";
      this.#heldBytes -= text.length;
      this.#deliver(handlers, text);
    }
    if (this.#held.length === 0) this.#reportClose();
  }

  #deliver(handlers: TransportHandlers, text: string): void {
    for (const parsed of readMessages(text)) {
      if (this.#isDropping) return;
      if (parsed.ok) handlers.onFrame(parsed.frame);
      else handlers.onJunk(parsed.reply, text.length);
    }
  }

  #onClose(code: number, reason: string): void {
    if (this.isClosed) return;
    clearTimeout(this.#drainTimer);
    const error = this.#lastError;
    this.#closeInfo = { code, reason: reason === "" ? "eof" : reason, ...(error === undefined ? {} : { error }) };
    this.#deliverHeld();
  }

  #reportClose(): void {
    if (this.#closeInfo === undefined || this.#handlers === undefined) return;
    const handlers = this.#handlers;
    this.#handlers = undefined;
    handlers.onClose(this.#closeInfo);
  }

  #watchDrain(): void {
    clearTimeout(this.#drainTimer);
    this.#drainTimer = setTimeout(() => {
      if (this.isClosed) return;
      if (this.bufferedBytes > this.#highWaterBytes) this.#watchDrain();
      else this.#handlers?.onDrain?.();
    }, DRAIN_CHECK_MS);
  }
}

function textOf(data: unknown): string {
  if (typeof data === "string") return data;
  // `binaryType` makes every binary message one of these.
  return data instanceof ArrayBuffer ? decodeBinary(new Uint8Array(data)) : "";
}
