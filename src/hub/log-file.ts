/**
 * The hub's log file. It turns over once it is large (a hub runs for months; one older file is kept), it may be moved away by
 * others, and a disk that takes nothing costs lines, never the hub: pino's own file stream ends the process on a failed write.
 */
import { appendFileSync, renameSync, statSync } from "node:fs";
import { appendFile, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import type { DestinationStream } from "pino";

const LOG_BYTES_MAX = 8_388_608;
/** Lines that wait for the disk. Beyond, they are dropped and counted. */
const WAITING_CHARS_MAX = 1_048_576;

export interface LogFile extends DestinationStream {
  /** `done` is called when everything written so far is on disk, or lost for certain. */
  flush(done?: (error?: Error) => void): void;
  /**
   * At the end of the process, when nothing can be waited for: on disk when it returns. What is on its way there already goes
   * again: twice is better than not at all for the line that says why the hub ended.
   */
  flushNow(): void;
}

export function rotatingLogFile(path: string, maxBytes: number = LOG_BYTES_MAX): LogFile {
  const file = new RotatingFile(path, maxBytes);
  // What was logged last is often why the process ends.
  process.once("exit", () => file.flushNow());
  return file;
}

class RotatingFile implements LogFile {
  readonly #path: string;
  readonly #maxBytes: number;
  #waiting = "";
  /** Handed to the disk, and not yet known to be there. */
  #onItsWay = "";
  #lostCount = 0;
  #writing: Promise<void> | undefined;

  constructor(path: string, maxBytes: number) {
    this.#path = path;
    this.#maxBytes = maxBytes;
  }

  write(line: string): void {
    if (this.#waiting.length + line.length > WAITING_CHARS_MAX) {
      this.#lostCount += 1;
      return;
    }
    this.#waiting += line;
    this.#writing ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => this.#writeAll());
  }

  flush(done: (error?: Error) => void = () => undefined): void {
    void (this.#writing ?? Promise.resolve()).then(() => done());
  }

  flushNow(): void {
    const text = this.#onItsWay + this.#take().text;
    if (text === "") return;
    try {
      appendFileSync(this.#path, text, { mode: 0o600 });
    } catch {
      // Nobody is left to be told.
    }
  }

  async #writeAll(): Promise<void> {
    while (this.#waiting !== "") {
      const { text, count } = this.#take();
      this.#onItsWay = text;
      try {
        this.#turnOver();
        await mkdir(dirname(this.#path), { recursive: true, mode: 0o700 });
        await appendFile(this.#path, text, { mode: 0o600 });
      } catch {
        this.#lostCount += count;
      }
      this.#onItsWay = "";
    }
    this.#writing = undefined;
  }

  /** What waits, and how many lines are lost when it cannot be written. */
  #take(): { text: string; count: number } {
    const [lost, lines] = [this.#lostCount, this.#waiting];
    this.#waiting = "";
    if (lines === "") return { text: "", count: 0 };
    this.#lostCount = 0;
    const note = { level: 40, time: Date.now(), lost, msg: "log lines were lost" };
    return {
      text: lost === 0 ? lines : `${JSON.stringify(note)}\n${lines}`,
      count: lost + lines.split("\n").length - 1,
    };
  }

  #turnOver(): void {
    const size = statSync(this.#path, { throwIfNoEntry: false })?.size ?? 0;
    if (size > this.#maxBytes) renameSync(this.#path, `${this.#path}.1`);
  }
}
