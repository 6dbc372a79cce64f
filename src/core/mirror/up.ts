/** Requests on their way to the root, under ids of this dial (P5, R5). */
import { type RpcId, type RpcResponse, request } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { type Author, hubMeta, withHubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { MirrorContext } from "./context.ts";

export const linkLost: AnswerBody = {
  error: hubError(RPC.internalError, "link-lost", "The session's bridge cannot be reached right now: try again"),
};

interface Pending {
  readonly connectionId: string;
  readonly clientId: RpcId | undefined;
  readonly onReply: (body: AnswerBody) => void;
}

/** The client's params with our fields read by the root, the author from the credential, and nothing else of ours (contract §2). */
export function stampBy(params: JsonObject, author: Author): JsonObject {
  const { promptId, delivery, force } = hubMeta(params) ?? {};
  const { connectionId, device, name, isOwner } = author;
  return withHubMeta(params, {
    by: { connectionId, device, name },
    ...(isOwner === true && { isOwner }),
    ...(promptId !== undefined && { promptId }),
    ...(delivery !== undefined && { delivery }),
    ...(force !== undefined && { force }),
  });
}

export class UpCalls<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #pending = new Map<number, Pending>();
  #nextId = 1;

  constructor(context: MirrorContext<Encoded>) {
    this.#context = context;
  }

  /** Sends a request up; `onReply` gets the root's answer, or `link-lost`. `clientId`: the request of a client behind it. */
  request(method: string, params: JsonObject, by: Author, onReply: (body: AnswerBody) => void, clientId?: RpcId): void {
    if (!this.#context.isLinkUp) return onReply(linkLost);
    const id = this.#nextId;
    this.#nextId += 1;
    this.#pending.set(id, { connectionId: by.connectionId, clientId, onReply });
    return this.#context.ports.toLink(JSON.stringify(request(id, method, stampBy(params, by))));
  }

  /** The id the root knows a client's request under. */
  linkIdOf(connectionId: string, clientId: RpcId): number | undefined {
    for (const [id, pending] of this.#pending) {
      if (pending.clientId !== undefined && pending.connectionId === connectionId && pending.clientId === clientId)
        return id;
    }
    return undefined;
  }

  /** The client's own id of a request the root names (X12). */
  clientIdOf(linkId: RpcId): RpcId | undefined {
    return typeof linkId === "number" ? this.#pending.get(linkId)?.clientId : undefined;
  }

  onResponse(response: RpcResponse): void {
    const pending = typeof response.id === "number" ? this.#pending.get(response.id) : undefined;
    if (pending === undefined || typeof response.id !== "number") return;
    this.#pending.delete(response.id);
    pending.onReply("error" in response ? { error: response.error } : { result: response.result });
  }

  /** R5: nothing owed by a dead link comes any more. */
  failAll(body: AnswerBody): void {
    const pending = [...this.#pending.values()];
    this.#pending.clear();
    for (const entry of pending) entry.onReply(body);
  }
}
