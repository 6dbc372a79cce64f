/**
 * Which turn an event belongs to. The envelope's turnId decides; builds without one are read by order: the turn that
 * started last and has not ended. Turns that ended are remembered, because their late output must not look new.
 */
import type { JsonObject } from "../../../protocol/json.ts";
import { stringAt } from "../../../protocol/json.ts";
import type { TurnText } from "../translate/stream.ts";

/**
 * `own` the prompt of our client; `other` a person's turn we did not start; the rest are turns of the backend's own.
 */
export type TurnKind = "own" | "other" | "goal" | "background" | "compact";

export interface Turn {
  readonly key: string;
  readonly kind: TurnKind;
  readonly text: TurnText;
  readonly foregroundExecutionId: string | undefined;
  /** Epoch milliseconds. */
  lastEventAt: number;
  /** Cancelled: nothing of it is shown any more. */
  isDead: boolean;
  /** Set by `turn.terminal`, cleared by the end that usually follows. */
  cancelGrace: (() => void) | undefined;
}

/** A cancelled prompt whose turn has not been seen to end. */
export interface DyingTurn {
  /** Undefined while its start was not seen. */
  key: string | undefined;
  readonly since: number;
  readonly ended: Promise<void>;
  end(): void;
  isEnded: boolean;
}

const ENDED_KEPT = 128;

export function dyingTurn(key: string | undefined, since: number): DyingTurn {
  let resolve = (): void => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  const dying: DyingTurn = {
    key,
    since,
    ended,
    isEnded: false,
    end() {
      dying.isEnded = true;
      resolve();
    },
  };
  return dying;
}

/** The kind of a turn that starts, from what its start says; undefined for one a person started. */
export function foreignKind(payload: JsonObject): TurnKind | undefined {
  const source = stringAt(payload, "inputSource");
  if (stringAt(payload, "executionKind") === "controlOnly") return "compact";
  if (source !== undefined && /goal/i.test(source)) return "goal";
  if (source !== undefined && /compact/i.test(source)) return "compact";
  if (stringAt(payload, "backgroundSource") !== undefined) return "background";
  if (source === undefined || source === "user" || source === "prompt") return undefined;
  return "background";
}

export class TurnTable {
  readonly #live = new Map<string, Turn>();
  /** Keys of turns that ended; the value says whether they were cancelled. */
  readonly #ended = new Map<string, boolean>();
  #anonymous = 0;
  dying: DyingTurn | undefined;
  /** A turn was running when we subscribed: its output may come without a start. */
  joinedRunning = false;

  get(key: string): Turn | undefined {
    return this.#live.get(key);
  }

  /** The turn that started last and has not ended. */
  get active(): Turn | undefined {
    let last: Turn | undefined;
    for (const turn of this.#live.values()) last = turn;
    return last;
  }

  get live(): Iterable<Turn> {
    return this.#live.values();
  }

  /** True while a turn of the backend's own holds the session. */
  get hasBackground(): boolean {
    for (const turn of this.#live.values()) if (turn.kind !== "own" && turn.kind !== "other") return true;
    return false;
  }

  hasEnded(key: string): boolean {
    return this.#ended.has(key);
  }

  /** True for a turn that was cancelled, ended or not. */
  wasCancelled(key: string): boolean {
    return this.#live.get(key)?.isDead ?? this.#ended.get(key) ?? false;
  }

  /** A key for a turn that has no id. */
  newKey(): string {
    this.#anonymous++;
    return `turn#${this.#anonymous}`;
  }

  add(turn: Turn): void {
    this.#live.set(turn.key, turn);
  }

  end(key: string): void {
    const turn = this.#live.get(key);
    turn?.cancelGrace?.();
    this.#live.delete(key);
    this.#ended.set(key, turn?.isDead ?? this.#ended.get(key) ?? this.dying?.key === key);
    if (this.dying?.key === key) this.dying.end();
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= ENDED_KEPT) break;
      this.#ended.delete(oldest);
    }
  }

  clear(): void {
    for (const key of [...this.#live.keys()]) this.end(key);
    this.dying?.end();
    this.joinedRunning = false;
  }

  /** Another process: its turns have nothing to do with those before. */
  reset(): void {
    this.clear();
    this.#ended.clear();
  }
}
