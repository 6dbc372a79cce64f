/**
 * The editor's messages on their way to the hub: sent, kept until there is a link, asked again after one was lost, or answered with
 * why they cannot be.
 */
import { ACP } from "../../protocol/acp.ts";
import {
  type Frame,
  failure,
  notification,
  paramsOf,
  type RpcId,
  type RpcResponse,
  request,
} from "../../protocol/envelope.ts";
import { type HubErrorCode, hubError, RPC } from "../../protocol/errors.ts";
import { isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { canRepeat, type EditorCall, lostError } from "./calls.ts";
import type { AttachContext } from "./context.ts";
import { isExtended, onAnswered, onAsked, paramsToSend } from "./session-calls.ts";

/** How long a request waits for a link. A prompt the hub has waits for its end. */
const WAIT_MS = 30_000;
/** A bridge that lost the hub is asked again this often, for so long. */
const RETRY_MS = 500;
const PATIENCE_MS = 15_000;
const CALLS_MAX = 256;
const CANCEL_AGAIN_MS = 1000;

export interface EditorSideEvents {
  /** The editor said who it is. */
  onInitialize(): void;
  /** The hub answered it. */
  onInitialized(response: RpcResponse): void;
}

export class EditorSide {
  readonly #context: AttachContext;
  readonly #events: EditorSideEvents;
  /** The link is there and the sessions are attached: what is asked goes out at once. */
  #isOpen = false;
  /** The editor's own words, for every socket. */
  #initialize: JsonObject | undefined;

  readonly #awaySince = new WeakMap<EditorCall, number>();

  constructor(context: AttachContext, events: EditorSideEvents) {
    this.#context = context;
    this.#events = events;
  }

  get initializeParams(): JsonObject | undefined {
    return this.#initialize;
  }

  onFrame(frame: Frame): void {
    if (frame.kind === "response") this.#context.dialogs.answer(frame.msg);
    else if (frame.kind === "notification") this.#onNotification(frame, paramsOf(frame.msg) ?? {});
    else this.#onRequest(frame.msg.id, frame.msg.method, frame);
  }

  /** The initialize the editor waits for, if it does. */
  sendInitialize(): boolean {
    const own = this.#context.calls.waiting().filter((call) => call.method === ACP.initialize);
    for (const call of own) this.#send(call);
    return own.length > 0;
  }

  /** Everything that waited goes out, in order. */
  open(): void {
    this.#isOpen = true;
    for (const call of this.#context.calls.waiting()) {
      this.#send(call);
      if (call.isTurnCancelled) this.#cancelTurnSoon(call);
    }
  }

  onDown(): void {
    this.#isOpen = false;
    this.#context.calls.onDown();
    for (const call of this.#context.calls.waiting()) this.#bound(call);
  }

  /** Nothing can be asked any more. */
  failAll(message: string): void {
    const error = hubError(RPC.internalError, "link-lost", message);
    for (const call of this.#context.calls.all()) this.#context.calls.fail(call, error);
  }

  /** A session is not coming back: what it owed is answered. */
  failSession(sessionId: string): void {
    const error = hubError(RPC.internalError, "instance-gone", "The session is not live any more", { sessionId });
    for (const call of this.#context.calls.waiting())
      if (call.wasSent && stringAt(call.params, "sessionId") === sessionId) this.#context.calls.fail(call, error);
  }

  /** True when the answer is put off: a bridge that lost its link comes back in a moment, with its turns still running. */
  putsOff(response: RpcResponse): boolean {
    const { calls, options } = this.#context;
    const call = calls.callOf(response.id);
    if (call === undefined || !call.canRepeat || !isLinkLost(response)) return false;
    const now = options.clock.now();
    const since = this.#awaySince.get(call) ?? now;
    this.#awaySince.set(call, since);
    if (now - since >= PATIENCE_MS) return false;
    calls.putBack(response.id);
    options.clock.after(RETRY_MS, () => {
      if (this.#isOpen && calls.isWaiting(call)) this.#send(call);
    });
    return true;
  }

  #onRequest(id: RpcId, method: string, frame: Frame & { kind: "request" }): void {
    const { calls } = this.#context;
    const params = paramsOf(frame.msg) ?? {};
    if (method === ACP.initialize) this.#onInitialize(params);
    else if (this.#initialize === undefined)
      return this.#refuse(id, hubError(RPC.invalidRequest, "not-initialized", "initialize has to come first"));
    if (calls.size >= CALLS_MAX)
      return this.#refuse(id, hubError(RPC.internalError, "too-many-requests", "Too many requests wait for the hub"));
    const call = this.#callOf(id, method, params);
    if (!calls.add(call))
      return this.#refuse(
        id,
        hubError(RPC.invalidRequest, "duplicate-request-id", "A request with this id is in flight"),
      );
    onAsked(this.#context, call);
    if (this.#isOpen) return this.#send(call);
    this.#bound(call);
    if (method === ACP.initialize) this.#events.onInitialize();
    return undefined;
  }

  #onInitialize(params: JsonObject): void {
    this.#initialize = params;
    this.#context.isEditorExtended = isExtended(params);
  }

  #callOf(id: RpcId, method: string, params: JsonObject): EditorCall {
    const isAdopting = method === ACP.sessionNew && this.#context.options.pinnedSession !== undefined;
    return {
      id,
      method,
      params,
      canRepeat: canRepeat(method) || isAdopting,
      wasSent: false,
      isCancelled: false,
      isTurnCancelled: false,
      cancelDeadline: () => undefined,
      onAnswer: (call, response) => {
        onAnswered(this.#context, call, response);
        if (method === ACP.initialize) this.#events.onInitialized(response);
      },
    };
  }

  #refuse(id: RpcId, error: Parameters<typeof failure>[1]): void {
    this.#context.toEditor(JSON.stringify(failure(id, error)));
  }

  #send(call: EditorCall): void {
    const params = paramsToSend(this.#context, call);
    const hubId = this.#context.nextHubId();
    const text = JSON.stringify(request(hubId, call.method, params));
    // Sent, it would end the link for everything else.
    if (Buffer.byteLength(text) > this.#context.frameBytesMax)
      return this.#context.calls.fail(call, { code: RPC.invalidRequest, message: "This is larger than a hub takes" });
    this.#context.calls.onSent(call, hubId);
    this.#context.toHub(text);
    return call.isCancelled ? this.#notify(ACP.cancelRequest, { requestId: hubId }) : undefined;
  }

  #notify(method: string, params: JsonObject): void {
    this.#context.toHub(JSON.stringify(notification(method, params)));
  }

  #bound(call: EditorCall): void {
    call.cancelDeadline();
    if (call.wasSent && call.method === ACP.sessionPrompt) return;
    call.cancelDeadline = this.#context.options.clock.after(WAIT_MS, () => this.#context.calls.fail(call, lostError()));
  }

  #onNotification(frame: Frame & { kind: "notification" }, params: JsonObject): void {
    const { method } = frame.msg;
    if (method === ACP.cancelRequest) return this.#cancelRequest(params);
    if (method === ACP.sessionCancel) this.#noteCancel(stringAt(params, "sessionId"));
    return this.#isOpen ? this.#context.toHub(frame.text) : undefined;
  }

  /** Prompts the hub may have are cancelled there, now or on the next link; what it never had is answered here. */
  #noteCancel(sessionId: string | undefined): void {
    for (const call of this.#context.calls.all()) {
      if (call.method !== ACP.sessionPrompt || stringAt(call.params, "sessionId") !== sessionId) continue;
      if (call.wasSent) call.isTurnCancelled = true;
      else this.#context.calls.finish(call, { jsonrpc: "2.0", id: call.id, result: { stopReason: "cancelled" } });
    }
  }

  /** The first cancel may have arrived: then the prompt's end comes at once, and another would hit somebody else's turn. */
  #cancelTurnSoon(call: EditorCall): void {
    const { calls, options } = this.#context;
    options.clock.after(CANCEL_AGAIN_MS, () => {
      const isOwed = calls.find(call.id) === call && calls.hubIdOf(call) !== undefined;
      if (isOwed) this.#notify(ACP.sessionCancel, { sessionId: call.params["sessionId"] ?? null });
    });
  }

  #cancelRequest(params: JsonObject): void {
    const id = params["requestId"];
    if (typeof id !== "string" && typeof id !== "number" && id !== null) return;
    const { calls } = this.#context;
    const call = calls.find(id);
    if (call === undefined) return;
    const hubId = calls.hubIdOf(call);
    call.isCancelled = true;
    if (hubId !== undefined) this.#notify(ACP.cancelRequest, { requestId: hubId });
    else if (!call.wasSent) calls.fail(call, { code: RPC.requestCancelled, message: "Request cancelled" });
  }
}

function isLinkLost(response: RpcResponse): boolean {
  const data = "error" in response && isObject(response.error.data) ? response.error.data : undefined;
  return data?.["code"] === ("link-lost" satisfies HubErrorCode);
}
