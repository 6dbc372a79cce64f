/** Whether a bridge's process still runs. One that ended and waits for its parent to notice does not: editors reap late. */
import { readFileSync } from "node:fs";

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
  return !isEnded(pid);
}

/** When it started, as the system counts: with the pid, a name no other process ever has. Undefined where it cannot be told. */
export function startOf(pid: number): string | undefined {
  return statFields(pid)?.[19];
}

const isEnded = (pid: number): boolean => /^[ZX]/.test(statFields(pid)?.[0] ?? "");

/** From the state on: the name before it may hold anything, spaces and parentheses too. */
function statFields(pid: number): string[] | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  } catch {
    return undefined;
  }
}
