/** Two transports joined in memory: for agents that live in this process, and for tests. */
import { parseFrame } from "../protocol/envelope.ts";
import type { CloseInfo, Transport, TransportHandlers } from "./transport.ts";

export interface MemoryOptions {
  /** `send` answers false above this many characters under way. */
  readonly highWaterBytes?: number;
}

const HIGH_WATER_BYTES = 1_048_576;

/** A linked pair: what one side sends arrives at the other in order, never within the same call. */
export function memoryPair(options: MemoryOptions = {}): [Transport, Transport] {
  const left = new MemoryTransport(options.highWaterBytes ?? HIGH_WATER_BYTES);
  const right = new MemoryTransport(options.highWaterBytes ?? HIGH_WATER_BYTES);
  left.join(right);
  right.join(left);
  return [left, right];
}

class MemoryTransport implements Transport {
  readonly #highWaterBytes: number;
  #peer: MemoryTransport | undefined;
  #handlers: TransportHandlers | undefined;
  /** What the peer sent and this side has not delivered. The peer's bound, not ours: its `send` says when to stop. */
  #inbox: string[] = [];
  #inboxBytes = 0;
  #isPaused = false;
  #isScheduled = false;
  /** True when the peer was told to wait and is owed an `onDrain`. */
  #owesDrain = false;
  #peerClosed = false;
  #closeInfo: CloseInfo | undefined;

  constructor(highWaterBytes: number) {
    this.#highWaterBytes = highWaterBytes;
  }

  join(peer: MemoryTransport): void {
    this.#peer = peer;
  }

  get isClosed(): boolean {
    return this.#closeInfo !== undefined;
  }

  get bufferedBytes(): number {
    return this.#peer?.waitingBytes ?? 0;
  }

  get waitingBytes(): number {
    return this.#inboxBytes;
  }

  start(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    this.#schedule();
  }

  send(text: string): boolean {
    if (this.isClosed || this.#peer === undefined) return false;
    return this.#peer.receive(text);
  }

  /** Called by the peer. */
  receive(text: string): boolean {
    // This side closed and the peer has not heard of it yet.
    if (this.isClosed) return false;
    this.#inbox.push(text);
    this.#inboxBytes += text.length;
    this.#schedule();
    if (this.#inboxBytes <= this.#highWaterBytes) return true;
    this.#owesDrain = true;
    return false;
  }

  pause(): void {
    this.#isPaused = true;
  }

  resume(): void {
    this.#isPaused = false;
    this.#schedule();
  }

  close(info: CloseInfo = { reason: "closed" }): void {
    if (this.isClosed) return;
    this.#closeInfo = info;
    this.#inbox = [];
    this.#inboxBytes = 0;
    this.#schedule();
    this.#peer?.onPeerClosed();
  }

  onPeerClosed(): void {
    this.#peerClosed = true;
    this.#schedule();
  }

  #schedule(): void {
    if (this.#isScheduled || this.#handlers === undefined) return;
    this.#isScheduled = true;
    queueMicrotask(() => {
      this.#isScheduled = false;
      this.#deliver();
    });
  }

  #deliver(): void {
    const handlers = this.#handlers;
    if (handlers === undefined) return;
    // Only what is here now: a handler that always answers would keep this loop, and the process, busy for ever.
    for (let count = this.#inbox.length; count > 0 && !this.#isPaused && !this.isClosed; count -= 1) {
      const text = this.#inbox.shift();
      if (text === undefined) break;
      this.#inboxBytes -= text.length;
      const parsed = parseFrame(text);
      if (parsed.ok) handlers.onFrame(parsed.frame);
      else handlers.onJunk(parsed.reply, text.length);
    }
    if (this.#owesDrain && this.#inboxBytes <= this.#highWaterBytes) {
      this.#owesDrain = false;
      this.#peer?.onDrained();
    }
    if (this.#inbox.length > 0 && !this.#isPaused) this.#schedule();
    else this.#reportClose(handlers);
  }

  onDrained(): void {
    if (!this.isClosed) this.#handlers?.onDrain?.();
  }

  #reportClose(handlers: TransportHandlers): void {
    if (!this.isClosed && this.#peerClosed && this.#inbox.length === 0) this.#closeInfo = { reason: "eof" };
    if (this.#closeInfo === undefined) return;
    this.#handlers = undefined;
    handlers.onClose(this.#closeInfo);
  }
}
