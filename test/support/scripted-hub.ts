/** The hub's side of in-memory sockets: a test plays the hub word by word. */
import type { SocketFactory, SocketHandlers } from "../../src/client/ports.ts";
import type { Json, JsonObject } from "../../src/protocol/json.ts";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: Json;
}

/** One dialled socket as the hub sees it. */
export class ScriptedSocket {
  readonly url: string;
  readonly received: Message[] = [];
  readonly #handlers: SocketHandlers;
  closedWith: number | undefined;

  constructor(url: string, handlers: SocketHandlers) {
    this.url = url;
    this.#handlers = handlers;
  }

  open(): void {
    this.#handlers.onOpen();
  }

  take(text: string): void {
    this.received.push(JSON.parse(text) as Message);
  }

  /** The last request of this method; fails the test when there is none. */
  request(method: string): Message & { readonly id: number | string; readonly params: JsonObject } {
    const found = this.received.findLast((message) => message.method === method && message.id !== undefined);
    if (found?.id === undefined) throw new Error(`no request ${method}`);
    return { params: {}, ...found, id: found.id };
  }

  count(method: string): number {
    return this.received.filter((message) => message.method === method).length;
  }

  reply(method: string, result: Json): void {
    this.#say({ id: this.request(method).id, result });
  }

  refuse(method: string, code: number, message: string, data?: Json): void {
    this.#say({ id: this.request(method).id, error: { code, message, ...(data !== undefined && { data }) } });
  }

  notify(method: string, params: JsonObject): void {
    this.#say({ method, params });
  }

  ask(id: number, method: string, params: JsonObject): void {
    this.#say({ id, method, params });
  }

  update(update: JsonObject, stamp?: JsonObject, sessionId = "s1"): void {
    const meta: JsonObject = stamp === undefined ? {} : { _meta: { "acp-hub": stamp } };
    this.notify("session/update", { sessionId, update, ...meta });
  }

  /** The peer is gone. */
  drop(code = 1006, status?: number): void {
    this.#handlers.onClose({ code, reason: "", ...(status !== undefined && { status }) });
  }

  #say(message: JsonObject): void {
    this.#handlers.onText(JSON.stringify({ jsonrpc: "2.0", ...message }));
  }
}

export class ScriptedHub {
  readonly sockets: ScriptedSocket[] = [];

  readonly openSocket: SocketFactory = (url, _protocols, handlers) => {
    const socket = new ScriptedSocket(url, handlers);
    this.sockets.push(socket);
    return {
      send: (text) => socket.take(text),
      close: (code) => {
        socket.closedWith = code;
      },
    };
  };

  get socket(): ScriptedSocket {
    const last = this.sockets.at(-1);
    if (last === undefined) throw new Error("nobody dialled");
    return last;
  }
}

/** An initialize result as the hub gives it. */
export function helloResult(connectionId = "c1"): JsonObject {
  const scopes = ["sessions:read", "interactions:answer", "sessions:prompt"];
  return {
    protocolVersion: 1,
    agentCapabilities: {},
    _meta: { "acp-hub": { version: "0.1.0", connectionId, scopes, device: "Pixel", features: ["cursor", "turn"] } },
  };
}
