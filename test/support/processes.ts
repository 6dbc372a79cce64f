/** Whether processes are there: tests of shutdown check by pid that none is left. */
import { readFileSync } from "node:fs";

/** True while `pid` runs. A process that ended and waits for its parent to notice does not. */
export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2, stat.lastIndexOf(")") + 3) !== "Z";
  } catch {
    // No /proc here, or gone meanwhile.
    return process.platform !== "linux";
  }
}

export const running = (pids: readonly number[]): number[] => pids.filter(isRunning);
