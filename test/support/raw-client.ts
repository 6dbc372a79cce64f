/** A small honest ACP client over any transport: calls, what it was sent, what it was asked. No SDK between test and wire. */
import { WebSocket } from "ws";
import {
  type Frame,
  failure,
  notification,
  paramsOf,
  type RpcId,
  request,
  result,
} from "../../src/protocol/envelope.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../src/protocol/json.ts";
import type { Transport } from "../../src/transport/transport.ts";
import { webSocketTransport } from "../../src/transport/websocket.ts";

export interface Asked {
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

export class RpcFailed extends Error {
  readonly code: number;
  readonly data: Json | undefined;

  constructor(code: number, message: string, data: Json | undefined) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

type Waiter = { readonly match: (frame: Frame) => boolean; readonly resolve: (frame: Frame) => void };

export class RawClient {
  readonly frames: Frame[] = [];
  closed: { code: number | undefined; reason: string } | undefined;
  onClose: () => void = () => undefined;
  readonly #transport: Transport;
  readonly #watch: (frame: Frame) => void;
  readonly #pending = new Map<RpcId, { resolve: (value: JsonObject) => void; reject: (error: Error) => void }>();
  readonly #taken = new Set<Frame>();
  #waiters: Waiter[] = [];
  #nextId = 1;

  /** `onFrame`: sees every frame first; for the side that has to answer by itself. */
  constructor(transport: Transport, onFrame: (frame: Frame) => void = () => undefined) {
    this.#transport = transport;
    this.#watch = onFrame;
    transport.start({
      onFrame: (frame) => this.#onFrame(frame),
      onJunk: () => undefined,
      onClose: (info) => {
        this.closed = { code: info.code, reason: info.reason };
        for (const pending of this.#pending.values()) pending.reject(new Error("the connection closed"));
        this.#pending.clear();
        this.onClose();
      },
    });
  }

  call(method: string, params: JsonObject): Promise<JsonObject> {
    const id = this.#nextId;
    this.#nextId += 1;
    return this.callAs(id, method, params);
  }

  callAs(id: RpcId, method: string, params: JsonObject): Promise<JsonObject> {
    const answered = new Promise<JsonObject>((resolve, reject) => this.#pending.set(id, { resolve, reject }));
    this.#transport.send(JSON.stringify(request(id, method, params)));
    return answered;
  }

  notify(method: string, params: JsonObject): void {
    this.#transport.send(JSON.stringify(notification(method, params)));
  }

  answer(id: RpcId, value: Json): void {
    this.#transport.send(JSON.stringify(result(id, value)));
  }

  refuse(id: RpcId, code: number): void {
    this.#transport.send(JSON.stringify(failure(id, { code, message: "refused" })));
  }

  sendText(text: string): void {
    this.#transport.send(text);
  }

  /** Says it understands `_acp-hub/*`, unless told otherwise. */
  initialize(capabilities: JsonObject = { _meta: { "acp-hub": {} } }): Promise<JsonObject> {
    return this.call("initialize", { protocolVersion: 1, clientCapabilities: capabilities });
  }

  async nextRequest(method: string): Promise<Asked> {
    const frame = await this.#next((each) => each.kind === "request" && each.msg.method === method);
    return frame.kind === "request"
      ? { id: frame.msg.id, method, params: paramsOf(frame.msg) ?? {} }
      : { id: null, method, params: {} };
  }

  async nextNotification(method: string): Promise<JsonObject> {
    const frame = await this.#next((each) => each.kind === "notification" && each.msg.method === method);
    return frame.kind === "notification" ? (paramsOf(frame.msg) ?? {}) : {};
  }

  notifications(method: string): JsonObject[] {
    return this.frames.flatMap((frame) =>
      frame.kind === "notification" && frame.msg.method === method ? [paramsOf(frame.msg) ?? {}] : [],
    );
  }

  updates(): JsonObject[] {
    return this.notifications("session/update").map((params) => objectAt(params, "update") ?? {});
  }

  /** All text of one kind of chunk, joined. */
  textOf(kind: string): string {
    return this.updates()
      .filter((update) => update["sessionUpdate"] === kind)
      .map((update) => stringAt(objectAt(update, "content"), "text") ?? "")
      .join("");
  }

  close(): void {
    this.#transport.close();
  }

  /** Its socket fills up, as that of a phone in a tunnel. */
  stopReading(): void {
    this.#transport.pause();
  }

  readAgain(): void {
    this.#transport.resume();
  }

  #next(match: (frame: Frame) => boolean): Promise<Frame> {
    const seen = this.frames.find((frame) => !this.#taken.has(frame) && match(frame));
    if (seen !== undefined) {
      this.#taken.add(seen);
      return Promise.resolve(seen);
    }
    return new Promise((resolve) => this.#waiters.push({ match, resolve }));
  }

  #onFrame(frame: Frame): void {
    this.frames.push(frame);
    this.#watch(frame);
    if (frame.kind === "response") {
      const pending = this.#pending.get(frame.msg.id);
      this.#pending.delete(frame.msg.id);
      if ("error" in frame.msg)
        pending?.reject(new RpcFailed(frame.msg.error.code, frame.msg.error.message, frame.msg.error.data));
      else pending?.resolve(isObject(frame.msg.result) ? frame.msg.result : {});
      return;
    }
    const waiter = this.#waiters.find((each) => each.match(frame));
    if (waiter === undefined) return;
    this.#waiters = this.#waiters.filter((each) => each !== waiter);
    this.#taken.add(frame);
    waiter.resolve(frame);
  }
}

export const rawClient = (transport: Transport): RawClient => new RawClient(transport);

/** Connects to a hub's `/acp`; rejects with the HTTP status of a refused upgrade. */
export function connectClient(
  url: string,
  token: string,
  options: { protocols?: string[]; headers?: Record<string, string>; onFrame?: (frame: Frame) => void } = {},
): Promise<RawClient> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${token}`, ...options.headers };
    const ws = new WebSocket(url, options.protocols ?? [], { headers });
    ws.once("unexpected-response", (_request, response) => {
      response.resume();
      reject(new Error(`upgrade refused: ${response.statusCode}`));
    });
    ws.once("error", reject);
    ws.once("open", () =>
      resolve(new RawClient(webSocketTransport(ws, { maxPayloadBytes: 67_108_864 }), options.onFrame)),
    );
  });
}
