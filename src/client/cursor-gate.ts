/**
 * Which numbered events are new. Pure.
 *
 * G1 An event whose number is at or below the floor is ignored; live, the floor is the cursor.
 * G2 While history is caught up the floor stays where it was: coalesced events come in the order of their first event, so
 *    their numbers are not sorted.
 * G3 Joined text that begins at or below the floor and ends above it cannot be cut here: the caller loads anew.
 */
import { type Cursor, epoch } from "../protocol/ids.ts";
import type { Stamp } from "../protocol/meta.ts";

export interface CursorGate {
  readonly cursor: Cursor | undefined;
  readonly floor: number;
  /** Set while a catch-up runs: events up to here belong to it. */
  readonly catchUpTo: number | undefined;
}

export const EMPTY_GATE: CursorGate = { cursor: undefined, floor: 0, catchUpTo: undefined };

export type Admission = "new" | "known" | "overlap" | "foreign";

export function admit(gate: CursorGate, stamp: Stamp): { readonly gate: CursorGate; readonly admission: Admission } {
  const { cursor } = gate;
  if (cursor !== undefined && cursor.epoch !== stamp.epoch) return { gate, admission: "foreign" };
  if (stamp.seq <= gate.floor) return { gate, admission: "known" };
  const from = stamp.from ?? stamp.seq;
  if (from <= gate.floor) return { gate, admission: "overlap" };
  const reached = Math.max(cursor?.seq ?? 0, stamp.seq);
  const isCatchingUp = gate.catchUpTo !== undefined && stamp.seq <= gate.catchUpTo;
  const next: CursorGate = {
    cursor: { epoch: epoch(stamp.epoch), seq: reached },
    floor: isCatchingUp ? gate.floor : reached,
    catchUpTo: isCatchingUp ? gate.catchUpTo : undefined,
  };
  return { gate: next, admission: "new" };
}

/** Events `from`…`to` were dropped on the way and come again, coalesced. */
export function expectCatchUp(gate: CursorGate, from: number, to: number): CursorGate {
  return { ...gate, floor: Math.min(gate.floor, from - 1), catchUpTo: Math.max(to, gate.catchUpTo ?? 0) };
}

/** The gate of a reader that has read up to `cursor`. */
export function gateAt(cursor: Cursor | undefined): CursorGate {
  return { cursor, floor: cursor?.seq ?? 0, catchUpTo: undefined };
}
