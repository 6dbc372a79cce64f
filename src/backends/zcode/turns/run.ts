/** One prompt of the client, from its arrival to its one answer. */
import type { JsonObject } from "../../../protocol/json.ts";
import type { TurnOutcome } from "../translate/outcome.ts";
import type { Turn } from "./turn-table.ts";

/**
 * `queued` waits for its place; `sending` the backend has not accepted it; `waiting` accepted, its turn has not started;
 * `running` its turn streams; `over` answered.
 */
export type RunPhase = "queued" | "sending" | "waiting" | "running" | "over";

/** How the turn ended: as an event said, or found idle with the terminal event lost, or given up as frozen. */
export type RunEnd =
  | {
      readonly kind: "outcome";
      readonly outcome: TurnOutcome;
      readonly response: string | undefined;
      readonly usage: JsonObject | undefined;
    }
  | { readonly kind: "idle" }
  | { readonly kind: "frozen" }
  | { readonly kind: "down"; readonly error: Error };

export class PromptRun {
  /** The text as the backend gets it. */
  text: string;
  readonly #abort = new AbortController();
  phase: RunPhase = "queued";
  /** Its turn once it started. */
  turn: Turn | undefined;
  /** The turn it was steered into, when the backend queued it behind a running one. */
  steeredInto: string | undefined;
  hasOutput = false;
  /** A cancelled turn ran right before: late messages of it are about. */
  followsCancel = false;
  /** Sent at least once: there is something to stop. */
  wasSent = false;
  lastEventAt = 0;
  /** `prompt_completed` was seen after its start. */
  sawCompleted = false;
  #end: ((end: RunEnd) => void) | undefined;
  #ended: Promise<RunEnd> = new Promise(() => {});
  isCancelled = false;
  /** Set by whoever drives the run. */
  onStarted: (() => void) | undefined;
  onCompletedHint: (() => void) | undefined;

  constructor(text: string) {
    this.text = text;
    this.beginAttempt();
  }

  /** Aborts when the run is cancelled. */
  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  get isOver(): boolean {
    return this.phase === "over" || this.isCancelled;
  }

  /** Resolves when the turn of this attempt has ended. */
  get ended(): Promise<RunEnd> {
    return this.#ended;
  }

  /** A fresh attempt: what an earlier one learnt about its turn no longer holds. */
  beginAttempt(): void {
    this.turn = undefined;
    this.steeredInto = undefined;
    this.sawCompleted = false;
    this.#ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  endTurn(end: RunEnd): void {
    this.#end?.(end);
    this.#end = undefined;
  }

  get isTurnOver(): boolean {
    return this.#end === undefined;
  }

  cancel(): void {
    if (this.isOver) return;
    this.isCancelled = true;
    this.#abort.abort();
  }
}
