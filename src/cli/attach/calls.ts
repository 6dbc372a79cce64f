/**
 * The editor's requests on their way to the hub: under ids of ours, kept over a loss where asking twice does no harm, answered
 * clearly where it could.
 *
 * Ca1 Every request is answered exactly once, under the id the editor gave.
 * Ca2 Of what is sent again nothing runs twice: prompts carry an id of their own, the rest only looks or sets.
 */
import { ACP } from "../../protocol/acp.ts";
import { failure, idKey, type RpcError, type RpcId, type RpcResponse } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import type { JsonObject } from "../../protocol/json.ts";

export interface EditorCall {
  readonly id: RpcId;
  readonly method: string;
  params: JsonObject;
  /** Asking again is safe. */
  readonly canRepeat: boolean;
  /** The hub may have it: a prompt that was sent runs, whatever the link does. */
  wasSent: boolean;
  /** The editor took it back. The hub is told once more when it is sent again: a dying link takes what it is given. */
  isCancelled: boolean;
  /** The editor cancelled the turn of this prompt; the same holds. */
  isTurnCancelled: boolean;
  cancelDeadline: () => void;
  /** Sees the answer before the editor does. */
  readonly onAnswer: (call: EditorCall, response: RpcResponse) => void;
}

const REPEATABLE: ReadonlySet<string> = new Set([
  ACP.initialize,
  ACP.sessionPrompt,
  ACP.sessionLoad,
  ACP.sessionResume,
  ACP.sessionList,
  ACP.sessionClose,
  ACP.sessionStatus,
  ACP.sessionSetMode,
  ACP.sessionSetModel,
  ACP.sessionSetConfigOption,
  ACP.sessionSetTitle,
  HUB.loadEarlier,
  HUB.queueList,
]);

export const canRepeat = (method: string): boolean => REPEATABLE.has(method);

export const lostError = (): RpcError =>
  hubError(RPC.internalError, "link-lost", "The connection to the hub was lost before this was answered: try again");

export class EditorCalls {
  readonly #toEditor: (text: string) => void;
  /** By the editor's ids. */
  readonly #open = new Map<string, EditorCall>();
  /** On this socket, by the ids the hub has them under. */
  readonly #sent = new Map<number, EditorCall>();

  constructor(toEditor: (text: string) => void) {
    this.#toEditor = toEditor;
  }

  get size(): number {
    return this.#open.size;
  }

  /** False when a request with that id is in flight (P5). */
  add(call: EditorCall): boolean {
    const key = idKey(call.id);
    if (this.#open.has(key)) return false;
    this.#open.set(key, call);
    return true;
  }

  find(id: RpcId): EditorCall | undefined {
    return this.#open.get(idKey(id));
  }

  onSent(call: EditorCall, hubId: number): void {
    call.wasSent = true;
    call.cancelDeadline();
    this.#sent.set(hubId, call);
  }

  hubIdOf(call: EditorCall): number | undefined {
    for (const [hubId, each] of this.#sent) if (each === call) return hubId;
    return undefined;
  }

  /** What the hub has under that id on this socket. */
  callOf(hubId: unknown): EditorCall | undefined {
    return typeof hubId === "number" ? this.#sent.get(hubId) : undefined;
  }

  /** It is to be sent again. */
  putBack(hubId: RpcId): void {
    if (typeof hubId === "number") this.#sent.delete(hubId);
  }

  isWaiting(call: EditorCall): boolean {
    return this.find(call.id) === call && this.hubIdOf(call) === undefined;
  }

  /** The hub answered. False when it is no call of the editor's. */
  onResponse(response: RpcResponse): boolean {
    const call = typeof response.id === "number" ? this.#sent.get(response.id) : undefined;
    if (call === undefined || typeof response.id !== "number") return false;
    this.#sent.delete(response.id);
    this.finish(call, { ...response, id: call.id });
    return true;
  }

  fail(call: EditorCall, error: RpcError): void {
    this.finish(call, failure(call.id, error));
  }

  finish(call: EditorCall, response: RpcResponse): void {
    if (this.#open.get(idKey(call.id)) !== call) return;
    this.#open.delete(idKey(call.id));
    for (const [hubId, each] of this.#sent) if (each === call) this.#sent.delete(hubId);
    call.cancelDeadline();
    call.onAnswer(call, response);
    this.#toEditor(JSON.stringify(response));
  }

  /** The socket is gone. What may not be asked twice is answered now; the others wait for the next. */
  onDown(): void {
    this.#sent.clear();
    for (const call of this.waiting()) if (call.wasSent && !call.canRepeat) this.fail(call, lostError());
  }

  /** In the order the editor asked: what is not with the hub. */
  waiting(): EditorCall[] {
    const sent = new Set(this.#sent.values());
    return [...this.#open.values()].filter((call) => !sent.has(call));
  }

  all(): EditorCall[] {
    return [...this.#open.values()];
  }
}
