/** A small JSON file of the home: 0600, replaced whole, so that a crash leaves the old one or the new one. */
import { randomBytes } from "node:crypto";
import { readFile, rename, writeFile } from "node:fs/promises";

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
    const write = async (): Promise<void> => {
      const temporary = `${this.#path}.${randomBytes(4).toString("hex")}`;
      await writeFile(temporary, text, { mode: 0o600 });
      await rename(temporary, this.#path);
    };
    this.#written = this.#written.then(write, write);
    return this.#written;
  }
}
