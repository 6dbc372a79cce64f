/** Which requests of a client are taken at all (I1, P5, T1). */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, failure, paramsOf, type RpcError } from "../../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import type { ClientRequest, Connection } from "./connection.ts";

/** Requests of one connection that may wait at a time: a client that asks faster than agents answer is told so. */
export const IN_FLIGHT_MAX = 1024;

/**
 * What one connection says of itself, in characters. It is kept as long as the connection, merged with what the others say, and
 * told to the bridge: editors and apps need a few hundred.
 */
export const INITIALIZE_CHARS_MAX = 16_384;

/** The refusal of an initialize that says too much. */
export function oversizeOf({ msg, text }: Frame & { kind: "request" }): RpcError | undefined {
  if (msg.method !== ACP.initialize || text.length <= INITIALIZE_CHARS_MAX) return undefined;
  return hubError(RPC.invalidParams, "too-large", `initialize may hold ${INITIALIZE_CHARS_MAX} characters`);
}

/** The request, which is owed an answer from here on; undefined when it got a refusal instead. */
export function admit<E>(connection: Connection<E>, frame: Frame & { kind: "request" }): ClientRequest | undefined {
  const { id, method } = frame.msg;
  const params = paramsOf(frame.msg);
  const request: ClientRequest = { id, method, params: params ?? {} };
  const refusal = oversizeOf(frame) ?? refusalOf(connection, request);
  if (refusal !== undefined) {
    connection.outbox.send(JSON.stringify(failure(id, refusal)));
    return undefined;
  }
  if (params === undefined && frame.msg.params !== undefined) {
    connection.answer(id, { error: invalidParams("params", "must be an object") });
    return undefined;
  }
  return request;
}

/** Takes it, or says why not. */
function refusalOf<E>(connection: Connection<E>, request: ClientRequest): RpcError | undefined {
  if (!connection.isInitialized && request.method !== ACP.initialize)
    return hubError(RPC.invalidRequest, "not-initialized", "initialize has to come first");
  if (connection.inFlight.size >= IN_FLIGHT_MAX)
    return hubError(RPC.internalError, "too-many-requests", `${IN_FLIGHT_MAX} requests wait already`);
  if (!connection.inFlight.add(request.id, request))
    return hubError(RPC.invalidRequest, "duplicate-request-id", "A request with this id is in flight");
  return undefined;
}
