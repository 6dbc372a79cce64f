/** A wall clock of their own for child processes, set while they run. Needs libfaketime (`apt install faketime`). */
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

function findLibrary(): string | undefined {
  const root = "/usr/lib";
  if (process.platform !== "linux" || !existsSync(root)) return undefined;
  return readdirSync(root)
    .map((name) => join(root, name, "faketime/libfaketimeMT.so.1"))
    .find((path) => existsSync(path));
}

const LIBRARY = findLibrary();

/** The library is not there on every machine; the automatic run installs it. */
export const canSetClock: boolean = LIBRARY !== undefined;

export class SetClock {
  readonly #file: string;

  constructor(dir: string) {
    this.#file = join(dir, "clock");
    this.set(0);
  }

  /** Those started with this have the clock. What only grows is left alone, as when a person sets the time. */
  get env(): Record<string, string> {
    return {
      LD_PRELOAD: LIBRARY ?? "",
      FAKETIME_TIMESTAMP_FILE: this.#file,
      FAKETIME_NO_CACHE: "1",
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
      NO_FAKE_STAT: "1",
    };
  }

  /** Seconds from the real time. */
  set(seconds: number): void {
    writeFileSync(this.#file, `${seconds < 0 ? "-" : "+"}${Math.abs(Math.round(seconds))}s\n`);
  }
}
