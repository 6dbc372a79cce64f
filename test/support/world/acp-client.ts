/**
 * An honest little ACP client: it keeps transcripts and open dialogs, drops its dialogs when a load starts, and complains about
 * what no client can live with (two answers to one request, two requests under one id, numbers that go back).
 */
import { isObject, type Json, type JsonObject, stringAt } from "../../../src/protocol/json.ts";
import { hubMeta, readStamp, type Stamp } from "../../../src/protocol/meta.ts";
import { Transcript } from "./transcript.ts";

export interface Dialog {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

export interface Received {
  readonly method?: string;
  readonly id?: Json;
  readonly params?: JsonObject;
  readonly result?: Json;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: JsonObject };
}

export class AcpClient {
  readonly name: string;
  readonly #send: (text: string) => void;
  #nextId = 1;
  readonly #owed = new Map<string, string>();
  /** Everything that came, in order. */
  readonly received: Received[] = [];
  readonly raw: string[] = [];
  readonly responses: Map<Json, Received> = new Map();
  readonly transcripts: Map<string, Transcript> = new Map();
  readonly dialogs: Map<number, Dialog> = new Map();
  /** Interactions announced as settled to this client, while it was told. */
  readonly settled: Set<string> = new Set();
  readonly cursors: Map<string, { epoch: string; seq: number }> = new Map();
  readonly problems: string[] = [];
  readonly #everAsked = new Set<number>();

  constructor(name: string, send: (text: string) => void) {
    this.name = name;
    this.#send = send;
  }

  /** Sends a request and returns its id; the answer is in `responses`. */
  request(method: string, params: JsonObject, id: Json = this.#nextId++): Json {
    const sessionId = stringAt(params, "sessionId");
    if (method === "session/load" && sessionId !== undefined) this.#startLoad(sessionId, params);
    this.#owed.set(JSON.stringify(id), method);
    this.#send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
    return id;
  }

  notify(method: string, params: JsonObject): void {
    this.#send(JSON.stringify({ jsonrpc: "2.0", method, params }));
  }

  sendRaw(text: string): void {
    this.#send(text);
  }

  answer(dialog: Dialog, result: Json): void {
    this.dialogs.delete(dialog.id);
    this.#send(JSON.stringify({ jsonrpc: "2.0", id: dialog.id, result }));
  }

  answerError(dialog: Dialog, code: number): void {
    this.dialogs.delete(dialog.id);
    this.#send(JSON.stringify({ jsonrpc: "2.0", id: dialog.id, error: { code, message: "no" } }));
  }

  /** Chooses a permission option of the only (or named) open dialog. */
  choose(optionId: string, dialog: Dialog | undefined = this.dialog): void {
    if (dialog === undefined) throw new Error(`${this.name} has no dialog open`);
    this.answer(dialog, { outcome: { outcome: "selected", optionId } });
  }

  /** The oldest open dialog. */
  get dialog(): Dialog | undefined {
    return this.dialogs.values().next().value;
  }

  get openDialogs(): readonly Dialog[] {
    return [...this.dialogs.values()];
  }

  /** Requests that still wait for their answer. */
  get owed(): readonly string[] {
    return [...this.#owed.values()];
  }

  transcript(sessionId: string): Transcript {
    const known = this.transcripts.get(sessionId) ?? new Transcript();
    this.transcripts.set(sessionId, known);
    return known;
  }

  /** The messages of one method, oldest first. */
  of(method: string): readonly Received[] {
    return this.received.filter((message) => message.method === method);
  }

  updates(sessionId: string): readonly JsonObject[] {
    return this.of("session/update").flatMap((message) => {
      const update = message.params?.["update"];
      return message.params?.["sessionId"] === sessionId && isObject(update) ? [update] : [];
    });
  }

  result(id: Json): JsonObject {
    const response = this.responses.get(id);
    if (!isObject(response?.result))
      throw new Error(`${this.name}: no result for ${JSON.stringify(id)}: ${JSON.stringify(response)}`);
    return response.result;
  }

  error(id: Json): NonNullable<Received["error"]> {
    const response = this.responses.get(id);
    if (response?.error === undefined)
      throw new Error(`${this.name}: no error for ${JSON.stringify(id)}: ${JSON.stringify(response)}`);
    return response.error;
  }

  onText(text: string): void {
    const message = JSON.parse(text) as Received;
    this.raw.push(text);
    this.received.push(message);
    if (message.method === undefined) this.#onResponse(message);
    else if (message.id !== undefined) this.#onRequest(message.id, message.method, message.params ?? {});
    else this.#onNotification(message.method, message.params ?? {});
  }

  #onResponse(message: Received): void {
    const key = JSON.stringify(message.id);
    if (message.id !== null && !this.#owed.delete(key)) this.problems.push(`unexpected response to ${key}`);
    if (message.id !== undefined) this.responses.set(message.id, message);
  }

  #onRequest(id: Json, method: string, params: JsonObject): void {
    if (typeof id !== "number") this.problems.push(`request under id ${JSON.stringify(id)}`);
    else if (this.#everAsked.has(id)) this.problems.push(`id ${id} used twice`);
    else {
      this.#everAsked.add(id);
      this.dialogs.set(id, { id, method, params });
      const name = stringAt(hubMeta(params), "interactionId");
      if (name !== undefined && this.settled.has(name)) this.problems.push(`settled interaction ${name} offered`);
    }
  }

  #onNotification(method: string, params: JsonObject): void {
    if (method === "$/cancel_request") {
      if (typeof params["requestId"] === "number") this.dialogs.delete(params["requestId"]);
      return;
    }
    if (method === "_acp-hub/interaction_settled") this.settled.add(stringAt(params, "interactionId") ?? "");
    const sessionId = stringAt(params, "sessionId");
    if (sessionId === undefined) return;
    if (method === "_acp-hub/reset") this.cursors.delete(sessionId);
    const stamp = readStamp(params);
    if (stamp?.page === true) return;
    if (stamp !== undefined) this.#note(sessionId, stamp);
    const update = params["update"];
    if (method === "session/update" && isObject(update)) this.transcript(sessionId).apply(update, stamp);
    else if (stamp !== undefined) this.transcript(sessionId).notices.push({ seq: stamp.seq, method });
  }

  /** Numbers only go up; joined events may overlap among themselves, so replays are not held to it. */
  #note(sessionId: string, stamp: Stamp): void {
    const cursor = this.cursors.get(sessionId);
    const isHistory = stamp.replay === true || stamp.from !== undefined;
    if (!isHistory && cursor !== undefined && cursor.epoch === stamp.epoch && stamp.seq <= cursor.seq) {
      this.problems.push(`${sessionId}: ${stamp.seq} after ${cursor.seq}`);
    }
    const isSame = cursor?.epoch === stamp.epoch;
    this.cursors.set(sessionId, { epoch: stamp.epoch, seq: isSame ? Math.max(cursor.seq, stamp.seq) : stamp.seq });
  }

  #startLoad(sessionId: string, params: JsonObject): void {
    if (hubMeta(params)?.["cursor"] === undefined) {
      this.transcripts.delete(sessionId);
      this.cursors.delete(sessionId);
    }
    for (const dialog of this.openDialogs) if (dialog.params["sessionId"] === sessionId) this.dialogs.delete(dialog.id);
  }
}
