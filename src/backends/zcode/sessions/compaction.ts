/** Whether the backend compacts this session. Its answer only says that it began; the outcome comes as a state change. */

export type CompactOutcome = "compacted" | "cancelled" | "failed" | "timeout";

export class Compaction {
  #waiters: ((outcome: CompactOutcome) => void)[] = [];
  #isRunning = false;

  get isRunning(): boolean {
    return this.#isRunning;
  }

  begin(): void {
    this.#isRunning = true;
  }

  end(outcome: CompactOutcome): void {
    this.#isRunning = false;
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const wake of waiters) wake(outcome);
  }

  /** Resolves with the next outcome. */
  outcome(): Promise<CompactOutcome> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }
}
