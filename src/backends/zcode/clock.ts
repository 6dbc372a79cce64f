/** Time as a value passed in, so that tests own it. */

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Runs `run` once after `ms`. The returned function cancels it; calling that twice is fine. */
  setTimeout(run: () => void, ms: number): () => void;
}

/** A timer of more than this fires at once: what waits longer waits in pieces. */
const PIECE_MS = 2_147_483_647;

/** The process clock. Its timers never keep the process alive: the bridge's life follows the editor's pipe. */
export const systemClock: Clock = {
  now: () => Date.now(),
  setTimeout(run, ms) {
    let handle: NodeJS.Timeout;
    const wait = (left: number): void => {
      handle = setTimeout(() => (left > PIECE_MS ? wait(left - PIECE_MS) : run()), Math.min(left, PIECE_MS)).unref();
    };
    wait(ms);
    return () => clearTimeout(handle);
  },
};

/** Resolves after `ms`, or at once when `signal` aborts: the caller looks at the signal afterwards. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const done = (): void => {
      cancel();
      signal?.removeEventListener("abort", done);
      resolve();
    };
    const cancel = clock.setTimeout(done, ms);
    signal?.addEventListener("abort", done);
  });
}

/** Settles with `work`, or with `fallback` after `ms`. The work itself goes on. */
export function within<T>(clock: Clock, ms: number, work: Promise<T>, fallback: T): Promise<T> {
  return new Promise((resolve) => {
    const cancel = clock.setTimeout(() => resolve(fallback), ms);
    work.then(
      (value) => {
        cancel();
        resolve(value);
      },
      () => {
        cancel();
        resolve(fallback);
      },
    );
  });
}
