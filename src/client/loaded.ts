/** What of a load is applied, how far it reaches, and what was lost before it. Pure. */

import { type Cursor, epoch } from "../protocol/ids.ts";
import type { Stamp } from "../protocol/meta.ts";
import type { CursorGate } from "./cursor-gate.ts";
import type { LoadOutcome } from "./session-view.ts";
import type { Transcript, TranscriptInput } from "./transcript/item.ts";
import { keepOlder, placeMarks } from "./transcript/loss.ts";

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

export function lossMarks(outcome: LoadOutcome, read: Cursor | undefined, ts: number): readonly TranscriptInput[] {
  const { verdict, reason, cursor } = outcome;
  if (verdict !== "gap" && verdict !== "reset") return [];
  if (cursor === undefined) return [{ kind: "mark", mark: verdict, reason, ts }];
  // What was read in another epoch is nowhere in this one; what was read of what the hub has lost is behind its end.
  const seq = verdict === "gap" && read?.epoch === cursor.epoch ? Math.min(read.seq, cursor.seq) : 0;
  return [{ kind: "mark", mark: verdict, reason, ts, after: { epoch: cursor.epoch, seq } }];
}

/** What the hub gave in place of what could not be continued, with what it has no longer, and the loss between. */
export function withLoss(
  before: Transcript,
  replay: Transcript,
  { verdict, hasMore }: LoadOutcome,
  read: Cursor | undefined,
): Transcript {
  // While there are earlier pages nobody knows what the hub has not: what was read comes again with them.
  const isAll = verdict === "gap" && hasMore !== true && read !== undefined;
  const whole = isAll ? keepOlder(before, replay, read.epoch) : replay;
  return { ...whole, items: placeMarks(whole.items) };
}
