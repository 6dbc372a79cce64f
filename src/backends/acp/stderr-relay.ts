/**
 * An agent's stderr on its way to ours (T4). Whole lines only, so that they never end up inside a log line of ours, and
 * the last bytes are kept for the error its callers get when the agent is gone (S8).
 */
import type { Writable } from "node:stream";

const LF = 0x0a;
const TAIL_BYTES = 8192;
/** A longer line is passed on in pieces. */
const PARTIAL_BYTES = 65_536;
/** When nobody reads our stderr, further text is dropped: it must not fill the bridge's memory. */
const UNSENT_BYTES = 1_048_576;

export class StderrRelay {
  readonly #out: Writable;
  #partial: Buffer[] = [];
  #partialBytes = 0;
  #tail: Buffer = Buffer.alloc(0);
  #isTailCut = false;
  /** A long line went out in pieces and its end has not come. */
  #isInLine = false;

  constructor(out: Writable) {
    this.#out = out;
  }

  push(chunk: Buffer): void {
    this.#keepTail(chunk);
    const end = chunk.lastIndexOf(LF) + 1;
    if (end > 0) {
      this.#write([...this.#takePartial(), chunk.subarray(0, end)]);
      this.#isInLine = false;
    }
    if (end === chunk.length) return;
    this.#partial.push(chunk.subarray(end));
    this.#partialBytes += chunk.length - end;
    if (this.#partialBytes <= PARTIAL_BYTES) return;
    this.#write(this.#takePartial());
    this.#isInLine = true;
  }

  /** The agent's stderr ended: a last line gets its line end. */
  end(): void {
    if (this.#partialBytes === 0 && !this.#isInLine) return;
    this.#write([...this.#takePartial(), Buffer.of(LF)]);
    this.#isInLine = false;
  }

  /** The last lines, at most 8 KiB, without a first line that was cut. */
  get tail(): string {
    const start = this.#isTailCut ? this.#tail.indexOf(LF) + 1 : 0;
    return this.#tail.toString("utf8", start).trimEnd();
  }

  #keepTail(chunk: Buffer): void {
    const joined = Buffer.concat([this.#tail, chunk.subarray(-TAIL_BYTES)]);
    this.#isTailCut ||= joined.length > TAIL_BYTES || chunk.length > TAIL_BYTES;
    // A copy: a view would keep the whole of what it was cut from.
    this.#tail = joined.length > TAIL_BYTES ? Buffer.from(joined.subarray(-TAIL_BYTES)) : joined;
  }

  #takePartial(): Buffer[] {
    const taken = this.#partial;
    this.#partial = [];
    this.#partialBytes = 0;
    return taken;
  }

  #write(parts: readonly Buffer[]): void {
    if (this.#out.writable && this.#out.writableLength <= UNSENT_BYTES) this.#out.write(Buffer.concat(parts));
  }
}
