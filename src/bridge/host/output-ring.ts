/** The end of what a terminal printed, in at most so many bytes of UTF-8; cut at character boundaries, as ACP wants it. */
export class OutputRing {
  readonly #maxBytes: number;
  #pieces: string[] = [];
  #bytes = 0;
  #isTruncated = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** True once something was let go. */
  get isTruncated(): boolean {
    return this.#isTruncated;
  }

  push(text: string): void {
    if (text === "") return;
    this.#pieces.push(text);
    this.#bytes += Buffer.byteLength(text);
    // Joined now and then only: cutting at every push would copy everything for a few characters.
    if (this.#bytes > this.#maxBytes * 2 || this.#pieces.length > 4096) this.#trim();
  }

  get text(): string {
    this.#trim();
    return this.#pieces[0] ?? "";
  }

  #trim(): void {
    const all = this.#pieces.join("");
    const kept = this.#bytes > this.#maxBytes ? tailOf(all, this.#maxBytes) : all;
    if (kept.length < all.length) {
      this.#isTruncated = true;
      this.#bytes = Buffer.byteLength(kept);
    }
    this.#pieces = [kept];
  }
}

/** The last whole characters of `text` that fit into `maxBytes`. */
export function tailOf(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  // Bytes 10xxxxxx continue a character that began before the cut.
  while (start < bytes.length && ((bytes[start] ?? 0) & 0xc0) === 0x80) start += 1;
  return bytes.toString("utf8", start);
}
