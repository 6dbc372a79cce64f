/**
 * Whether ages can be believed. A clock that jumps years ahead (a dead battery, a wrong time server) makes everything old at
 * once, and what retention removes is gone: after such a jump it waits a day for somebody to set the clock right.
 */

/** Less is a computer that was asleep. */
const JUMP_MS = 7 * 86_400_000;
/** As the store's scheduler: `now` can be set, `monotonic` only grows. */
export interface Clocks {
  now(): number;
  monotonic(): number;
}

const WAIT_MS = 86_400_000;

export class AgeDoubt {
  readonly #clocks: Clocks;
  #last: { readonly at: number; readonly monotonicAt: number } | undefined;
  #until = Number.NEGATIVE_INFINITY;

  /** `newestAt`: when the newest thing on disk was written; undefined when there is none. */
  constructor(clocks: Clocks, newestAt: number | undefined) {
    this.#clocks = clocks;
    this.#last = newestAt === undefined ? undefined : { at: newestAt, monotonicAt: clocks.monotonic() };
  }

  /** Looks at the clocks; true while nothing may be removed for its age. */
  stands(): boolean {
    const [at, monotonicAt] = [this.#clocks.now(), this.#clocks.monotonic()];
    const jump = this.#last === undefined ? 0 : at - this.#last.at - (monotonicAt - this.#last.monotonicAt);
    if (jump > JUMP_MS) this.#until = monotonicAt + WAIT_MS;
    this.#last = { at, monotonicAt };
    return monotonicAt < this.#until;
  }
}
