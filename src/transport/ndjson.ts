/**
 * Newline-delimited JSON over byte streams: an agent's pipes, an editor's stdio, the link's local socket. On the path an
 * editor waits for, so it imports nothing but the protocol.
 */
import type { Readable, Writable } from "node:stream";
import { parseFrame } from "../protocol/envelope.ts";
import { RPC } from "../protocol/errors.ts";
import { PIPE_LINE_BYTES } from "../protocol/limits.ts";
import { LineSplitter } from "./line-splitter.ts";
import type { CloseInfo, Transport, TransportHandlers } from "./transport.ts";

export interface NdjsonOptions {
  /**
   * A longer line is skipped and reported as junk. The default lies well over `LIMITS.agentLineBytes`: what is too large
   * to share still reaches the editor (T2), and this only bounds memory against a stream that never ends its line.
   */
  readonly maxLineBytes?: number;
  /** `send` answers false above this many unsent bytes. */
  readonly highWaterBytes?: number;
  /** After `close` or a failed write, how long a silent peer may keep a socket open. */
  readonly lingerMs?: number;
}

const LF = 0x0a;
/** What some programs begin their output with: left in, their first message would be lost, which is their initialize. */
const BYTE_ORDER_MARK = 0xfeff;
const HIGH_WATER_BYTES = 1_048_576;
const LINGER_MS = 1000;

/**
 * Speaks over `readable` and `writable` (the same object for a socket). Takes their errors upon itself: a broken pipe
 * ends the transport and never the process. The streams of a child stay its owner's to destroy; a socket is destroyed
 * once both sides are done.
 */
export function ndjsonTransport(readable: Readable, writable: Writable, options: NdjsonOptions = {}): Transport {
  return new NdjsonTransport(readable, writable, options);
}

class NdjsonTransport implements Transport {
  readonly #readable: Readable;
  readonly #writable: Writable;
  readonly #highWaterBytes: number;
  readonly #lingerMs: number;
  readonly #splitter: LineSplitter;
  #handlers: TransportHandlers | undefined;
  /** Set once this side is closed; reported once there are handlers. */
  #closeInfo: CloseInfo | undefined;
  #isCloseReported = false;
  /** Why writing failed; what the peer said before is still read then. */
  #writeError: Error | undefined;
  #batch: string[] = [];
  #batchBytes = 0;
  #isBlocked = false;
  #lingerTimer: NodeJS.Timeout | undefined;

