/** Signals to a process group, and waiting until nobody is left in it. POSIX only: elsewhere the child alone is meant. */

/** How often a group is looked at: nothing tells when a grandchild ends. */
const LOOK_MS = 20;

/** Sends `signal` to every process of the group led by `pid`; false when there is none left. */
export function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(process.platform === "win32" ? pid : -pid, signal);
  } catch (error) {
    // EPERM: somebody is there who changed its user. It counts as alive.
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Resolves true as soon as the group is empty, false when it is not after `limitMs`. Ended processes nobody has reaped
 * count: in a container without an init the whole limit is waited for them.
 */
export async function groupGone(pid: number, limitMs: number): Promise<boolean> {
  for (let waited = 0; signalGroup(pid, 0); waited += LOOK_MS) {
    if (waited >= limitMs) return false;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return true;
}
