/** A backend that writes down what passes between bridge and agent: what the agent got is what its process was sent. */
import type { Backend } from "../../../src/backends/backend.ts";
import type { RpcId } from "../../../src/protocol/envelope.ts";
import { isObject, type JsonObject } from "../../../src/protocol/json.ts";
import type { Transport, TransportHandlers } from "../../../src/transport/transport.ts";

export class Tap implements Backend {
  readonly name: string;
  readonly seesCapabilitiesLive: boolean;
  readonly exited: Backend["exited"];
  /** Messages the agent was sent, in order. */
  readonly sent: JsonObject[] = [];
  /** Messages it sent. */
  readonly received: JsonObject[] = [];
  readonly #inner: Backend;

  constructor(inner: Backend) {
    this.#inner = inner;
    this.name = inner.name;
    this.seesCapabilitiesLive = inner.seesCapabilitiesLive;
    this.exited = inner.exited;
  }

  start(): Transport {
    return new TappedTransport(this.#inner.start(), this);
  }

  stop(): Promise<void> {
    return this.#inner.stop();
  }

  /** The agent's requests of one method. */
  asked(method: string): { id: RpcId; params: JsonObject }[] {
    return this.received.flatMap((message) =>
      message["method"] === method && message["id"] !== undefined
        ? [{ id: message["id"] as RpcId, params: isObject(message["params"]) ? message["params"] : {} }]
        : [],
    );
  }

  /** What it was answered to one of its requests. More than one entry breaks X2. */
  answersTo(id: RpcId): JsonObject[] {
    return this.sent.filter((message) => message["method"] === undefined && message["id"] === id);
  }

  sentCount(method: string): number {
    return this.sent.filter((message) => message["method"] === method).length;
  }
}

class TappedTransport implements Transport {
  readonly #inner: Transport;
  readonly #tap: Tap;

  constructor(inner: Transport, tap: Tap) {
    this.#inner = inner;
    this.#tap = tap;
  }

  get bufferedBytes(): number {
    return this.#inner.bufferedBytes;
  }

  get isClosed(): boolean {
    return this.#inner.isClosed;
  }

  start(handlers: TransportHandlers): void {
    this.#inner.start({
      onFrame: (frame) => {
        this.#tap.received.push(asObject(frame.text));
        handlers.onFrame(frame);
      },
      onJunk: (refusal, bytes) => handlers.onJunk(refusal, bytes),
      onClose: (info) => handlers.onClose(info),
      onDrain: () => handlers.onDrain?.(),
    });
  }

  send(text: string): boolean {
    this.#tap.sent.push(asObject(text));
    return this.#inner.send(text);
  }

  pause(): void {
    this.#inner.pause();
  }

  resume(): void {
    this.#inner.resume();
  }

  close(info?: Parameters<Transport["close"]>[0]): void {
    this.#inner.close(info);
  }
}

function asObject(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}
