/** Our end of the channel to the one ACP client: its requests in, our updates and questions out. */

import { ACP } from "../../../protocol/acp.ts";
import {
  type Envelope,
  failure,
  idKey,
  notification,
  paramsOf,
  type RpcError,
  type RpcId,
  type RpcResponse,
  request,
  result,
} from "../../../protocol/envelope.ts";
import { methodNotFound, RPC } from "../../../protocol/errors.ts";
import type { Json, JsonObject } from "../../../protocol/json.ts";
import type { Transport } from "../../../transport/transport.ts";
import type { Log } from "../log.ts";
import { ZcodeError } from "../rpc/errors.ts";

/** A refusal with a wire error of its own. */
export class AcpFailure extends Error {
  readonly error: RpcError;

  constructor(error: RpcError) {
    super(error.message);
    this.name = "AcpFailure";
    this.error = error;
  }
}

export interface AcpHandlers {
  /** Undefined for an unknown method. `signal` aborts when the client cancels the request. */
  onRequest(method: string, params: JsonObject, signal: AbortSignal): Promise<Json> | undefined;
  onNotification(method: string, params: JsonObject): void;
  onClose(): void;
}

export interface AcpQuestion {
  readonly answer: Promise<Json>;
  /** Takes the question back: the client is told, and `answer` rejects. Nothing happens once it is settled. */
  withdraw(): void;
}

interface PendingQuestion {
  resolve(value: Json): void;
  reject(error: Error): void;
}

/** The wire error for anything a handler threw. */
export function wireError(error: unknown): RpcError {
  if (error instanceof AcpFailure) return error.error;
  if (error instanceof ZcodeError) {
    const code =
      error.kind === "no-method"
        ? RPC.methodNotFound
        : error.kind === "invalid"
          ? RPC.invalidParams
          : RPC.internalError;
    return { code, message: error.message, data: { zcode: { kind: error.kind, code: error.code } } };
  }
  return {
    code: RPC.internalError,
    message: "The ZCode bridge failed",
    data: { name: error instanceof Error ? error.name : "unknown" },
  };
}

export class AcpLink {
  readonly #transport: Transport;
  readonly #handlers: AcpHandlers;
  readonly #log: Log;
  readonly #questions = new Map<RpcId, PendingQuestion>();
  readonly #running = new Map<string, AbortController>();
  #nextId = 0;

  constructor(transport: Transport, handlers: AcpHandlers, log: Log) {
    this.#transport = transport;
    this.#handlers = handlers;
    this.#log = log;
  }

  start(): void {
    this.#transport.start({
      onFrame: (frame) => this.#receive(frame),
      onJunk: (refusal) => void this.#transport.send(JSON.stringify(refusal)),
      onClose: () => this.#closed(),
    });
  }

  notify(method: string, params: JsonObject): void {
    this.#transport.send(JSON.stringify(notification(method, params)));
  }

  /** Asks the client something. Rejects with AcpFailure on an error answer, on `withdraw` and when the client is gone. */
  ask(method: string, params: JsonObject): AcpQuestion {
    const id = this.#nextId++;
    let isOpen = true;
    const answer = new Promise<Json>((resolve, reject) => {
      this.#questions.set(id, {
        resolve(value) {
          isOpen = false;
          resolve(value);
        },
        reject(error) {
          isOpen = false;
          reject(error);
        },
      });
    });
    this.#transport.send(JSON.stringify(request(id, method, params)));
    return {
      answer,
      withdraw: () => {
        if (!isOpen) return;
        this.#questions.get(id)?.reject(new AcpFailure({ code: RPC.requestCancelled, message: "Withdrawn" }));
        this.#questions.delete(id);
        this.notify(ACP.cancelRequest, { requestId: id, id });
      },
    };
  }

  close(): void {
    this.#transport.close({ reason: "agent stopped" });
  }

  #receive(frame: Envelope): void {
    if (frame.kind === "request") return this.#serve(frame.msg.id, frame.msg.method, paramsOf(frame.msg) ?? {});
    if (frame.kind === "notification") {
      const params = paramsOf(frame.msg) ?? {};
      if (frame.msg.method !== ACP.cancelRequest) return this.#handlers.onNotification(frame.msg.method, params);
      const target = params["requestId"];
      if (typeof target === "string" || typeof target === "number") this.#running.get(idKey(target))?.abort();
      return;
    }
    const { msg } = frame;
    const question = this.#questions.get(msg.id);
    // Late answers are normal: the question was withdrawn or the turn cancelled meanwhile.
    if (question === undefined) return;
    this.#questions.delete(msg.id);
    if ("error" in msg) question.reject(new AcpFailure(msg.error));
    else question.resolve(msg.result);
  }

  #serve(id: RpcId, method: string, params: JsonObject): void {
    const key = idKey(id);
    const controller = new AbortController();
    const work = this.#handlers.onRequest(method, params, controller.signal);
    if (work === undefined) {
      this.#transport.send(JSON.stringify(failure(id, methodNotFound(method))));
      return;
    }
    this.#running.set(key, controller);
    const reply = (answer: RpcResponse): void => {
      this.#running.delete(key);
      this.#transport.send(JSON.stringify(answer));
    };
    work.then(
      (value) => reply(result(id, value)),
      (error: unknown) => {
        this.#log("info", "acp request failed", { method, error: error instanceof Error ? error.name : "unknown" });
        reply(failure(id, wireError(error)));
      },
    );
  }

  #closed(): void {
    const gone = new AcpFailure({ code: RPC.internalError, message: "The client is gone" });
    for (const question of this.#questions.values()) question.reject(gone);
    this.#questions.clear();
    for (const controller of this.#running.values()) controller.abort();
    this.#handlers.onClose();
  }
}
