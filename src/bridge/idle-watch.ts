/** Ends what nobody needs any more: a headless bridge, a hub that was started on demand (L6). */

/** Its timers keep the process alive: a headless bridge with an agent inside has nothing else that does. */
export interface IdleClock {
  /** Epoch milliseconds. */
  now(): number;
  /** Calls `task` once, unless cancelled by the function given back. */
  after(ms: number, task: () => void): () => void;
}

export interface Watched {
  /** Somebody is there, or something goes on. */
  readonly isBusy: boolean;
  /** When somebody was there last, between two looks too. Epoch milliseconds. */
  readonly lastSeenAt: number;
}

const LOOK_MS = 10_000;

const systemClock: IdleClock = {
  now: Date.now,
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
  let cancel = clock.after(lookMs, look);
  function look(): void {
    const now = clock.now();
    busyAt = watched.isBusy ? now : Math.max(busyAt, watched.lastSeenAt);
    if (now - busyAt >= idleMs) onIdle();
    else cancel = clock.after(lookMs, look);
  }
  return () => cancel();
}
