/** What every chaos test shares: the seed, the story the agent tells, and what has to be true when the dust has settled. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import { parseFrame } from "../../src/protocol/envelope.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { type Follower, Transcript } from "./follower.ts";
import type { RawClient } from "./raw-client.ts";
import { loadOf, type Stage } from "./stage.ts";
import { seededRandom } from "./world/random.ts";

/** `CHAOS_SEED` repeats a run; `CHAOS_ROUNDS` makes it longer. */
export const SEED: number = Number(process.env["CHAOS_SEED"] ?? Date.now() % 1_000_000_007);
export const roundsOr = (usual: number): number => Number(process.env["CHAOS_ROUNDS"] ?? usual);

export interface Dice {
  /** A whole number from `from` to `to`. */
  between(from: number, to: number): number;
  chance(probability: number): boolean;
  pick<T>(items: readonly T[]): T;
}

/** Prints the seed: a failure can be played again. */
export function dice(name: string): Dice {
  console.log(`${name}: CHAOS_SEED=${SEED}`);
  const random = seededRandom(SEED);
  return {
    between: (from, to) => from + Math.floor(random() * (to - from + 1)),
    chance: (probability) => random() < probability,
    pick: (items) => items[Math.floor(random() * items.length)] as (typeof items)[number],
  };
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** A turn with a thought, a stream, a question and a tool card. */
export const story = (home: string, chunks = 60, everyMs = 4): JsonObject => ({
  record: join(home, "record"),
  turns: [
    [
      { think: "Thinking about it. " },
      { stream: { count: chunks, bytes: 40, everyMs } },
      { update: { sessionUpdate: "tool_call", toolCallId: "$session-card", title: "Look", status: "in_progress" } },
      { ask: true },
      { say: "Answered $answer. " },
      { update: { sessionUpdate: "tool_call_update", toolCallId: "$session-card", status: "completed" } },
      { stream: { count: chunks, bytes: 40, everyMs } },
    ],
  ],
});

export interface Received {
  /** Texts of the prompts, as often as they came. */
  readonly prompts: string[];
  /** Ids of the answers, as often as they came. */
  readonly answers: number[];
}

/** What the agent received, by its own record. */
export function received(home: string): Received {
  const prompts: string[] = [];
  const answers: number[] = [];
  for (const line of readFileSync(join(home, "record"), "utf8").split("\n")) {
    const parsed = line === "" ? undefined : parseFrame(line);
    if (parsed?.ok !== true) continue;
    const { frame } = parsed;
    if (frame.kind === "response") answers.push(Number(frame.msg.id));
    else if (frame.msg.method === "session/prompt") prompts.push(JSON.stringify(frame.msg.params?.["prompt" as never]));
  }
  return { prompts, answers };
}

/** X2: each question has exactly one answer. P3: each prompt ran exactly once. */
export function expectOnce(home: string, texts: readonly string[]): void {
  const { prompts, answers } = received(home);
  expect(answers).toEqual(Array.from({ length: texts.length }, (_, index) => index));
  const asked = texts.map((text) => JSON.stringify([{ type: "text", text }]));
  expect([...prompts].sort()).toEqual([...asked].sort());
}

export const transcriptOf = (client: RawClient, isAuthor = false): Transcript => {
  const transcript = new Transcript();
  for (const update of client.updates())
    if (!isAuthor || update["sessionUpdate"] !== "user_message_chunk") transcript.add(update);
  return transcript;
};

/** Every follower shows what a fresh load gives, and that is what the agent said by the editor's own pipe. */
export async function expectAlike(
  stage: Stage,
  query: string,
  sessionId: string,
  editor: RawClient,
  followers: readonly { readonly follower: Follower; readonly isAuthor: boolean }[],
): Promise<void> {
  const fresh = await stage.client("viewer", query);
  await fresh.call("session/load", loadOf(sessionId));
  const whole = transcriptOf(fresh);
  const spoken = transcriptOf(fresh, true);
  expect(spoken.text).toBe(transcriptOf(editor, true).text);
  for (const { follower, isAuthor } of followers) {
    const expected = isAuthor ? spoken : whole;
    await expect.poll(() => follower.transcript.text, { timeout: 10_000 }).toBe(expected.text);
    expect([...follower.transcript.cards].sort()).toEqual([...expected.cards].sort());
  }
}
