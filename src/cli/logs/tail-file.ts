/** Follows one log file over rotation: the rest of the old file is read before the new one, so that no line is lost. */
import { type FileHandle, open, stat } from "node:fs/promises";

/** How far back the first lines are looked for; a longer line is cut. */
const BACK_BYTES = 1_048_576;
const CHUNK_BYTES = 65_536;
/** A line that never ends is given out in pieces of this. */
const LINE_MAX = 262_144;

export class TailFile {
  readonly path: string;
  #handle: FileHandle | undefined;
  #offset = 0;
  #rest = "";
  /** Keeps the bytes of a character that is half there. */
  #decoder = new TextDecoder();

  constructor(path: string) {
    this.path = path;
  }

  /** The last `count` lines; from there on `poll` goes on. A file that is not there has none. */
  async last(count: number): Promise<string[]> {
    await this.#open();
    if (this.#handle === undefined) return [];
    const { size } = await this.#handle.stat();
    this.#offset = Math.max(0, size - BACK_BYTES);
    const isCut = this.#offset > 0;
    const lines = await this.#readNew();
    // The first one began before what was read.
    return (isCut ? lines.slice(1) : lines).slice(count === 0 ? lines.length : -count);
  }

  /** Lines that came since. */
  async poll(): Promise<string[]> {
    const lines = this.#handle === undefined ? [] : await this.#readNew();
    if (await this.#isReplaced()) {
      await this.close();
      await this.#open();
      this.#offset = 0;
      this.#decoder = new TextDecoder();
      if (this.#rest !== "") lines.push(this.#takeRest());
      if (this.#handle !== undefined) lines.push(...(await this.#readNew()));
    }
    return lines;
  }

  async close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }

  async #open(): Promise<void> {
    this.#handle = await open(this.path, "r").catch(() => undefined);
  }

  /** Another file stands at the path, or this one was emptied. */
  async #isReplaced(): Promise<boolean> {
    const there = await stat(this.path).catch(() => undefined);
    if (there === undefined) return false;
    if (this.#handle === undefined) return true;
    const own = await this.#handle.stat();
    return own.ino !== there.ino || own.dev !== there.dev || there.size < this.#offset;
  }

  async #readNew(): Promise<string[]> {
    const lines: string[] = [];
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (;;) {
      const read = await this.#handle?.read(buffer, 0, buffer.length, this.#offset);
      if (read === undefined || read.bytesRead === 0) return lines;
      this.#offset += read.bytesRead;
      const parts = (this.#rest + this.#decoder.decode(buffer.subarray(0, read.bytesRead), { stream: true })).split(
        "\n",
      );
      this.#rest = parts.pop() ?? "";
      lines.push(...parts.filter((part) => part !== ""));
      if (this.#rest.length > LINE_MAX) lines.push(this.#takeRest());
    }
  }

  #takeRest(): string {
    const rest = this.#rest;
    this.#rest = "";
    return rest;
  }
}
