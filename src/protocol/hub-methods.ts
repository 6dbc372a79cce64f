/** The `_acp-hub/*` extension a remote client may use (contract §4): names and payload shapes. All are optional for a client. */

import type { StopReason } from "./acp.ts";
import type { Json, JsonObject } from "./json.ts";
import type { By } from "./meta.ts";

export const HUB = {
  turn: "_acp-hub/turn",
  interactionSettled: "_acp-hub/interaction_settled",
  interactionRejected: "_acp-hub/interaction_rejected",
  presence: "_acp-hub/presence",
  typing: "_acp-hub/typing",
  detached: "_acp-hub/detached",
  reset: "_acp-hub/reset",
  gap: "_acp-hub/gap",
  loadEarlier: "_acp-hub/load_earlier",
  queueList: "_acp-hub/queue/list",
  queueRemove: "_acp-hub/queue/remove",
  queueMove: "_acp-hub/queue/move",
} as const;

/** Names a hub puts into `_meta["acp-hub"].features` of its initialize result. */
export const FEATURES = ["cursor", "turn", "queue", "interactions", "presence", "promptId", "typing"] as const;

export type TurnState = "running" | "idle" | "waiting";

/** One prompt that waits in the lane. */
export type QueueEntry = {
  /** Its sender's name for it, or one of the root's for as long as it waits; older bridges give none of their own. */
  readonly promptId?: string;
  readonly by: By;
  /** Epoch milliseconds. */
  readonly queuedAt: number;
  /** The first text of the prompt, at most 120 characters. */
  readonly title: string;
};

/** `_acp-hub/turn`. A numbered event: who returns by cursor learns it (R5). */
export type TurnNotice = {
  readonly sessionId: string;
  readonly state: TurnState;
  readonly promptId?: string;
  readonly by?: By;
  /** Set when this notice ends a turn. */
  readonly stopReason?: StopReason | string;
  /** Set when the turn ended with an error instead of a stop reason. */
  readonly error?: { readonly code: number; readonly message: string };
  readonly queue: readonly QueueEntry[];
};

/** How an interaction ended. `cancelled` by a cancel of the turn, `withdrawn` by the agent, `ended` with the session or agent. */
export type SettledAction = "answered" | "cancelled" | "withdrawn" | "ended";

/** What was chosen: option id of a permission, action of an elicitation and what its form holds. Free text never. */
export type SettledOutcome = {
  readonly action: SettledAction;
  readonly optionId?: string;
  readonly optionName?: string;
  readonly optionKind?: string;
  readonly elicitation?: string;
  /** By field: enum values and booleans as chosen, free text and numbers as `{length}`. */
  readonly content?: JsonObject;
};

/** `_acp-hub/interaction_settled`, and the verdict of a proposal (R3). A numbered event. */
export type SettledNotice = {
  readonly sessionId?: string;
  readonly interactionId: string;
  readonly toolCallId?: string;
  readonly outcome: SettledOutcome;
  readonly by: By;
  /** Epoch milliseconds. */
  readonly at: number;
};

/** `_acp-hub/interaction_rejected`: the answer was not valid, the interaction is still open (X3). */
export interface RejectedNotice {
  readonly interactionId: string;
  readonly reason: string;
}

/** An open interaction as `GET /api/interactions` shows it. */
export interface OpenInteraction {
  readonly interactionId: string;
  readonly instanceId: string;
  readonly sessionId?: string;
  readonly method: string;
  readonly params: Json;
  readonly openedAt: number;
}

/** The verdict on a client's cursor (S3). */
export type LoadVerdict = "ok" | "gap" | "reset";

/** `_meta["acp-hub"]` of a load or resume result. */
export interface LoadMeta extends JsonObject {
  verdict: LoadVerdict;
  cursor: { epoch: string; seq: number };
}
