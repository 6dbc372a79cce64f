/**
 * The prompt lane of one session (P1–P4). Pure data and decisions; `turns.ts` acts on them.
 *
 * N1 A prompt waits while a turn runs or others wait; only the running client's own next prompt, when nobody waits, goes at once.
 * N2 The next prompt starts when every prompt in flight has its response; the primary's goes before the others'.
 * N3 Every prompt gets exactly one response; a joined retry gets the same one (P3).
 */
import type { QueueEntry } from "../../protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { fingerprint } from "../hash.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { Call, Caller } from "./calls.ts";

export interface Prompt {
  readonly caller: Caller;
  readonly params: JsonObject;
  readonly promptId: string | undefined;
  /** What the waiting prompt is called by: its own name, or one of ours (P1). Unset before it waits. */
  queueId: string | undefined;
  readonly fingerprint: string;
  readonly queuedAt: number;
  /** Everyone who waits for this run: the sender and joined retries. */
  readonly calls: Set<Call>;
  /** The agent-side id once started. */
  agentId: number | undefined;
}

export interface PromptOutcome {
  readonly fingerprint: string;
  readonly body: AnswerBody;
}

/** How prompts of a session ended, by device and promptId, oldest first. It outlives the session: one that is loaded again is the same. */
export type Outcomes = Map<string, PromptOutcome>;

const OUTCOMES_MAX = 256;
const TITLE_MAX = 120;

/** The first text of a prompt, for lists. */
export function promptTitle(params: JsonObject): string {
  const block = arrayAt(params, "prompt")?.find((entry) => isObject(entry) && entry["type"] === "text");
  const text = (isObject(block) ? stringAt(block, "text") : undefined) ?? "";
  const line = text.trim().split("\n", 1)[0] ?? "";
  return line.length > TITLE_MAX ? `${line.slice(0, TITLE_MAX - 1)}…` : line;
}

const retryKey = (device: string, promptId: string): string => JSON.stringify([device, promptId]);

export class Lane {
  readonly inFlight: Set<Prompt> = new Set();
  readonly #waiting: Prompt[] = [];
  readonly #outcomes: Outcomes;
  readonly #max: () => number;

  constructor(max: () => number, outcomes: Outcomes = new Map()) {
    this.#max = max;
    this.#outcomes = outcomes;
  }

  get waiting(): readonly Prompt[] {
    return this.#waiting;
  }

  get isRunning(): boolean {
    return this.inFlight.size > 0;
  }

  /** What to do with a new prompt (N1). A preempting one waits for the turn it ends. */
  admit(caller: Caller, isPreempting = false): "start" | "wait" | "full" {
    if (this.#waiting.length === 0 && !isPreempting) {
      if (this.inFlight.size === 0) return "start";
      const isOwnTurn = [...this.inFlight].every((prompt) => prompt.caller.key === caller.key);
      if (isOwnTurn) return "start";
    }
    return this.#waiting.length >= this.#max() ? "full" : "wait";
  }

  /** Queues a prompt. `position` "next": before everybody; otherwise the primary's stand before the others', in order. */
  enqueue(prompt: Prompt, position: "next" | "last"): void {
    if (position === "next") {
      this.#waiting.unshift(prompt);
      return;
    }
    const at = prompt.caller.isPrimary ? this.#waiting.findIndex((other) => !other.caller.isPrimary) : -1;
    if (at < 0) this.#waiting.push(prompt);
    else this.#waiting.splice(at, 0, prompt);
  }

  /** The next prompt to start, taken off the queue; undefined while a turn runs or nobody waits (N2). */
  takeNext(): Prompt | undefined {
    return this.inFlight.size > 0 ? undefined : this.#waiting.shift();
  }

  /** Takes waiting prompts off the queue. */
  removeWaiting(matches: (prompt: Prompt) => boolean): Prompt[] {
    const removed = this.#waiting.filter(matches);
    for (const prompt of removed) this.#waiting.splice(this.#waiting.indexOf(prompt), 1);
    return removed;
  }

  /** Moves a waiting prompt to `index` (0 is next). False when it does not wait. */
  move(promptId: string, index: number): boolean {
    const at = this.#waiting.findIndex((prompt) => prompt.queueId === promptId);
    if (at < 0) return false;
    const [prompt] = this.#waiting.splice(at, 1);
    if (prompt !== undefined) this.#waiting.splice(Math.max(0, Math.min(index, this.#waiting.length)), 0, prompt);
    return true;
  }

  /**
   * The prompt a retry joins, or the outcome it gets at once (P3). An outcome is never too old: the clock may have been set
   * ahead since, and to remember for longer than a day harms nobody, while to run twice does.
   */
  findRetry(device: string, id: string): { prompt: Prompt } | { outcome: PromptOutcome } | undefined {
    const same = (prompt: Prompt): boolean => prompt.queueId === id && prompt.caller.by.device === device;
    const prompt = [...this.inFlight].find(same) ?? this.#waiting.find(same);
    if (prompt !== undefined) return { prompt };
    const outcome = this.#outcomes.get(retryKey(device, id));
    return outcome === undefined ? undefined : { outcome };
  }

  /** Keeps how a prompt ended, for retries. Bounded: the oldest go first. */
  keepOutcome(prompt: Prompt, body: AnswerBody): void {
    if (prompt.promptId === undefined) return;
    this.#outcomes.set(retryKey(prompt.caller.by.device, prompt.promptId), {
      fingerprint: prompt.fingerprint,
      body,
    });
    if (this.#outcomes.size <= OUTCOMES_MAX) return;
    const [oldest] = this.#outcomes.keys();
    if (oldest !== undefined) this.#outcomes.delete(oldest);
  }

  /** The queue as clients see it. */
  entries(): QueueEntry[] {
    return this.#waiting.map((prompt) => ({
      by: prompt.caller.by,
      queuedAt: prompt.queuedAt,
      title: promptTitle(prompt.params),
      ...(prompt.queueId !== undefined && { promptId: prompt.queueId }),
    }));
  }
}

/** A prompt of a call. `params` hold nothing of ours any more. */
export function makePrompt(call: Call, params: JsonObject, promptId: string | undefined, now: number): Prompt {
  return {
    caller: call.caller,
    params,
    promptId,
    queueId: promptId,
    fingerprint: fingerprint(JSON.stringify(params["prompt"] ?? null)),
    queuedAt: now,
    calls: new Set([call]),
    agentId: undefined,
  };
}
