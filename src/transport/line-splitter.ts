/**
 * Bytes → lines. Splits on the byte 0x0A alone: text line readers also split on U+2028 or U+0085, which are legal inside
 * JSON (T2). Linear in the input whatever the chunking: only new bytes are searched, and a partial line is copied into
 * one growing buffer.
 */
const LF = 0x0a;
const CR = 0x0d;
/** A partial-line buffer larger than this is given back after its line. */
const KEEP_BYTES = 65_536;

export interface LineSink {
  /** One line without its line end. The bytes are only valid during the call. Empty lines are not reported. */
  onLine(line: Buffer): void;
  /** A line longer than the cap ended; its bytes were skipped, never held. */
  onOversize(bytes: number): void;
}

export class LineSplitter {
  readonly #sink: LineSink;
  readonly #maxLineBytes: number;
  #partial: Buffer = Buffer.alloc(0);
  #partialBytes = 0;
  /** True from the moment the line passed the cap to its end; `#partialBytes` goes on counting. */
  #isSkipping = false;

  constructor(sink: LineSink, maxLineBytes: number) {
    this.#sink = sink;
    this.#maxLineBytes = maxLineBytes;
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LF); end !== -1; end = chunk.indexOf(LF, start)) {
      if (this.#partialBytes === 0) this.#finish(chunk.subarray(start, end));
      else {
        this.#append(chunk.subarray(start, end));
        this.#finishPartial();
      }
      start = end + 1;
    }
    if (start < chunk.length) this.#append(chunk.subarray(start));
  }

  /** The stream ended: a last line without a line end counts. */
  end(): void {
    if (this.#partialBytes > 0) this.#finishPartial();
  }

  #append(bytes: Buffer): void {
    const total = this.#partialBytes + bytes.length;
    // One byte of grace: a CR before the LF is not part of the line.
    if (total > this.#maxLineBytes + 1) {
      this.#isSkipping = true;
      this.#partial = Buffer.alloc(0);
    } else {
      this.#reserve(total);
      bytes.copy(this.#partial, this.#partialBytes);
    }
    this.#partialBytes = total;
  }

  #reserve(total: number): void {
    if (total <= this.#partial.length) return;
    const grown = Buffer.allocUnsafe(Math.max(total, Math.min(this.#partial.length * 2, this.#maxLineBytes + 1), 1024));
    this.#partial.copy(grown, 0, 0, this.#partialBytes);
    this.#partial = grown;
  }

  #finishPartial(): void {
    const bytes = this.#partialBytes;
    const line = this.#partial.subarray(0, bytes);
    const wasSkipping = this.#isSkipping;
    this.#partialBytes = 0;
    this.#isSkipping = false;
    if (this.#partial.length > KEEP_BYTES) this.#partial = Buffer.alloc(0);
    if (wasSkipping) this.#sink.onOversize(bytes);
    else this.#finish(line);
  }

  #finish(line: Buffer): void {
    const length = line.length > 0 && line[line.length - 1] === CR ? line.length - 1 : line.length;
    if (length > this.#maxLineBytes) this.#sink.onOversize(length);
    else if (length > 0) this.#sink.onLine(length === line.length ? line : line.subarray(0, length));
  }
}
