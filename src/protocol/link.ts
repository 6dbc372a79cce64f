/**
 * The link, bridge → hub (contract §7): newline-delimited JSON-RPC on a local socket, versioned, additive.
 *
 * Downstream (bridge → hub): hello, snapshot, then numbered events (`session/update`, `_acp-hub/turn`,
 * `_acp-hub/interaction_settled`, each with a stamp in `params._meta["acp-hub"]`), interactions by id, untouched agent
 * notifications, and responses. Upstream (hub → bridge): client requests and notifications stamped `by`, proposals, acks.
 */

import type { RpcError } from "./envelope.ts";
import type { QueueEntry, SettledNotice, TurnState } from "./hub-methods.ts";
import type { Json, JsonObject } from "./json.ts";
import type { By } from "./meta.ts";

/** Bumped only when an older peer could not go on; everything else is a feature name. */
export const LINK_PROTOCOL = 1;

export const LINK = {
  hello: "_acp-hub/link/hello",
  snapshot: "_acp-hub/link/snapshot",
  agent: "_acp-hub/link/agent",
  session: "_acp-hub/link/session",
  sessionGone: "_acp-hub/link/session_gone",
  interaction: "_acp-hub/link/interaction",
  rejected: "_acp-hub/link/rejected",
  /** A request the bridge answers at once: alive and responsive (L5). */
  ping: "_acp-hub/link/ping",
  ack: "_acp-hub/link/ack",
  copies: "_acp-hub/link/copies",
  /** How many clients may answer. A hub that says it reports the first count of copies of every interaction, zero too (X3). */
  answerers: "_acp-hub/link/answerers",
  propose: "_acp-hub/link/propose",
  gone: "_acp-hub/link/gone",
  attached: "_acp-hub/link/attached",
  /** `HUB.presence` for an editor that understands it. */
  presence: "_acp-hub/link/presence",
} as const;

/** Names in `features` of a hello or a welcome. */
export const LINK_FEATURE = {
  /** In a welcome: this hub is older than the bridge and makes room for a newer one (ADR 7). */
  makesRoom: "makes-room",
  /** In a welcome: the hub says `LINK.answerers`, and what comes with it. */
  answerers: "answerers",
  /** In a welcome: it shows a url elicitation to its owner alone (X12). Another hub is told of none. */
  owners: "owners",
} as const;

/** What every hub of this version does for a bridge. */
export const HUB_LINK_FEATURES: readonly string[] = [LINK_FEATURE.answerers, LINK_FEATURE.owners];

export type InstanceOrigin = "editor" | "headless";

export type LinkHello = {
  readonly protocol: number;
  readonly features: readonly string[];
  readonly bridgeVersion: string;
  readonly instanceId: string;
  readonly pid: number;
  /** Epoch milliseconds of the bridge's own start. */
  readonly startedAt: number;
  readonly workspace: string;
  /** What a person calls this instance: profile or command name. */
  readonly name: string;
  readonly origin: InstanceOrigin;
  readonly proof?: string;
  /** The live sessions and their epochs, so that a hub that has just started can say what it kept of them. */
  readonly sessions?: readonly { readonly sessionId: string; readonly epoch: string; readonly cwd: string }[];
  /** The predecessor's shared token, for the hub to adopt (contract §1). Never kept, never logged. */
  readonly remoteToken?: string;
  /** The agent's own name: part of what tells sessions apart (S9). */
  readonly agent?: string;
};

export interface LinkWelcome {
  readonly protocol: number;
  readonly features: readonly string[];
  readonly hubVersion: string;
  /** Per session, the last event the hub holds for certain. */
  readonly acked: Readonly<Record<string, { readonly epoch: string; readonly seq: number }>>;
  /** What the hub's configuration sets for its bridges (contract §6); absent from older hubs. */
  readonly limits?: BridgeLimits;
}

/** What the hub's configuration sets for the bridges on it. */
export type BridgeLimits = {
  readonly agentLineBytes: number;
  readonly lanePromptsMax: number;
  /** Milliseconds; absent: questions wait for ever (X5). */
  readonly interactionTimeoutMs?: number;
};

/** A live session as the root describes it. */
export type LinkSession = {
  readonly sessionId: string;
  readonly epoch: string;
  /** First event the root still holds (1 when whole). */
  readonly head: number;
  /** Last event so far. */
  readonly tail: number;
  /** False when events before `head` are missing: after a resume, or over the bound. */
  readonly whole: boolean;
  readonly cwd: string;
  /** `cwd` and the additional directories; absent from older bridges. */
  readonly roots?: readonly string[];
  readonly title?: string;
  readonly updatedAt: number;
  readonly openedBy: "primary" | "remote";
  /** Listed from its first prompt, or at once when a remote client made it (S2). */
  readonly listed: boolean;
  readonly turn: TurnState;
  readonly turnBy?: By;
  readonly promptId?: string;
  readonly queue: readonly QueueEntry[];
  /** The session's current result fields: modes, configOptions, models … (S5). */
  readonly state: JsonObject;
  /** The agent is replaying its history into it: what is here is not all of it yet. */
  readonly loading?: boolean;
  /** The epoch began without a replay: what was before goes on in it (S1). */
  readonly continues?: boolean;
  /** Last event of the replay it began with: history to everyone (B2). */
  readonly baseline?: number;
  /** The editor has it open. */
  readonly primary?: boolean;
  /** Why the epoch changed, when it did. */
  readonly reason?: string;
};

export type LinkInteraction = {
  readonly interactionId: string;
  readonly sessionId?: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly openedAt: number;
  /** Whom a url elicitation is for: this device alone, or the machine's owner at any. */
  readonly owner?: { readonly device: string; readonly isMachines: boolean };
};

/** The editor as others are told of it. */
export interface LinkPrimary {
  readonly name: string;
  /** Its `clientInfo`: name, title, version. */
  readonly client: Json;
  /** It declared `_meta["acp-hub"]`, and the bridge passes on to it who else is there. Absent: it does not. */
  readonly extended?: boolean;
}

export interface LinkSnapshot {
  /** The agent's own initialize result; null while it has not answered. */
  readonly initialize: Json;
  /** Absent for a headless bridge, and until the editor has said who it is. */
  readonly primary?: LinkPrimary;
  readonly sessions: readonly LinkSession[];
  readonly open: readonly LinkInteraction[];
  /** The last 256 settled ones (R4). */
  readonly settled: readonly SettledNotice[];
}

/** An answer on its way to the root. Idempotent by interactionId and connection. */
export interface LinkProposal {
  readonly interactionId: string;
  readonly result?: Json;
  readonly error?: RpcError;
  readonly by: By;
}

export interface LinkRejected {
  readonly interactionId: string;
  readonly connectionId: string;
  readonly reason: string;
}
