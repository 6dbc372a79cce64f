/** A client's request on its way, whoever sent it; and the agent-side requests it became. */

import { ACP } from "../../protocol/acp.ts";
import {
  failure,
  idKey,
  notification,
  type RpcId,
  type RpcMessage,
  type RpcResponse,
  request,
} from "../../protocol/envelope.ts";
import { isObject, type Json, type JsonObject } from "../../protocol/json.ts";
import { type By, hubMeta, PRIMARY, withHubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";

/** Who asks. `key` is unique per connection: prompts of one connection are one client's (P1). */
export interface Caller {
  readonly key: string;
  readonly by: By;
  readonly isPrimary: boolean;
  /** The machine's owner: the editor, and devices with all rights (X12). */
  readonly isOwner: boolean;
}

/** One request of a client. `answer` is called exactly once; for a caller that is gone it does nothing. */
export interface Call {
  readonly caller: Caller;
  /** The id under which the caller's hop knows it, for `$/cancel_request` and `requestId` (P5). */
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  answer(body: AnswerBody): void;
  /** False once nobody waits for the answer: its link is gone, and the caller was told that the request failed. */
  isOwed(): boolean;
}

export const PRIMARY_KEY: string = PRIMARY;

export const bodyText = (id: RpcId, body: AnswerBody): string =>
  JSON.stringify("error" in body ? failure(id, body.error) : { jsonrpc: "2.0", id, result: body.result });

interface PendingAgentCall {
  readonly call: Call | undefined;
  readonly onReply: (body: AnswerBody, now: number) => void;
}

/** Requests this side sent to the agent, under our own ids (P5), and who waits for them. */
export class AgentCalls {
  readonly #send: (text: string) => void;
  readonly #pending = new Map<number, PendingAgentCall>();
  #nextId = 1;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  /** Sends a request; `onReply` gets the agent's answer, or the error it died with. `call` is the client's request behind it. */
  request(method: string, params: Json | undefined, onReply: PendingAgentCall["onReply"], call?: Call): number {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#pending.set(id, { call, onReply });
    this.#send(JSON.stringify(request(id, method, params)));
    return id;
  }

  notify(method: string, params?: Json): void {
    this.#send(JSON.stringify(notification(method, params)));
  }

  send(message: RpcMessage): void {
    this.#send(JSON.stringify(message));
  }

  /** Asks the agent to stop working on a request of ours. */
  cancel(id: number): void {
    if (this.#pending.has(id)) this.notify(ACP.cancelRequest, { requestId: id });
  }

  /** The client's request behind an agent-side id (elicitations name it, X12). */
  callBehind(id: RpcId): Call | undefined {
    return typeof id === "number" ? this.#pending.get(id)?.call : undefined;
  }

  /** Asks the agent to stop working on the request behind `call`, if it has it. */
  cancelFor(call: Call): void {
    for (const [id, pending] of this.#pending) if (pending.call === call) this.cancel(id);
  }

  /** Takes the agent's response. False when nobody waits for that id. */
  onResponse(response: RpcResponse, now: number): boolean {
    const pending = typeof response.id === "number" ? this.#pending.get(response.id) : undefined;
    if (pending === undefined || typeof response.id !== "number") return false;
    this.#pending.delete(response.id);
    pending.onReply("error" in response ? { error: response.error } : { result: unforged(response.result) }, now);
    return true;
  }

  /** Answers everything that waits: the agent is gone (S8). What a reply sends in turn is answered as well. */
  failAll(body: AnswerBody, now: number): void {
    while (this.#pending.size > 0) {
      const pending = [...this.#pending.values()];
      this.#pending.clear();
      for (const entry of pending) entry.onReply(body, now);
    }
  }
}

/** What an agent says, without what only we may say in it (B7). */
export function unforged<Said extends Json | undefined>(said: Said): Said | JsonObject {
  return isObject(said) && hubMeta(said) !== undefined ? withHubMeta(said, undefined) : said;
}

/** Requests in flight from one connection, by id with its type (P5). */
export class InFlight<Entry> {
  readonly #entries = new Map<string, Entry>();

  /** False when the id is in flight already. */
  add(id: RpcId, entry: Entry): boolean {
    const key = idKey(id);
    if (this.#entries.has(key)) return false;
    this.#entries.set(key, entry);
    return true;
  }

  get(id: RpcId): Entry | undefined {
    return this.#entries.get(idKey(id));
  }

  delete(id: RpcId): void {
    this.#entries.delete(idKey(id));
  }

  values(): IterableIterator<Entry> {
    return this.#entries.values();
  }

  get size(): number {
    return this.#entries.size;
  }

  clear(): void {
    this.#entries.clear();
  }
}
