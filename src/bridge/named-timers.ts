/** Timers by name, as the core asks for them. Starting one that runs starts it anew. */
export class NamedTimers {
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #onTimer: (name: string) => void;

  constructor(onTimer: (name: string) => void) {
    this.#onTimer = onTimer;
  }

  start(name: string, ms: number): void {
    clearTimeout(this.#timers.get(name));
    const timer = setTimeout(() => {
      this.#timers.delete(name);
      this.#onTimer(name);
    }, ms);
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
