/**
 * One hub per home. The lock is a file with the owner's pid, made exclusively; one left by a dead hub is taken over, and a live
 * hub's never (design §2).
 */
import { readFile, rename, unlink, writeFile } from "node:fs/promises";

export type LockResult =
  | { readonly ok: true; release(): Promise<void> }
  /** Another hub holds it. */
  | { readonly ok: false; readonly pid: number };

async function ownerOf(path: string): Promise<number | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  const pid = Number.parseInt(text, 10);
  return Number.isInteger(pid) && pid > 0 ? pid : undefined;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** `isServing` tells whether a hub really answers: pids are reused, so a live pid alone proves nothing. */
export async function takeLock(path: string, isServing: () => Promise<boolean>): Promise<LockResult> {
  for (let attempt = 0; attempt < 5; attempt += 1) {
    try {
      await writeFile(path, `${process.pid}\n`, { flag: "wx", mode: 0o600 });
      return { ok: true, release: () => releaseLock(path) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
    const pid = await ownerOf(path);
    if (pid !== undefined && pid !== process.pid && isAlive(pid) && (await waitsToServe(isServing, pid)))
      return { ok: false, pid };
    // Stale: moved aside under a name of our own first, so that two starters do not delete each other's fresh lock.
    const aside = `${path}.stale-${process.pid}`;
    await rename(path, aside).catch(() => undefined);
    await unlink(aside).catch(() => undefined);
  }
  return { ok: false, pid: (await ownerOf(path)) ?? 0 };
}

/** A hub that is just starting holds the lock before it listens: it gets a moment. */
async function waitsToServe(isServing: () => Promise<boolean>, pid: number): Promise<boolean> {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    if (await isServing()) return true;
    if (!isAlive(pid)) return false;
    await new Promise((resolve) => setTimeout(resolve, 150));
  }
  return false;
}

async function releaseLock(path: string): Promise<void> {
  if ((await ownerOf(path)) === process.pid) await unlink(path).catch(() => undefined);
}
