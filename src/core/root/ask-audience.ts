/** Whom an agent's question is for (X12): everybody, or the one whose request it is about. */
import type { RpcId } from "../../protocol/envelope.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { LINK_FEATURE } from "../../protocol/link.ts";
import type { Ask } from "./ask.ts";
import type { RootContext } from "./context.ts";

export type AskAudience = "all" | "primary" | "gone" | { readonly connectionId: string };

/** An elicitation may be scoped to a request: then it is its caller's, or nobody's any more. */
export function audienceOf({ agent }: RootContext, params: JsonObject): AskAudience {
  const requestId = params["requestId"];
  if (requestId === undefined || typeof requestId === "object" || typeof requestId === "boolean") return "all";
  const call = agent.callBehind(requestId);
  if (call === undefined) return "gone";
  return call.caller.isPrimary ? "primary" : { connectionId: call.caller.key };
}

/** A hub that shows addresses to all is told of none. */
export const isForLink = ({ link }: RootContext, ask: Ask): boolean =>
  ask.isShared && !ask.isForPrimary && (ask.owner === undefined || link.does(LINK_FEATURE.owners));

/** Only some may answer, and they are not there or cannot show it: nobody ever will. */
export function isHopeless({ link }: RootContext, { isForPrimary, isShared, onlyConnection, copy }: Ask): boolean {
  if (isForPrimary || (!isShared && onlyConnection === undefined)) return !copy.isOpen;
  return onlyConnection !== undefined && !(isShared && link.isUp);
}

/** The caller's own id of the request it is about. */
export function callersIdOf({ agent }: RootContext, ask: Ask): RpcId | undefined {
  const requestId = ask.params["requestId"];
  if (typeof requestId !== "number" && typeof requestId !== "string") return undefined;
  return agent.callBehind(requestId)?.id;
}
