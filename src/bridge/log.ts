/**
 * The bridge's own log: JSON lines in a file, because stdout is ACP and stderr is the agent's. Small on purpose: a logging library
 * would cost the editor's start. Fields are ids and sizes, never payloads.
 */
import type { BridgePaths } from "./paths.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface BridgeLog {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  /** Resolves when what was logged so far is on disk, or given up. A disk that hangs is the caller's to bound. */
  flush(): Promise<void>;
}

const MAX_BYTES = 2_097_152;
/** Lines that wait for a disk that is slow. Beyond, they are dropped. */
const WAITING_LINES_MAX = 1000;

export const silentLog: BridgeLog = {
  info: () => undefined,
  warn: () => undefined,
  flush: () => Promise.resolve(),
};

/** Appends to `logs/bridge.log`, turned over once it is large. A log that cannot be written is given up silently. */
export function fileLog(paths: BridgePaths, instanceId: string): BridgeLog {
  const file = new AppendedFile(paths.logDir);
  const write = (level: string, message: string, fields: LogFields = {}): void =>
    file.append(
      `${JSON.stringify({ time: Date.now(), level, pid: process.pid, instanceId, msg: message, ...fields })}\n`,
    );
  return {
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
    flush: () => file.written,
  };
}

class AppendedFile {
  readonly #dir: string;
  #pending: string[] = [];
  #isBroken = false;
  written: Promise<void> = Promise.resolve();

  constructor(dir: string) {
    this.#dir = dir;
  }

  append(line: string): void {
    if (this.#isBroken || this.#pending.length >= WAITING_LINES_MAX) return;
    this.#pending.push(line);
    if (this.#pending.length > 1) return;
    // One write at a time, so that lines stand in order; those of one turn of the loop go together.
    const turn = new Promise<void>((resolve) => setImmediate(resolve));
    this.written = Promise.all([this.written, turn]).then(() => this.#write());
  }

  async #write(): Promise<void> {
    const text = this.#pending.join("");
    this.#pending = [];
    try {
      const { appendFile, mkdir, rename, stat } = await import("node:fs/promises");
      const file = `${this.#dir}/bridge.log`;
      await mkdir(this.#dir, { recursive: true, mode: 0o700 });
      const size = await stat(file).then(
        (info) => info.size,
        () => 0,
      );
      if (size > MAX_BYTES) await rename(file, `${file}.1`).catch(() => undefined);
      await appendFile(file, text, { mode: 0o600 });
    } catch {
      this.#isBroken = true;
    }
  }
}
