/**
 * The predecessor's phone client, as a script plays it: its dialect, its one dialog, its queue, its paging, and its habits a
 * server has to live with. What it could not have coped with is a complaint.
 */
import { WebSocket } from "ws";
import { STATE_KINDS } from "../../src/protocol/acp.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../../src/protocol/json.ts";
import { Transcript } from "./world/transcript.ts";

const LOAD_LIMIT = 30;

export interface PhoneDialog {
  readonly id: number;
  readonly params: JsonObject;
}

export interface ReplayMeta {
  readonly cursor: string | undefined;
  readonly hasMore: boolean;
  readonly totalMessages: number | undefined;
  readonly turnActive: boolean;
}

interface QueuedPrompt {
  readonly text: string;
  readonly done: (reply: JsonObject) => void;
}

export class Phone {
  /** What it shows: page content stands in front of everything else. */
  transcript: Transcript = new Transcript();
  /** The page last asked for, as it was shown. */
  page: JsonObject[] = [];
  /** The one dialog on its screen. */
  dialog: PhoneDialog | undefined;
  /** Ids of dialogs that were taken down by the server. */
  readonly cancelled: Json[] = [];
  /** What such a client could not have coped with. */
  readonly complaints: string[] = [];
  /** Turn states and prompt responses, in the order they came. */
  readonly order: string[] = [];
  /** When each frame came, and its method or `response`. */
  readonly log: { readonly at: number; readonly what: string; readonly frame: JsonObject }[] = [];
  /** By session: this client hears of every session of the instance. */
  readonly running: Map<string, boolean> = new Map();
  isGone = false;
  sessionId = "";
  meta: ReplayMeta | undefined;
  readonly #ws: WebSocket;
  readonly #replies = new Map<number, (reply: JsonObject) => void>();
  readonly #queue: QueuedPrompt[] = [];
  #isPaging = false;
  #isLoading = false;
  #isSending = false;
  #nextId = 1;

  private constructor(ws: WebSocket) {
    this.#ws = ws;
    ws.on("message", (data, isBinary) => {
      if (isBinary) this.complaints.push("a binary frame");
      this.#receive(JSON.parse(String(data)) as JsonObject);
    });
    ws.once("close", () => {
      this.isGone = true;
    });
  }

  /** Connects and says hello as it always did: no clientInfo, no capabilities. */
  static async connect(url: string): Promise<Phone> {
    const ws = new WebSocket(url);
    // The constructor listens before the first frame can come.
    const phone = new Phone(ws);
    await new Promise<void>((resolve, reject) => {
      ws.once("open", () => resolve());
      ws.once("error", reject);
      ws.once("unexpected-response", (_request, response) =>
        reject(new Error(`upgrade refused: ${response.statusCode}`)),
      );
    });
    const hello = await phone.#request("initialize", { protocolVersion: 1, clientCapabilities: {} });
    if (objectAt(hello, "result")?.["protocolVersion"] !== 1) phone.complaints.push("protocolVersion must be 1");
    return phone;
  }

