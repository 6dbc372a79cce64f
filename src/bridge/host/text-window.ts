/** A window of lines of a text file, read in pieces: what it costs is bounded, however large the file is. */
import type { FileHandle } from "node:fs/promises";

export interface WindowWanted {
  /** First line, from 1. */
  readonly line: number;
  /** How many lines at most; undefined: to the end. */
  readonly limit: number | undefined;
  /** A window of more bytes is `too-large`. */
  readonly maxBytes: number;
  /** A window that begins further into the file is `too-large`: finding it would read all of that. */
  readonly maxSkipBytes: number;
}

export type TextWindow =
  | {
      readonly kind: "text";
      /** Lines with their ends; bytes that are no UTF-8 are replaced. */
      readonly text: string;
      readonly hasMore: boolean;
    }
  | { readonly kind: "too-large" }
  /** The file has fewer lines. The one after the last is no error: there is just nothing in it yet. */
  | { readonly kind: "past-end"; readonly lines: number };

const LF = 0x0a;
const CHUNK_BYTES = 65_536;

export async function readTextWindow(handle: FileHandle, wanted: WindowWanted): Promise<TextWindow> {
  const reader = new WindowReader(wanted);
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  for (let position = 0; ; ) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return reader.end();
    position += bytesRead;
    const found = reader.push(chunk.subarray(0, bytesRead));
    if (found !== undefined) return found;
  }
}

class WindowReader {
  readonly #wanted: WindowWanted;
  readonly #pieces: Buffer[] = [];
  #bytes = 0;
  #skippedBytes = 0;
  /** The line the next byte belongs to. */
  #line = 1;
  #isMidLine = false;

  constructor(wanted: WindowWanted) {
    this.#wanted = wanted;
  }

  /** Takes the next bytes of the file; gives the window once it is decided. */
  push(chunk: Buffer): TextWindow | undefined {
    const from = this.#passLines(chunk, 0, this.#wanted.line);
    const to = this.#passLines(chunk, from, this.#end);
    this.#skippedBytes += from;
    this.#bytes += to - from;
    if (this.#skippedBytes > this.#wanted.maxSkipBytes || this.#bytes > this.#wanted.maxBytes)
      return { kind: "too-large" };
    // A copy: the chunk is read into again.
    if (to > from) this.#pieces.push(Buffer.from(chunk.subarray(from, to)));
    return to < chunk.length ? this.#found(true) : undefined;
  }

  end(): TextWindow {
    const lines = this.#isMidLine ? this.#line : this.#line - 1;
    return this.#wanted.line > lines + 1 ? { kind: "past-end", lines } : this.#found(false);
  }

  get #end(): number {
    const { line, limit } = this.#wanted;
    return limit === undefined ? Number.POSITIVE_INFINITY : line + limit;
  }

  /** Goes on to the start of `line`, or to the end of the chunk; gives the place. */
  #passLines(chunk: Buffer, start: number, line: number): number {
    let at = start;
    while (this.#line < line && at < chunk.length) {
      const lineEnd = chunk.indexOf(LF, at);
      this.#isMidLine = lineEnd < 0;
      at = lineEnd < 0 ? chunk.length : lineEnd + 1;
      if (lineEnd >= 0) this.#line += 1;
    }
    return at;
  }

  #found(hasMore: boolean): TextWindow {
    return { kind: "text", text: Buffer.concat(this.#pieces).toString("utf8"), hasMore };
  }
}
