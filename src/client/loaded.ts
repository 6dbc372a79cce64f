/** What of a load is applied, and how far it reaches. Pure. */

import { epoch } from "../protocol/ids.ts";
import type { Stamp } from "../protocol/meta.ts";
import type { CursorGate } from "./cursor-gate.ts";
import type { LoadOutcome } from "./session-view.ts";
import type { TranscriptInput } from "./transcript/item.ts";

export type EventInput = Extract<TranscriptInput, { kind: "event" }>;

/**
 * The held events to apply. Replay marks tell history from live events that crossed the request: those at or below the
 * answer's cursor are in the history already.
 */
export function newOnes(
  held: readonly EventInput[],
  floor: number,
  cursorSeq: number | undefined,
): readonly EventInput[] {
  const hasMarks = held.some((input) => input.stamp?.replay === true);
  return held.filter(({ stamp }) => {
    if (stamp === undefined) return true;
    if (stamp.replay === true || !hasMarks) return stamp.seq > floor;
    return cursorSeq === undefined || stamp.seq > cursorSeq;
  });
}

export function furthest(outcome: LoadOutcome, applied: readonly EventInput[]): CursorGate["cursor"] {
  let { cursor } = outcome;
  for (const { stamp } of applied) if (stamp !== undefined) cursor = later(cursor, stamp);
  return cursor;
}

function later(cursor: CursorGate["cursor"], stamp: Stamp): CursorGate["cursor"] {
  if (cursor !== undefined && (cursor.epoch !== stamp.epoch || cursor.seq >= stamp.seq)) return cursor;
  return { epoch: epoch(stamp.epoch), seq: stamp.seq };
}

export function lossMarks(outcome: LoadOutcome, ts: number): readonly TranscriptInput[] {
  const { verdict, reason } = outcome;
  if (verdict === "gap") return [{ kind: "mark", mark: "gap", reason, ts }];
  if (verdict === "reset") return [{ kind: "mark", mark: "reset", reason, ts }];
  return [];
}
