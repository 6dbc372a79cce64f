/**
 * An honest little ACP client: it keeps transcripts and open dialogs, drops its dialogs when a load starts, and complains about
 * what no client can live with (two answers to one request, two requests under one id, numbers that go back).
 */
import { isObject, type Json, type JsonObject, numberAt, stringAt } from "../../../src/protocol/json.ts";
import { hubMeta, readStamp, type Stamp } from "../../../src/protocol/meta.ts";
import { Transcript } from "./transcript.ts";

export interface Dialog {
  readonly id: number;
  readonly method: string;
  readonly params: JsonObject;
}

interface Held {
  readonly update: JsonObject | undefined;
  readonly stamp: Stamp;
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
  /** Sessions whose journal was lost to this client: it has to load them anew. */
  readonly mustReload: Set<string> = new Set();
  /** Sessions whose history it was given whole. */
  readonly loaded: Set<string> = new Set();
  /** Loads on their way, by session: what came since, while only the response can tell what it is. */
  readonly #loads = new Map<string, { readonly id: Json; readonly held: Held[] | undefined; isFresh: boolean }>();
  readonly #setting = new Map<Json, JsonObject>();
  readonly #gaps = new Map<string, number>();
  /** Only clients that declared the extension read numbers. */
  readsNumbers = false;
  readonly #everAsked = new Set<number>();

  constructor(name: string, send: (text: string) => void) {
    this.name = name;
    this.#send = send;
  }

  /** Sends a request and returns its id; the answer is in `responses`. */
  request(method: string, params: JsonObject, id: Json = this.#nextId++): Json {
    const sessionId = stringAt(params, "sessionId");
    if (method === "session/load" && sessionId !== undefined) this.#startLoad(sessionId, params, id);
    this.#owed.set(JSON.stringify(id), method);
    if (method === "session/set_mode") this.#setting.set(id, params);
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
    this.#onSet(message);
    for (const [sessionId, load] of this.#loads)
      if (load.id === message.id) this.#endLoad(sessionId, load.held, message);
  }

  /** Who sets a mode knows it from the response: only the others are told. */
  #onSet(message: Received): void {
    const params = this.#setting.get(message.id ?? null);
    this.#setting.delete(message.id ?? null);
    const sessionId = stringAt(params, "sessionId");
    if (params === undefined || sessionId === undefined || message.result === undefined) return;
    const update = { sessionUpdate: "current_mode_update", currentModeId: params["modeId"] };
    this.transcript(sessionId).apply(update, undefined);
  }

  /** With a cursor, the verdict says whether what came goes on from there or is everything. */
  #endLoad(sessionId: string, held: readonly Held[] | undefined, message: Received): void {
    this.#loads.delete(sessionId);
    if (message.result !== undefined) this.loaded.add(sessionId);
    if (held === undefined) return;
    const meta = isObject(message.result) ? hubMeta(message.result) : undefined;
    if (meta?.["verdict"] !== "ok") {
      this.transcripts.delete(sessionId);
      this.cursors.delete(sessionId);
    }
    for (const { update, stamp } of held) {
      this.#note(sessionId, stamp);
      if (update !== undefined) this.transcript(sessionId).apply(update, stamp);
    }
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
    if (method === "_acp-hub/reset") this.mustReload.add(sessionId);
    if (method === "_acp-hub/gap") this.#gaps.set(sessionId, numberAt(params, "to") ?? 0);
    const stamp = readStamp(params);
    // Made for this client alone: no part of the record.
    if (stamp?.page === true || hubMeta(params)?.["synthetic"] === "local") return;
    const update = params["update"];
    const load = this.#loads.get(sessionId);
    if (load?.held !== undefined && stamp !== undefined) {
      load.held.push({ update: isObject(update) ? update : undefined, stamp });
      return;
    }
    if (load !== undefined && !load.isFresh && stamp?.replay === true) {
      // The replay begins: whatever came before it belongs to what it repeats.
      load.isFresh = true;
      this.transcripts.delete(sessionId);
      this.cursors.delete(sessionId);
    }
    if (stamp !== undefined) this.#note(sessionId, stamp);
    if (method === "session/update" && isObject(update)) this.transcript(sessionId).apply(update, stamp);
    else if (stamp !== undefined) this.transcript(sessionId).notices.push({ seq: stamp.seq, method });
  }

  /** Numbers only go up; joined events may overlap among themselves, so replays are not held to it. */
  #note(sessionId: string, stamp: Stamp): void {
    const cursor = this.cursors.get(sessionId);
    // Joined events overlap among themselves: who is told of a gap knows where they end.
    const isHistory =
      stamp.replay === true || stamp.from !== undefined || stamp.seq <= (this.#gaps.get(sessionId) ?? 0);
    if (
      this.readsNumbers &&
      !isHistory &&
      cursor !== undefined &&
      cursor.epoch === stamp.epoch &&
      stamp.seq <= cursor.seq
    ) {
      this.problems.push(`${sessionId}: ${stamp.seq} after ${cursor.seq}`);
    }
    const isSame = cursor?.epoch === stamp.epoch;
    this.cursors.set(sessionId, { epoch: stamp.epoch, seq: isSame ? Math.max(cursor.seq, stamp.seq) : stamp.seq });
  }

  /** Goes on as another client did: same person, new connection. */
  takeOver(other: AcpClient): void {
    for (const [id, transcript] of other.transcripts) this.transcripts.set(id, transcript);
    for (const [id, cursor] of other.cursors) this.cursors.set(id, cursor);
    for (const id of other.settled) this.settled.add(id);
  }

  #startLoad(sessionId: string, params: JsonObject, id: Json): void {
    const hasCursor = hubMeta(params)?.["cursor"] !== undefined;
    this.mustReload.delete(sessionId);
    this.#loads.set(sessionId, { id, held: hasCursor ? [] : undefined, isFresh: false });
    if (!hasCursor) {
      this.transcripts.delete(sessionId);
      this.cursors.delete(sessionId);
    }
    for (const dialog of this.openDialogs) if (dialog.params["sessionId"] === sessionId) this.dialogs.delete(dialog.id);
  }
}
