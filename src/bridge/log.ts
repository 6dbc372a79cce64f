/**
 * The bridge's own log: JSON lines in a file, because stdout is ACP and stderr is the agent's. Small on purpose: a logging library
 * would cost the editor's start. Fields are ids and sizes, never payloads.
 */
import type { BridgePaths } from "./paths.ts";

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface BridgeLog {
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
}

const MAX_BYTES = 2_097_152;

export const silentLog: BridgeLog = { info: () => undefined, warn: () => undefined };

/** Appends to `logs/bridge.log`, turned over once it is large. A log that cannot be written is given up silently. */
export function fileLog(paths: BridgePaths, instanceId: string): BridgeLog {
  let pending: string[] = [];
  let isBroken = false;
  const flush = async (): Promise<void> => {
    const text = pending.join("");
    pending = [];
    try {
      const { appendFile, mkdir, rename, stat } = await import("node:fs/promises");
      const file = `${paths.logDir}/bridge.log`;
      await mkdir(paths.logDir, { recursive: true, mode: 0o700 });
      const size = await stat(file).then(
        (info) => info.size,
        () => 0,
      );
      if (size > MAX_BYTES) await rename(file, `${file}.1`).catch(() => undefined);
      await appendFile(file, text, { mode: 0o600 });
    } catch {
      isBroken = true;
    }
  };
  const write = (level: string, message: string, fields: LogFields = {}): void => {
    if (isBroken) return;
    if (pending.length === 0) setImmediate(() => void flush());
    pending.push(
      `${JSON.stringify({ time: Date.now(), level, pid: process.pid, instanceId, msg: message, ...fields })}\n`,
    );
  };
  return {
    info: (message, fields) => write("info", message, fields),
    warn: (message, fields) => write("warn", message, fields),
  };
}
