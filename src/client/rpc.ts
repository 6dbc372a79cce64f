/**
 * JSON-RPC on one socket, both directions. Lives as long as the socket: what is in flight when it closes fails with
 * `connection-lost`, and nothing is ever sent on the next one (R5).
 */
import { failure, notification, parseFrame, type RpcId, request, result } from "../protocol/envelope.ts";
import { methodNotFound } from "../protocol/errors.ts";
import type { Json, JsonObject } from "../protocol/json.ts";
import { isObject } from "../protocol/json.ts";
import { CallError, ClientError } from "./errors.ts";
import type { Clock } from "./ports.ts";

export interface CallOptions {
  readonly signal?: AbortSignal;
  /** The call fails with `timeout` after this; none by default, a turn may take hours. */
  readonly timeoutMs?: number;
}

export interface RpcHandlers {
  onNotification(method: string, params: JsonObject): void;
  /** True when the request is taken: an answer follows by `respond`. False: it is refused as an unknown method. */
  onRequest(id: RpcId, method: string, params: JsonObject): boolean;
}

interface Pending {
  settle(outcome: { readonly value: Json } | { readonly error: Error }): void;
}

export class RpcPeer {
  readonly #send: (text: string) => void;
  readonly #clock: Clock;
  readonly #handlers: RpcHandlers;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;
  #isClosed = false;

  constructor(send: (text: string) => void, clock: Clock, handlers: RpcHandlers) {
    this.#send = send;
    this.#clock = clock;
    this.#handlers = handlers;
  }

  /** Calls the peer. Aborting asks it to stop (`$/cancel_request`) and keeps waiting for its last word. */
  call(method: string, params: JsonObject, options: CallOptions = {}): Promise<Json> {
    if (this.#isClosed) return Promise.reject(lost());
    if (options.signal?.aborted === true) return Promise.reject(new ClientError("aborted", "The call was aborted"));
    const id = this.#nextId++;
    return new Promise<Json>((resolve, reject) => {
      const onAbort = (): void => this.notify("$/cancel_request", { requestId: id, id });
      const stopTimer =
        options.timeoutMs === undefined
          ? undefined
          : this.#clock.after(options.timeoutMs, () => this.#settle(id, { error: timeout(method) }));
      this.#pending.set(id, {
        settle: (outcome) => {
          stopTimer?.();
          options.signal?.removeEventListener("abort", onAbort);
          if ("error" in outcome) reject(outcome.error);
          else resolve(outcome.value);
        },
      });
      options.signal?.addEventListener("abort", onAbort, { once: true });
      this.#send(JSON.stringify(request(id, method, params)));
    });
  }

  notify(method: string, params: JsonObject): void {
    if (!this.#isClosed) this.#send(JSON.stringify(notification(method, params)));
  }

  respond(id: RpcId, value: Json): void {
    if (!this.#isClosed) this.#send(JSON.stringify(result(id, value)));
  }

  /** Takes one text frame. Junk is ignored: the hub is trusted to speak JSON-RPC, and an answer to junk helps nobody. */
  receive(text: string): void {
    const parsed = parseFrame(text);
    if (!parsed.ok) return;
    const { frame } = parsed;
    if (frame.kind === "response") {
      const { id } = frame.msg;
      if (typeof id !== "number") return;
      if ("error" in frame.msg) this.#settle(id, { error: new CallError(frame.msg.error) });
      else this.#settle(id, { value: frame.msg.result });
      return;
    }
    const params = isObject(frame.msg.params) ? frame.msg.params : {};
    if (frame.kind === "notification") this.#handlers.onNotification(frame.msg.method, params);
    else if (!this.#handlers.onRequest(frame.msg.id, frame.msg.method, params)) {
      this.#send(JSON.stringify(failure(frame.msg.id, methodNotFound(frame.msg.method))));
    }
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const call of pending) call.settle({ error: lost() });
  }

  #settle(id: number, outcome: Parameters<Pending["settle"]>[0]): void {
    const call = this.#pending.get(id);
    if (call === undefined) return;
    this.#pending.delete(id);
    call.settle(outcome);
  }
}

const lost = (): ClientError => new ClientError("connection-lost", "The connection to the hub was lost");
const timeout = (method: string): ClientError => new ClientError("timeout", `The hub did not answer ${method} in time`);
