/**
 * One message channel, whatever carries it: ndjson over byte streams, a WebSocket, or memory. The acceptance suite
 * `test/conformance/transport.suite.ts` is what every implementation has to pass.
 */
import type { Frame, RpcFailure } from "../protocol/envelope.ts";

export interface CloseInfo {
  /** A WebSocket close code where there is one. */
  readonly code?: number;
  /** Short, for logs; never payload. */
  readonly reason: string;
  readonly error?: Error;
}

export interface TransportHandlers {
  /** One well-formed message, in the order it was sent. */
  onFrame(frame: Frame): void;
  /** One message that was no JSON-RPC. The owner decides whether the refusal is sent back; an agent that logs on stdout gets none. */
  onJunk(refusal: RpcFailure, bytes: number): void;
  /** Exactly once, after the last frame, also when this side closed. */
  onClose(info: CloseInfo): void;
  /** `bufferedBytes` is back under the mark after a `send` returned false. */
  onDrain?(): void;
}

export interface Transport {
  /** Starts delivery. Messages that came earlier are delivered first. Called once. */
  start(handlers: TransportHandlers): void;
  /**
   * Queues one message (JSON text without line ends). False when the peer does not keep up: the message is queued all
   * the same, and `onDrain` follows. After close it is dropped and the answer is false.
   */
  send(text: string): boolean;
  /** Bytes accepted by `send` that the peer has not taken. */
  readonly bufferedBytes: number;
  readonly isClosed: boolean;
  /** Stops and goes on reading: the peer's own back-pressure then holds it. */
  pause(): void;
  resume(): void;
  /** Sends what is queued, then ends this side. Safe to call twice. */
  close(info?: CloseInfo): void;
}
