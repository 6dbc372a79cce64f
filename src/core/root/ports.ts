/** What the root needs of the world. No call comes back synchronously: answers arrive as inputs. */
import type { RpcId } from "../../protocol/envelope.ts";
import type { Epoch, InteractionId, SessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";

/** Ids and randomness, from outside (the core has none of its own). */
export interface Mint {
  interactionId(): InteractionId;
  epoch(): Epoch;
  /** For echoed prompts; the same id stands in every later replay (B3). */
  messageId(): string;
  /** For prompts that wait and have no name of their sender's (P1). */
  promptId(): string;
}

/** Things worth counting or logging. Never payloads. */
export type Observation =
  | { readonly kind: "late-answer"; readonly interactionId?: string }
  | { readonly kind: "unknown-response" }
  | { readonly kind: "echo-dropped"; readonly sessionId: string }
  | { readonly kind: "held-overflow"; readonly sessionId: string }
  | { readonly kind: "interaction-opened"; readonly interactionId: string; readonly method: string }
  | {
      readonly kind: "interaction-settled";
      readonly interactionId: string;
      readonly action: string;
      readonly openMs: number;
    }
  | { readonly kind: "cancel-ignored"; readonly sessionId: string }
  /** The agent used an id again that is still open: one id gets one answer. */
  | { readonly kind: "duplicate-agent-id" }
  /** Too large to share: the editor has it, others a placeholder or nothing (T2). */
  | { readonly kind: "oversize"; readonly method: string; readonly chars: number }
  /** A message of the agent that only we may send (B7). */
  | { readonly kind: "forged-message"; readonly method: string }
  | { readonly kind: "bad-link-message"; readonly method: string };

/** A file or terminal request of the agent for a session no editor serves (S7). Answered with `Root.answerHost`, once. */
export interface HostRequest {
  /** The agent's own id: what `answerHost` takes. */
  readonly id: RpcId;
  readonly method: string;
  readonly params: JsonObject;
}

/** The session a host request is for. */
export interface HostSession {
  readonly id: SessionId;
  readonly cwd: string;
  /** Its cwd and additional directories: files outside are refused. */
  readonly roots: readonly string[];
}

export interface RootPorts {
  /** One message to the agent. */
  toAgent(text: string): void;
  /** One message to the primary. Never called for a headless bridge. */
  toPrimary(text: string): void;
  startTimer(name: string, ms: number): void;
  cancelTimer(name: string): void;
  /** Asks for one `flush()` at the end of this tick, so that its frames are written together. */
  requestFlush(): void;
  observe(observation: Observation): void;
  /**
   * Serves `fs/*` and `terminal/*` of a session the primary did not open (S7). Without it such requests are -32601.
   * A request the agent takes back comes as `cancelHost`; it is answered all the same.
   */
  serveHost?(request: HostRequest, session: HostSession): void;
  cancelHost?(id: RpcId): void;
  /** The session is over: its terminals are freed. */
  releaseHost?(session: SessionId): void;
  readonly mint: Mint;
}

/** What a hub may set for the bridges on it (contract §6), in its welcome. */
export interface RootLimits {
  /** The longest message of the agent that is shared, in characters: a larger one is the editor's alone (T2). */
  readonly agentLineBytes: number;
  /** Prompts that wait in one session (P1). */
  readonly lanePromptsMax: number;
  /** Milliseconds after which an unanswered question ends (X5); absent: never. */
  readonly interactionTimeoutMs?: number;
}

/** A hub, as its welcome describes it. */
export interface LinkedHub {
  readonly features?: readonly string[];
  readonly limits?: Partial<RootLimits>;
}

export interface RootOptions {
  readonly hasPrimary: boolean;
  /** False for `--no-share`: the agent is told nothing the primary did not declare. */
  readonly isShared: boolean;
  /** An in-process agent gets `initialize` again when the merged capabilities change (I3). */
  readonly seesCapabilitiesLive: boolean;
  /** `capabilities.forms`: "any" promises forms to a spawned agent while shared. */
  readonly forms: "any" | "primary";
  readonly workspace: string;
  readonly version: string;
  readonly journalBytes: number;
  /** Encoded updates kept per session for links that lag a little, in bytes; 1 MiB when not given. */
  readonly tailBytes?: number;
  /** What holds until a hub says otherwise. */
  readonly limits: RootLimits;
  readonly heldUpdatesMax: number;
  readonly heldUpdatesMs: number;
}