  /** Opens a session: what was shown of it before is thrown away, and so is the dialog. */
  async load(sessionId: string, cwd?: string): Promise<ReplayMeta> {
    this.sessionId = sessionId;
    this.transcript = new Transcript();
    this.dialog = undefined;
    this.#isLoading = true;
    const reply = await this.#request("session/load", {
      sessionId,
      ...(cwd === undefined ? {} : { cwd }),
      mcpServers: [],
      _meta: { zcode: { limit: LOAD_LIMIT } },
    });
    this.#isLoading = false;
    const result = objectAt(reply, "result");
    if (result === undefined) throw new Error(`load refused: ${JSON.stringify(reply["error"])}`);
    this.meta = this.#readMeta(result);
    this.running.set(sessionId, this.meta.turnActive);
    this.#flush();
    return this.meta;
  }

  /** Pages back. True when a page came; false when the cursor had expired and the session was loaded anew. */
  async earlier(limit = 50): Promise<boolean> {
    this.page = [];
    this.#isPaging = true;
    const before = this.meta?.cursor;
    const reply = await this.#request("session/load_earlier", {
      sessionId: this.sessionId,
      ...(before === undefined ? {} : { before }),
      limit,
    });
    this.#isPaging = false;
    const message = stringAt(objectAt(reply, "error"), "message");
    if (message?.includes("cursor expired") === true) {
      await this.load(this.sessionId);
      return false;
    }
    const result = objectAt(reply, "result");
    if (result === undefined) throw new Error(`page refused: ${message}`);
    this.meta = this.#readMeta(result);
    const shown = this.transcript;
    this.transcript = new Transcript();
    for (const update of this.page) this.transcript.apply(update, undefined);
    this.transcript.entries.push(...shown.entries);
    for (const [kind, state] of shown.states) this.transcript.states.set(kind, state);
    return true;
  }

  /** Queues a prompt of its own; it is sent when the session is idle and not loading. Resolves with the reply. */
  prompt(text: string): Promise<JsonObject> {
    const done = new Promise<JsonObject>((resolve) => this.#queue.push({ text, done: resolve }));
    this.#flush();
    return done;
  }

  /** Sends a prompt at once, whatever runs; for what the person forces. Resolves with the reply. */
  promptNow(text: string): { id: number; reply: Promise<JsonObject> } {
    const id = this.#nextId;
    const reply = this.#request("session/prompt", {
      sessionId: this.sessionId,
      prompt: [{ type: "text", text }],
    }).then((answer) => {
      this.order.push("response");
      return answer;
    });
    return { id, reply };
  }

  /** Its stop button. */
  stop(): void {
    this.#send({ method: "session/cancel", params: { sessionId: this.sessionId } });
  }

  /** Takes back one request of its own. */
  cancelRequest(id: number): void {
    this.#send({ method: "$/cancel_request", params: { requestId: id } });
  }

  /** Presses a button of the dialog on the screen. */
  choose(optionId: string): void {
    const { dialog } = this;
    if (dialog === undefined) throw new Error("there is no dialog to answer");
    this.dialog = undefined;
    this.#send({ id: dialog.id, result: { outcome: { outcome: "selected", optionId } } });
  }

  close(): void {
    this.#ws.close();
  }

  /** The network goes away: no goodbye. */
  drop(): void {
    this.#ws.terminate();
  }

  /** Text of agent messages of the active session. */
  get text(): string {
    return this.transcript.text();
  }

  /** When the last frame of this kind came. */
  lastOf(what: string): number | undefined {
    return this.log.findLast((entry) => entry.what === what)?.at;
  }

  #readMeta(result: JsonObject): ReplayMeta {
    const meta = objectAt(result, "replayMeta");
    if (meta === undefined) this.complaints.push("no replayMeta");
    const total = meta?.["totalMessages"];
    return {
      cursor: stringAt(meta, "cursor"),
      hasMore: meta?.["hasMore"] === true,
      totalMessages: typeof total === "number" ? total : undefined,
      turnActive: meta?.["turnActive"] === true,
    };
  }

  #flush(): void {
    if (this.#isLoading || this.#isSending || this.running.get(this.sessionId) === true) return;
    const next = this.#queue.shift();
    if (next === undefined) return;
    this.#isSending = true;
    void this.promptNow(next.text).reply.then((reply) => {
      this.#isSending = false;
      next.done(reply);
      this.#flush();
    });
  }

  #request(method: string, params: JsonObject): Promise<JsonObject> {
    const id = this.#nextId;
    this.#nextId += 1;
    const reply = new Promise<JsonObject>((resolve) => this.#replies.set(id, resolve));
    this.#send({ id, method, params });
    return reply;
  }

  #send(frame: JsonObject): void {
    if (this.#ws.readyState === WebSocket.OPEN) this.#ws.send(JSON.stringify({ jsonrpc: "2.0", ...frame }));
  }

  #receive(frame: JsonObject): void {
    const method = stringAt(frame, "method");
    this.log.push({ at: performance.now(), what: method ?? "response", frame });
    const params = objectAt(frame, "params") ?? {};
    if (method === undefined) return this.#replied(frame);
    if (method === "session/update") return this.#update(params);
    if (method === "$/zcode/turnState") return this.#turnState(params);
    if (method === "$/cancel_request") return this.#cancel(params);
    if (method === "session/request_permission") return this.#ask(frame["id"], params);
    // Anything else is left unanswered on purpose: the first response of another client wins.
    if (method === "elicitation/create") this.complaints.push("a form, which was never declared");
    if (method.startsWith("_acp-hub/")) this.complaints.push(`${method}, which was never declared`);
    return undefined;
  }

  #replied(frame: JsonObject): void {
    const { id } = frame;
    if (typeof id !== "number") return void this.complaints.push("a response without a number as id");
    this.#replies.get(id)?.(frame);
    this.#replies.delete(id);
    return undefined;
  }

  #update(params: JsonObject): void {
    const update = objectAt(params, "update") ?? {};
    if (params["sessionId"] !== this.sessionId) return;
    // It takes everything for page content: only states do no harm there.
    if (this.#isPaging && !STATE_KINDS.has(stringAt(update, "sessionUpdate") ?? "")) {
      this.page.push(update);
      const isPage = objectAt(objectAt(params, "_meta"), "acp-hub")?.["page"] === true;
      if (!isPage) this.complaints.push("a live update inside a page");
      return;
    }
    this.transcript.apply(update, undefined);
  }

  #turnState(params: JsonObject): void {
    const sessionId = stringAt(params, "sessionId");
    if (sessionId === undefined || typeof params["running"] !== "boolean")
      return void this.complaints.push("a turn state without its members");
    this.running.set(sessionId, params["running"]);
    if (sessionId === this.sessionId) this.order.push(`running:${params["running"]}`);
    this.#flush();
    return undefined;
  }

  #ask(id: Json | undefined, params: JsonObject): void {
    if (typeof id !== "number") return void this.complaints.push("a question without a number as id");
    const toolCallId = stringAt(objectAt(params, "toolCall"), "toolCallId") ?? "";
    if (this.dialog !== undefined) this.complaints.push("a second dialog over an open one");
    if (params["sessionId"] === this.sessionId && this.transcript.card(toolCallId) === undefined)
      this.complaints.push(`bare buttons: no card ${toolCallId} before the question`);
    for (const option of Array.isArray(params["options"]) ? params["options"] : [])
      if (isObject(option) && !KINDS.has(stringAt(option, "kind") ?? ""))
        this.complaints.push(`an unknown kind of option: ${String(option["kind"])}`);
    this.dialog = { id, params };
    return undefined;
  }

  #cancel(params: JsonObject): void {
    // This client reads `id`, not `requestId`.
    const { id } = params;
    this.cancelled.push(id ?? null);
    if (this.dialog?.id === id) this.dialog = undefined;
  }
}

const KINDS = new Set(["allow_once", "allow_always", "reject_once", "reject_always"]);
