/** Time as the store needs it; tests hand in a fake one. */
export interface Scheduler {
  /** Epoch milliseconds, for what people read: people and time servers set that clock, in both directions. */
  now(): number;
  /** Milliseconds that only grow, for how long something took. */
  monotonic(): number;
  /** Calls `run` once, `ms` from now, unless cancelled by the function given back. */
  after(ms: number, run: () => void): () => void;
}

/** The real one. Its timers keep no process alive: whoever ends a hub closes the store. */
export const systemScheduler: Scheduler = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms);
    timer.unref();
    return () => clearTimeout(timer);
  },
};
