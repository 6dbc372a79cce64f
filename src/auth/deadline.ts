/**
 * The end of what lives for seconds or minutes. It is reached when either clock says so: a clock that is set back keeps
 * nothing alive, and the one that only grows stands still while the computer sleeps.
 */
import type { Clock } from "./ports.ts";

export interface Deadline {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly monotonicAt: number;
}

export const deadlineIn = (clock: Clock, ms: number): Deadline => ({
  at: clock.now() + ms,
  monotonicAt: clock.monotonic() + ms,
});

export const isOver = (clock: Clock, end: Deadline): boolean =>
  clock.now() >= end.at || clock.monotonic() >= end.monotonicAt;
