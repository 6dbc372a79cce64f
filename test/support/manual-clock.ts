/** A clock a test moves by hand. Due timers run in order of their time. */
import type { Clock } from "../../src/client/ports.ts";

interface Timer {
  readonly at: number;
  readonly task: () => void;
}

export class ManualClock implements Clock {
  #now = 1_700_000_000_000;
  #setBy = 0;
  #timers: Timer[] = [];
  /** What `random` answers. */
  chance = 0.5;

  now(): number {
    return this.#now + this.#setBy;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Somebody sets the clock: it shows another time, and nothing else happens. */
  set(byMs: number): void {
    this.#setBy += byMs;
  }

  random(): number {
    return this.chance;
  }

  after(ms: number, task: () => void): () => void {
    const timer = { at: this.#now + ms, task };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer);
    };
  }

  get pendingCount(): number {
    return this.#timers.length;
  }

  /** Moves time on, runs what is due and lets promises settle in between. */
  async advance(ms: number): Promise<void> {
    await settled();
    const end = this.#now + ms;
    for (;;) {
      const due = this.#timers.filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers = this.#timers.filter((other) => other !== due);
      this.#now = due.at;
      due.task();
      await settled();
    }
    this.#now = end;
    await settled();
  }
}

/** Lets every promise that can settle without time or I/O do so. */
export function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
