/** One socket of the fake hub: initialize, load by cursor, prompts, answers. */
import type { WebSocket } from "ws";
import { itemText } from "../../src/core/journal/frames.ts";
import { isObject, type Json, type JsonObject } from "../../src/protocol/json.ts";
import { type By, hubMeta, readCursor } from "../../src/protocol/meta.ts";
import type { FakeAsk, FakeSession } from "./fake-hub-session.ts";

interface Message {
  readonly id?: number | string;
  readonly method?: string;
  readonly params?: JsonObject;
  readonly result?: Json;
}

export interface ConnectionHost {
  readonly scopes: readonly string[];
  session(id: string, instanceId?: string): FakeSession | undefined;
  sessions(): Iterable<FakeSession>;
  newSession(cwd: string): FakeSession;
  agent(session: FakeSession): JsonObject;
}

export class FakeConnection {
  readonly by: By;
  readonly #socket: WebSocket;
  readonly #host: ConnectionHost;
  readonly #asked = new Map<number, FakeAsk>();
  /** How many frames of a load are sent before it stalls; a test frees it. */
  isInitialized = false;
  #nextId = 1;

  constructor(socket: WebSocket, by: By, host: ConnectionHost) {
    this.#socket = socket;
    this.by = by;
    this.#host = host;
    socket.on("message", (data) => this.#onMessage(JSON.parse(String(data)) as Message));
    socket.on("close", () => this.#gone());
  }

  sendText(text: string): void {
    if (this.#socket.readyState === this.#socket.OPEN) this.#socket.send(text);
  }

  notify(method: string, params: JsonObject): void {
    this.sendText(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  ask(ask: FakeAsk): void {
    if (!this.isInitialized) return;
    const old = ask.copies.get(this);
    if (old !== undefined) this.notify("$/cancel_request", { requestId: old, id: old });
    const id = this.#nextId++;
    ask.copies.set(this, id);
    this.#asked.set(id, ask);
    this.sendText(JSON.stringify({ jsonrpc: "2.0", id, method: ask.method, params: ask.params }));
  }

  close(code: number): void {
    this.#socket.close(code);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  #gone(): void {
    for (const session of this.#host.sessions()) {
      session.attached.delete(this);
      for (const ask of session.asks.values()) ask.copies.delete(this);
    }
  }

  #onMessage(message: Message): void {
    if (message.method === undefined) this.#onAnswer(message);
    else if (message.id === undefined) this.#onNotification(message.method, message.params ?? {});
    else this.#onRequest(message.id, message.method, message.params ?? {});
  }

  #onAnswer(message: Message): void {
    const ask = typeof message.id === "number" ? this.#asked.get(message.id) : undefined;
    if (ask === undefined || message.result === undefined) return;
    this.#host.session(ask.sessionId)?.settle(ask.interactionId, message.result, this.by);
  }

  #onNotification(method: string, params: JsonObject): void {
    const session = this.#host.session(String(params["sessionId"]));
    if (method === "session/cancel") session?.running?.connection.onCancel?.(session);
    if (method === "_acp-hub/typing")
      for (const other of session?.attached ?? [])
        if (other !== this) other.notify(method, { ...params, by: { ...this.by } });
  }

  /** What a cancel does to the running prompt; set by the test's agent. */
  onCancel: ((session: FakeSession) => void) | undefined;

  #onRequest(id: number | string, method: string, params: JsonObject): void {
    const reply = (body: JsonObject): void => this.sendText(JSON.stringify({ jsonrpc: "2.0", id, ...body }));
    const session = this.#sessionOf(params);
    switch (method) {
      case "initialize":
        this.isInitialized = true;
        reply({ result: this.#hello() });
        for (const open of this.#host.sessions()) for (const ask of open.asks.values()) this.ask(ask);
        return;
      case "session/new":
        return this.#open(this.#host.newSession(String(params["cwd"])), reply);
      case "session/load":
        if (session === undefined)
          return reply({ error: { code: -32602, message: "No such session", data: { code: "unknown-session" } } });
        return this.#load(session, params, reply);
      case "session/prompt":
        if (session !== undefined) this.#prompt(session, params, reply);
        return;
      case "_acp-hub/load_earlier":
        if (session !== undefined) this.#earlier(session, params, reply);
        return;
      default:
        return this.#other(method, session, params, reply);
    }
  }

  /** The one on the instance that is named, else on the one it is attached at. */
  #sessionOf(params: JsonObject): FakeSession | undefined {
    const id = String(params["sessionId"]);
    const instance = hubMeta(params)?.["instance"];
    if (typeof instance === "string") return this.#host.session(id, instance);
    const held = [...this.#host.sessions()].find((each) => each.sessionId === id && each.attached.has(this));
    return held ?? this.#host.session(id);
  }

  #other(
    method: string,
    session: FakeSession | undefined,
    params: JsonObject,
    reply: (body: JsonObject) => void,
  ): void {
    if (session === undefined) return reply({ error: { code: -32602, message: "No session" } });
    const at = session.queue.findIndex((prompt) => prompt.promptId === params["promptId"]);
    if (method === "session/set_mode")
      session.emit({ sessionUpdate: "current_mode_update", currentModeId: params["modeId"] ?? "" }, {}, this);
    if (method === "_acp-hub/queue/remove")
      for (const gone of session.queue.splice(at, 1)) gone.reply({ error: { code: -32800, message: "Removed" } });
    if (method === "_acp-hub/queue/move")
      session.queue.splice(Number(params["index"]), 0, ...session.queue.splice(at, 1));
    if (method.startsWith("_acp-hub/queue/") && method !== "_acp-hub/queue/list") session.setTurn(session.turn);
    if (method === "session/detach") session.attached.delete(this);
    return reply({ result: {} });
  }

  #open(session: FakeSession, reply: (body: JsonObject) => void): void {
    session.attached.add(this);
    const meta = {
      "acp-hub": { agent: this.#host.agent(session), verdict: "ok", cursor: { epoch: session.epoch, seq: 0 } },
    };
    reply({ result: { sessionId: session.sessionId, ...session.state, _meta: meta } });
  }

  #load(session: FakeSession, params: JsonObject, reply: (body: JsonObject) => void): void {
    const wanted = hubMeta(params);
    const cursor = readCursor(wanted?.["cursor"]);
    const since = cursor === undefined ? undefined : session.journal.since(cursor.seq);
    const all = since?.ok === true ? since.items : session.journal.replay();
    const limit = since?.ok === true ? all.length : Number(wanted?.["limit"] ?? all.length);
    const items = limit >= all.length ? all : all.slice(-limit);
    for (const item of items) this.sendText(itemText(item, session.journal.epoch, { replay: true }));
    const ours: JsonObject = {
      verdict: cursor !== undefined && since?.ok !== true ? "gap" : "ok",
      cursor: { epoch: session.epoch, seq: session.journal.tail },
      turn: { state: session.turn, queue: session.queueView() as unknown as Json },
      openInteractions: session.asks.size,
      agent: this.#host.agent(session),
      ...(items.length < all.length && { hasMore: true }),
    };
    reply({ result: { ...session.state, _meta: { "acp-hub": ours } } });
    session.attached.add(this);
    for (const ask of session.asks.values()) this.ask(ask);
    this.#presence(session);
  }

  #presence(session: FakeSession): void {
    const clients: JsonObject[] = [...session.attached].map((connection) => ({ ...connection.by }));
    clients.push({ connectionId: "desktop", device: "desk", name: "Zed", primary: true });
    for (const connection of session.attached)
      connection.notify("_acp-hub/presence", { sessionId: session.sessionId, clients });
  }

  #earlier(session: FakeSession, params: JsonObject, reply: (body: JsonObject) => void): void {
    const before = Number(params["before"]);
    const older = session.journal.replay().filter((item) => item.first < before);
    const page = older.slice(-Number(params["limit"]));
    for (const item of page) this.sendText(itemText(item, session.journal.epoch, { replay: true, page: true }));
    reply({ result: { hasMore: page.length < older.length } });
  }

  #prompt(session: FakeSession, params: JsonObject, reply: (body: JsonObject) => void): void {
    const promptId = hubMeta(params)?.["promptId"];
    const blocks = (Array.isArray(params["prompt"]) ? params["prompt"] : []).filter(isObject);
    session.prompt({
      promptId: typeof promptId === "string" ? promptId : undefined,
      by: this.by,
      blocks,
      queuedAt: Date.now(),
      connection: this,
      reply,
    });
  }

  #hello(): JsonObject {
    const hub = {
      version: "0.1.0",
      connectionId: this.by.connectionId,
      scopes: [...this.#host.scopes],
      device: { id: this.by.device, name: this.by.name },
    };
    return {
      protocolVersion: 1,
      agentInfo: { name: "acp-hub", version: "0.1.0" },
      agentCapabilities: {},
      _meta: { "acp-hub": hub },
    };
  }
}
