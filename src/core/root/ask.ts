/** An interaction as the root holds it, and as it tells the hub of it (R2, R3). Data. */
import type { RpcId } from "../../protocol/envelope.ts";
import type { InteractionId } from "../../protocol/ids.ts";
import type { Json, JsonObject } from "../../protocol/json.ts";
import type { LinkInteraction } from "../../protocol/link.ts";
import { type By, hubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { UrlOwner } from "../interaction/url-owner.ts";
import type { PrimaryCopy } from "./primary-copy.ts";
import type { RootSession } from "./session.ts";

/** What the root does of itself. */
export const SYSTEM: By = { connectionId: "root", device: "root", name: "acp-hub" };

/** An agent's question, from its opening to its one answer. */
export interface Ask {
  readonly interactionId: InteractionId;
  readonly agentId: RpcId;
  readonly method: string;
  readonly params: JsonObject;
  readonly session: RootSession | undefined;
  readonly openedAt: number;
  readonly toolCallId: string | undefined;
  readonly copy: PrimaryCopy;
  /** Open copies beyond the link, as the hub reports them. */
  linkCopies: number;
  /** It has reported them, on this link. */
  isReported: boolean;
  /** What the primary said that was no answer, before the hub's first report (A4). */
  held: AnswerBody | undefined;
  /** Only this remote connection may see it (X12). */
  readonly onlyConnection: string | undefined;
  /** Only the primary may see it (X12). */
  readonly isForPrimary: boolean;
  /** It is small enough to be shown to others: nobody may allow what he was not shown whole (T2). */
  readonly isShared: boolean;
  /** Whose a url elicitation is (X12). */
  readonly owner: UrlOwner | undefined;
}

/** As it stands on the link. */
export function describe(ask: Ask): LinkInteraction {
  const { interactionId: id, method, params, openedAt, session, owner } = ask;
  return {
    interactionId: id,
    method,
    params,
    openedAt,
    ...(session !== undefined && { sessionId: session.id }),
    ...(owner !== undefined && { owner }),
  };
}

/** A backend's own rendering of a form travels with the interaction (X8). */
export function pickDowngrade(params: JsonObject): JsonObject {
  const downgrade: Json | undefined = hubMeta(params)?.["downgrade"];
  return downgrade === undefined ? {} : { downgrade };
}
