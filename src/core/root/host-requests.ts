/**
 * The agent's other requests (fs, terminal, extensions): the session's own editor answers them, under an id of ours (S7). Nothing
 * is left open: without an editor the answer is -32601.
 */

import { ACP } from "../../protocol/acp.ts";
import { idKey, notification, type RpcId, type RpcRequest, request } from "../../protocol/envelope.ts";
import { methodNotFound, RPC } from "../../protocol/errors.ts";
import { answerBody } from "../interaction/answer.ts";
import { bodyText } from "./calls.ts";
import type { RootContext } from "./context.ts";

export class HostRequests {
  readonly #context: RootContext;
  readonly #asked = new Map<string, { readonly primaryId: number; readonly agentId: RpcId }>();

  constructor(context: RootContext) {
    this.#context = context;
  }

  forward(message: RpcRequest): void {
    const primary = this.#context.livePrimary;
    if (primary === undefined) {
      this.#context.ports.toAgent(bodyText(message.id, { error: methodNotFound(message.method) }));
      return;
    }
    const primaryId = primary.nextId();
    this.#asked.set(idKey(message.id), { primaryId, agentId: message.id });
    primary.asked.set(primaryId, (response) => {
      this.#asked.delete(idKey(message.id));
      this.#context.ports.toAgent(bodyText(message.id, answerBody(response)));
    });
    this.#context.ports.toPrimary(JSON.stringify(request(primaryId, message.method, message.params)));
  }

  /** The agent takes a request back: the editor is told under the id it knows; its answer still goes through. */
  withdraw(agentId: RpcId): boolean {
    const asked = this.#asked.get(idKey(agentId));
    if (asked === undefined) return false;
    this.#context.ports.toPrimary(JSON.stringify(notification(ACP.cancelRequest, { requestId: asked.primaryId })));
    return true;
  }

  /** The editor is gone: what it was asked is answered. */
  onPrimaryGone(): void {
    for (const { agentId } of this.#asked.values()) {
      const error = { code: RPC.internalError, message: "The editor is gone" };
      this.#context.ports.toAgent(bodyText(agentId, { error }));
    }
    this.#asked.clear();
  }
}
