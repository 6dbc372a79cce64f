/**
 * Terminal output on its way to the other clients: gathered for a moment, and cut to its end when a command prints faster than
 * anybody reads, because every piece becomes an event in the session's record.
 */
import { tailOf } from "./output-ring.ts";

const GATHER_MS = 100;
/** Of one moment: about 320 kB/s of one terminal. */
const MOMENT_MAX_BYTES = 32_768;

export class OutputFeed {
  readonly #send: (text: string) => void;
  #pieces: string[] = [];
  #length = 0;
  #leftOut = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(send: (text: string) => void) {
    this.#send = send;
  }

  push(text: string): void {
    this.#pieces.push(text);
    this.#length += text.length;
    if (this.#length > MOMENT_MAX_BYTES * 4) this.#cut();
    if (this.#timer !== undefined) return;
    this.#timer = setTimeout(() => this.flush(), GATHER_MS);
    this.#timer.unref();
  }

  /** Sends what is there now: what follows must not overtake it. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#length === 0) return;
    this.#cut();
    const text = this.#pieces.join("");
    const note = this.#leftOut === 0 ? "" : `[${this.#leftOut} characters left out]\n`;
    this.#pieces = [];
    this.#length = 0;
    this.#leftOut = 0;
    this.#send(note + text);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pieces = [];
    this.#length = 0;
  }

  #cut(): void {
    const all = this.#pieces.join("");
    const kept = tailOf(all, MOMENT_MAX_BYTES);
    this.#leftOut += all.length - kept.length;
    this.#pieces = [kept];
    this.#length = kept.length;
  }
}
