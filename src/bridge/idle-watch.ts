/** Ends what nobody needs any more: a headless bridge, a hub that was started on demand (L6). */

/** Its timers keep the process alive: a headless bridge with an agent inside has nothing else that does. */
export interface IdleClock {
  /** Milliseconds that only grow: a clock that is set must not end anybody. */
  now(): number;
  /** Calls `task` once, unless cancelled by the function given back. */
  after(ms: number, task: () => void): () => void;
}

export interface Watched {
  /** Somebody is there, or something goes on. */
  readonly isBusy: boolean;
  /** When somebody was there last, between two looks too; only whether it changed counts. */
  readonly lastSeenAt: number;
}

const LOOK_MS = 10_000;

const systemClock: IdleClock = {
  now: () => performance.now(),
  after(ms, task) {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** Calls `onIdle` once, when nobody was there and nothing went on for `idleMs`. Gives back what stops the watch. */
export function watchIdle(
  watched: Watched,
  idleMs: number,
  onIdle: () => void,
  clock: IdleClock = systemClock,
): () => void {
  const lookMs = Math.min(LOOK_MS, idleMs);
  let busyAt = clock.now();
  let seenAt = watched.lastSeenAt;
  let cancel = clock.after(lookMs, look);
  function look(): void {
    const now = clock.now();
    const { isBusy, lastSeenAt } = watched;
    if (isBusy || lastSeenAt !== seenAt) busyAt = now;
    seenAt = lastSeenAt;
    if (now - busyAt >= idleMs) onIdle();
    else cancel = clock.after(lookMs, look);
  }
  return () => cancel();
}
