/**
 * Notices a dead socket that never closed. Server pings are invisible to a page, so a silent socket is asked something
 * cheap; any answer at all is life. Only while the page is seen: a hidden page has no timers of ours.
 */
import type { Clock } from "./ports.ts";

export const SILENT_MS = 20_000;
export const PROBE_TIMEOUT_MS = 8000;
/** After a wake-up the answer is wanted sooner: a phone that was locked usually holds a dead socket. */
export const WAKE_TIMEOUT_MS = 3000;

export interface LivenessOptions {
  readonly clock: Clock;
  /** Asks the peer anything; resolves on any answer, an error answer included. */
  readonly probe: (timeoutMs: number) => Promise<boolean>;
  readonly onDead: () => void;
}

export class Liveness {
  readonly #options: LivenessOptions;
  #heardAt: number;
  #isVisible = true;
  #isProbing = false;
  #isStopped = false;
  #cancelTimer: (() => void) | undefined;

  constructor(options: LivenessOptions) {
    this.#options = options;
    this.#heardAt = options.clock.now();
    this.#schedule();
  }

  get heardAt(): number {
    return this.#heardAt;
  }

  heard(): void {
    this.#heardAt = this.#options.clock.now();
  }

  setVisible(isVisible: boolean): void {
    this.#isVisible = isVisible;
    if (isVisible) this.#schedule();
    else this.#clear();
  }

  /** The page came back or the network changed: ask now if the socket has been silent. */
  wake(): void {
    if (this.#silentMs() >= SILENT_MS) this.#probe(WAKE_TIMEOUT_MS);
  }

  stop(): void {
    this.#isStopped = true;
    this.#clear();
  }

  #silentMs(): number {
    return this.#options.clock.now() - this.#heardAt;
  }

  #schedule(): void {
    this.#clear();
    if (!this.#isVisible || this.#isStopped) return;
    const wait = Math.max(250, SILENT_MS - this.#silentMs());
    this.#cancelTimer = this.#options.clock.after(wait, () => {
      if (this.#silentMs() >= SILENT_MS) this.#probe(PROBE_TIMEOUT_MS);
      else this.#schedule();
    });
  }

  #probe(timeoutMs: number): void {
    if (this.#isProbing || this.#isStopped) return;
    this.#isProbing = true;
    this.#clear();
    const askedAt = this.#options.clock.now();
    void this.#options.probe(timeoutMs).then((isAlive) => {
      this.#isProbing = false;
      if (this.#isStopped) return;
      if (!isAlive && this.#heardAt <= askedAt) this.#options.onDead();
      else this.#schedule();
    });
  }

  #clear(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }
}
