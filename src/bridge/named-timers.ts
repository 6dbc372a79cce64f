/** A timer of more than this fires at once: what waits longer waits in pieces. */
const PIECE_MS = 2_147_483_647;

/** Timers by name, as the core asks for them. Starting one that runs starts it anew. */
export class NamedTimers {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #onTimer: (name: string) => void;

  constructor(onTimer: (name: string) => void) {
    this.#onTimer = onTimer;
  }

  start(name: string, ms: number): void {
    clearTimeout(this.#timers.get(name));
    const timer = setTimeout(
      () => {
        if (ms > PIECE_MS) return this.start(name, ms - PIECE_MS);
        this.#timers.delete(name);
        return this.#onTimer(name);
      },
      Math.min(ms, PIECE_MS),
    );
    timer.unref();
    this.#timers.set(name, timer);
  }

  cancel(name: string): void {
    clearTimeout(this.#timers.get(name));
    this.#timers.delete(name);
  }

  clear(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }
}
