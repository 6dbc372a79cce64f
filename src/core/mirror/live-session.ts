/** The live session a client's request names. */
import type { RpcError } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import { sessionId } from "../../protocol/ids.ts";
import { type JsonObject, stringAt } from "../../protocol/json.ts";
import type { MirrorContext } from "./context.ts";
import type { MirrorSession } from "./session.ts";

export function liveSession<E>({ sessions }: MirrorContext<E>, params: JsonObject): MirrorSession<E> | undefined {
  const id = stringAt(params, "sessionId");
  return id === undefined ? undefined : sessions.get(sessionId(id));
}

export const notLive = (params: JsonObject): RpcError =>
  hubError(RPC.resourceNotFound, "session-not-live", "The session is not live: load it first", {
    sessionId: stringAt(params, "sessionId") ?? null,
  });
