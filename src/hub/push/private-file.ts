/** A small JSON file of the home: 0600, replaced whole, one write after the other. */
import { readFile } from "node:fs/promises";
import { writePrivateFile } from "../../auth/private-file.ts";

export class PrivateFile {
  readonly #path: string;
  /** One write at a time, in the order they were asked for: the last one asked is the one that stays. */
  #written: Promise<void> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Undefined when there is none, or it cannot be read. */
  async read(): Promise<unknown> {
    try {
      return JSON.parse(await readFile(this.#path, "utf8"));
    } catch {
      return undefined;
    }
  }

  /** Rejects when the disk does. */
  write(value: unknown): Promise<void> {
    const text = JSON.stringify(value);
    const write = (): Promise<void> => writePrivateFile(this.#path, text);
    this.#written = this.#written.then(write, write);
    return this.#written;
  }
}