  constructor(readable: Readable, writable: Writable, options: NdjsonOptions) {
    this.#readable = readable;
    this.#writable = writable;
    this.#highWaterBytes = options.highWaterBytes ?? HIGH_WATER_BYTES;
    this.#lingerMs = options.lingerMs ?? LINGER_MS;
    this.#splitter = new LineSplitter(
      { onLine: (line) => this.#onLine(line), onOversize: (bytes) => this.#onOversize(bytes) },
      options.maxLineBytes ?? PIPE_LINE_BYTES,
    );
    // Before start too: an error without a listener would end the process.
    readable.on("error", (error) => this.#finish({ reason: "read-failed", error }));
    if ((readable as unknown) !== writable) writable.on("error", (error) => this.#onWriteError(error));
    writable.on("close", () => this.#onWritableClose());
  }

  get isClosed(): boolean {
    return this.#closeInfo !== undefined;
  }

  get bufferedBytes(): number {
    return this.#batchBytes + this.#writable.writableLength;
  }

  start(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    this.#readable.on("data", (chunk: Buffer) => {
      if (!this.isClosed) this.#splitter.push(chunk);
    });
    this.#readable.on("end", () => this.#onEnd());
    // A stream destroyed without an error gives no end.
    this.#readable.on("close", () => this.#finish({ reason: "eof" }));
    if (this.#readable.destroyed) this.#finish({ reason: "eof" });
    if (this.isClosed) process.nextTick(() => this.#reportClose());
  }

  send(text: string): boolean {
    if (this.isClosed || this.#writeError !== undefined) return false;
    if (this.#batch.length === 0) process.nextTick(() => this.#flush());
    this.#batch.push(text);
    // An estimate for this tick: the exact count costs a pass over the text, and the stream knows it a moment later.
    this.#batchBytes += text.length + 1;
    if (this.bufferedBytes <= this.#highWaterBytes) return true;
    this.#isBlocked = true;
    return false;
  }

  pause(): void {
    this.#readable.pause();
  }

  resume(): void {
    this.#readable.resume();
  }

  close(info: CloseInfo = { reason: "closed" }): void {
    this.#finish(info);
  }

  #flush(): void {
    if (this.#batch.length === 0) return;
    const lines = this.#batch;
    this.#batch = [];
    this.#batchBytes = 0;
    if (this.#writable.writable) this.#writable.write(encodeLines(lines), () => this.#onWritten());
  }

  #onWritten(): void {
    if (!this.#isBlocked || this.isClosed || this.bufferedBytes > this.#highWaterBytes) return;
    this.#isBlocked = false;
    this.#handlers?.onDrain?.();
  }

  #onLine(line: Buffer): void {
    if (this.isClosed) return;
    // Bytes that are no UTF-8 become U+FFFD here: a text frame that holds them would close every browser.
    const text = line.toString("utf8");
    const parsed = parseFrame(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
    if (parsed.ok) this.#handlers?.onFrame(parsed.frame);
    else this.#handlers?.onJunk(parsed.reply, line.length);
  }

  #onOversize(bytes: number): void {
    if (this.isClosed) return;
    const error = { code: RPC.invalidRequest, message: "Invalid request: the message is too large" };
    this.#handlers?.onJunk({ jsonrpc: "2.0", id: null, error }, bytes);
  }

  #onEnd(): void {
    if (!this.isClosed) this.#splitter.end();
    this.#finish(this.#writeError === undefined ? { reason: "eof" } : writeFailed(this.#writeError));
  }

  /** The peer takes nothing more. What it said before is still in the pipe, so reading goes on, for a bounded time. */
  #onWriteError(error: Error): void {
    if (this.isClosed || this.#writeError !== undefined) return;
    this.#writeError = error;
    this.#batch = [];
    this.#batchBytes = 0;
    this.#linger(() => this.#finish(writeFailed(error)));
  }

  #onWritableClose(): void {
    if ((this.#readable as unknown) === this.#writable) this.#finish({ reason: "eof" });
    else this.#onWriteError(new Error("the peer's input is closed"));
  }

  #finish(info: CloseInfo): void {
    if (this.isClosed) return;
    this.#flush();
    this.#closeInfo = info;
    clearTimeout(this.#lingerTimer);
    if (this.#writable.writable) this.#writable.end();
    // What still comes is thrown away: a peer blocked on a full pipe could not end.
    this.#readable.resume();
    this.#releaseSocket();
    if (this.#handlers !== undefined) process.nextTick(() => this.#reportClose());
  }

  /** Pipes belong to the child's owner. A socket is ours: a peer that never ends its side must not keep it for ever. */
  #releaseSocket(): void {
    if ((this.#readable as unknown) !== this.#writable || this.#readable.destroyed) return;
    this.#linger(() => this.#readable.destroy());
    this.#readable.once("close", () => clearTimeout(this.#lingerTimer));
  }

  #linger(then: () => void): void {
    clearTimeout(this.#lingerTimer);
    this.#lingerTimer = setTimeout(then, this.#lingerMs);
    this.#lingerTimer.unref();
  }

  #reportClose(): void {
    if (this.#closeInfo === undefined || this.#isCloseReported) return;
    this.#isCloseReported = true;
    this.#handlers?.onClose(this.#closeInfo);
  }
}

/** Written into one buffer of their size: joined, they would be copied twice more, and a stream writes long strings slowly. */
function encodeLines(lines: readonly string[]): Buffer {
  let size = lines.length;
  for (const line of lines) size += Buffer.byteLength(line, "utf8");
  const out = Buffer.allocUnsafe(size);
  let at = 0;
  for (const line of lines) {
    at += out.write(line, at, "utf8");
    out[at] = LF;
    at += 1;
  }
  return out;
}

const writeFailed = (error: Error): CloseInfo => ({ reason: "write-failed", error });
