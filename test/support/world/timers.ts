/** Named timers under a clock the test moves: what `startTimer` and `cancelTimer` of a port do. */
interface Timer {
  readonly at: number;
  readonly fire: () => void;
}

export class NamedTimers {
  now = 1_700_000_000_000;
  readonly #timers = new Map<string, Timer>();

  /** Starting a name again moves it, as a shell's timer table does. */
  start(name: string, ms: number, fire: () => void): void {
    this.#timers.delete(name);
    this.#timers.set(name, { at: this.now + ms, fire });
  }

  cancel(name: string): void {
    this.#timers.delete(name);
  }

  get names(): readonly string[] {
    return [...this.#timers.keys()];
  }

  /** The next timer due until `end` is taken and fired; false when none is. */
  fireNext(end: number): boolean {
    const due = [...this.#timers].filter(([, timer]) => timer.at <= end).sort((a, b) => a[1].at - b[1].at)[0];
    if (due === undefined) return false;
    const [name, timer] = due;
    this.#timers.delete(name);
    this.now = Math.max(this.now, timer.at);
    timer.fire();
    return true;
  }
}
