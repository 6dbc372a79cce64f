/**
 * The agent's questions at the attached editor. The hub asks them anew after every return and every load; the editor sees each as
 * one dialog, whatever happens to the link.
 *
 * D1 One interaction (and step of it) is at most one open dialog, under an id of ours that is never used again.
 * D2 What the editor answered is answered: asked again after a return, the hub gets that answer, and nobody is asked twice.
 * D3 A dialog closes when its interaction is settled, or when a return did not bring it back.
 */
import { ACP } from "../../protocol/acp.ts";
import { notification, type RpcId, type RpcResponse, request } from "../../protocol/envelope.ts";
import { type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { hubMeta } from "../../protocol/meta.ts";

interface Dialog {
  /** The interaction, or the request itself where it names none. */
  readonly key: string;
  readonly step: number;
  readonly sessionId: string | undefined;
  readonly method: string;
  params: JsonObject;
  /** What the editor knows it by; undefined while its session is none of the editor's. */
  editorId: number | undefined;
  /** What the hub asked it under on this socket. */
  hubId: RpcId | undefined;
  answer: RpcResponse | undefined;
}

export interface DialogPorts {
  toEditor(text: string): void;
  toHub(text: string): void;
  /** True when the editor has that session. */
  isShown(sessionId: string): boolean;
}

/** Kept of answered ones until their settling is heard of. */
const DIALOGS_MAX = 512;

export class Dialogs {
  readonly #ports: DialogPorts;
  readonly #dialogs = new Set<Dialog>();
  /** A return is under way: withdrawals may only mean that the question comes again. */
  #isReturning = false;
  #nextId = 1;

  constructor(ports: DialogPorts) {
    this.#ports = ports;
  }

  /** The hub asks. `params` as the editor is to see them. */
  ask(hubId: RpcId, method: string, params: JsonObject): void {
    const ours = hubMeta(params);
    const key = stringAt(ours, "interactionId") ?? `request ${JSON.stringify(hubId)}`;
    const step = numberAt(objectAt(ours, "step"), "index") ?? 0;
    const known = this.#find((each) => each.key === key);
    if (known?.step === step) {
      known.hubId = hubId;
      if (known.answer !== undefined) this.#sendAnswer(known, known.answer);
      return;
    }
    if (known !== undefined) this.#close(known);
    const sessionId = stringAt(params, "sessionId");
    const dialog: Dialog = { key, step, sessionId, method, params, editorId: undefined, hubId, answer: undefined };
    this.#add(dialog);
    if (sessionId === undefined || this.#ports.isShown(sessionId)) this.#open(dialog);
  }

  /** The editor has the session now: what waits in it is shown. */
  reveal(sessionId: string): void {
    for (const dialog of this.#dialogs) {
      if (dialog.sessionId === sessionId && dialog.editorId === undefined) this.#open(dialog);
    }
  }

  /** The hub takes its question back. */
  withdraw(hubId: RpcId): void {
    const dialog = this.#find((each) => each.hubId === hubId);
    if (dialog === undefined) return;
    dialog.hubId = undefined;
    if (!this.#isReturning) this.#close(dialog);
  }

  /** Somebody's answer counted. */
  settle(interactionId: string): void {
    const dialog = this.#find((each) => each.key === interactionId);
    if (dialog !== undefined) this.#close(dialog);
  }

  /** Our answer was no valid one: the interaction is open, and may be asked again. */
  reject(interactionId: string): void {
    const dialog = this.#find((each) => each.key === interactionId);
    if (dialog?.answer !== undefined) this.#dialogs.delete(dialog);
  }

  /** The editor answers. False when it is none of these. */
  answer(response: RpcResponse): boolean {
    const dialog = this.#find((each) => each.editorId === response.id && each.answer === undefined);
    if (dialog === undefined) return false;
    dialog.answer = response;
    this.#sendAnswer(dialog, response);
    return true;
  }

  /** The socket is gone, its ids with it. */
  onDown(): void {
    this.#isReturning = true;
    for (const dialog of this.#dialogs) dialog.hubId = undefined;
  }

  /** What could come back has come: the others have ended while we were away. */
  onReturned(): void {
    this.#isReturning = false;
    for (const dialog of this.#dialogs) if (dialog.hubId === undefined) this.#close(dialog);
  }

  #find(matches: (dialog: Dialog) => boolean): Dialog | undefined {
    for (const dialog of this.#dialogs) if (matches(dialog)) return dialog;
    return undefined;
  }

  #add(dialog: Dialog): void {
    this.#dialogs.add(dialog);
    if (this.#dialogs.size <= DIALOGS_MAX) return;
    const oldest = this.#find((each) => each.answer !== undefined) ?? dialog;
    this.#dialogs.delete(oldest);
  }

  #open(dialog: Dialog): void {
    dialog.editorId = this.#nextId;
    this.#nextId += 1;
    this.#ports.toEditor(JSON.stringify(request(dialog.editorId, dialog.method, dialog.params)));
  }

  #close(dialog: Dialog): void {
    this.#dialogs.delete(dialog);
    if (dialog.editorId === undefined || dialog.answer !== undefined) return;
    const params = { requestId: dialog.editorId, id: dialog.editorId };
    this.#ports.toEditor(JSON.stringify(notification(ACP.cancelRequest, params)));
  }

  #sendAnswer(dialog: Dialog, response: RpcResponse): void {
    if (dialog.hubId !== undefined) this.#ports.toHub(JSON.stringify({ ...response, id: dialog.hubId }));
  }
}
