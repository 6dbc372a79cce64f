/** What the root needs of the world. No call comes back synchronously: answers arrive as inputs. */
import type { Epoch, InteractionId } from "../../protocol/ids.ts";

/** Ids and randomness, from outside (the core has none of its own). */
export interface Mint {
  interactionId(): InteractionId;
  epoch(): Epoch;
  /** For echoed prompts; the same id stands in every later replay (B3). */
  messageId(): string;
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
  | { readonly kind: "bad-link-message"; readonly method: string };

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
  readonly mint: Mint;
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
  readonly lanePromptsMax: number;
  readonly heldUpdatesMax: number;
  readonly heldUpdatesMs: number;
}
