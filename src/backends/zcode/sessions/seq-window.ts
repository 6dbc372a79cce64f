/** Event numbers seen lately: an event that comes twice (pushed, and again in a subscribe's window) counts once. */

const WINDOW = 4_096;

export class SeqWindow {
  readonly #seen = new Set<number>();
  #highest: number | undefined;

  /** The highest number seen, for asking what came after it. */
  get highest(): number | undefined {
    return this.#highest;
  }

  /** True the first time. Numbers far below the highest are old news. */
  accept(seq: number): boolean {
    if (this.#highest !== undefined && seq <= this.#highest - WINDOW) return false;
    if (this.#seen.has(seq)) return false;
    this.#seen.add(seq);
    if (this.#highest === undefined || seq > this.#highest) this.#highest = seq;
    if (this.#seen.size > 2 * WINDOW) this.#trim();
    return true;
  }

  /** A resumed runtime numbers from where it likes. */
  reset(): void {
    this.#seen.clear();
    this.#highest = undefined;
  }

  #trim(): void {
    const floor = (this.#highest ?? 0) - WINDOW;
    for (const seq of this.#seen) if (seq <= floor) this.#seen.delete(seq);
  }
}
