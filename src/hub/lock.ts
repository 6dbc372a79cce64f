/**
 * One hub per home. The lock is a file that names its owner, made exclusively; one left by a dead hub is taken over, and a live
 * hub's never (design §2).
 */
import { readFile, rename, stat, unlink, writeFile } from "node:fs/promises";
import { isAlive, startOf } from "./process-alive.ts";

export type LockResult =
  /** Released to `successor` it is that process's at once: nobody else comes between (ADR 7). */
  | { readonly ok: true; release(successor?: number): Promise<void> }
  /** Another hub holds it. */
  | { readonly ok: false; readonly pid: number };

interface Owner {
  readonly pid: number;
  /** When the process started, where that can be told: pids are reused, the pair is not. */
  readonly start: string | undefined;
}

/** Together longer than `TAKEOVER_MS`: a starter killed in the middle of a takeover makes the next one wait, not give up. */
const ATTEMPTS = 400;
const LOOK_MS = 20;
/** A takeover lasts milliseconds; one that is older was cut short by a crash. */
const TAKEOVER_MS = 5000;

/** `isServing` tells whether a hub answers: the last word where a pid alone proves nothing. */
export async function takeLock(path: string, isServing: () => Promise<boolean>): Promise<LockResult> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    if (await create(path)) return held(path);
    const owner = await ownerOf(path);
    if (owner !== undefined && isOurs(owner)) return held(path);
    if (owner !== undefined && (await isHeld(owner, isServing))) return { ok: false, pid: owner.pid };
    await takeOver(path, owner);
  }
  return { ok: false, pid: (await ownerOf(path))?.pid ?? 0 };
}

const held = (path: string): LockResult => ({ ok: true, release: (successor) => releaseLock(path, successor) });

const textOf = (pid: number): string => `${pid} ${startOf(pid) ?? ""}\n`;

/** Handed over by the hub before. No live process but this one has its pid, so where starts cannot be told the pid is enough. */
const isOurs = ({ pid, start }: Owner): boolean => pid === process.pid && start === startOf(pid);

/** False when the file is there already. */
async function create(path: string): Promise<boolean> {
  try {
    await writeFile(path, textOf(process.pid), { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    return false;
  }
}

async function ownerOf(path: string): Promise<Owner | undefined> {
  const text = await readFile(path, "utf8").catch(() => "");
  const match = /^(\d+)(?: (\S+))?\s*$/.exec(text);
  return match?.[1] === undefined ? undefined : { pid: Number(match[1]), start: match[2] };
}

async function isHeld({ pid, start }: Owner, isServing: () => Promise<boolean>): Promise<boolean> {
  if (pid === process.pid || !isAlive(pid)) return false;
  if (start !== undefined) return startOf(pid) === start;
  // A hub that is just starting holds the lock before it listens: it gets a moment.
  for (let attempt = 0; attempt < 20 && isAlive(pid); attempt += 1) {
    if (await isServing()) return true;
    await pause(150);
  }
  return false;
}

/**
 * Removes the lock of a dead owner. One starter at a time, and only the very lock that was judged: between another's removal and
 * ours, somebody may have made a fresh one.
 */
async function takeOver(path: string, judged: Owner | undefined): Promise<void> {
  const turn = `${path}.takeover`;
  if (!(await create(turn))) {
    const age = await stat(turn).then(
      (info) => Date.now() - info.mtimeMs,
      () => 0,
    );
    if (age > TAKEOVER_MS) await unlink(turn).catch(() => undefined);
    return pause(LOOK_MS);
  }
  try {
    const owner = await ownerOf(path);
    // An empty file is a lock whose owner is being written, or a torn one: the next look tells.
    const isSame = owner?.pid === judged?.pid && owner?.start === judged?.start;
    if (isSame && (owner !== undefined || (await isOld(path)))) await unlink(path).catch(() => undefined);
  } finally {
    await unlink(turn).catch(() => undefined);
  }
  return pause(judged === undefined ? LOOK_MS : 0);
}

const isOld = (path: string): Promise<boolean> =>
  stat(path).then(
    (info) => Date.now() - info.mtimeMs > 1000,
    () => false,
  );

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function releaseLock(path: string, successor: number | undefined): Promise<void> {
  if ((await ownerOf(path))?.pid !== process.pid) return;
  if (successor === undefined || !isAlive(successor)) return unlink(path).catch(() => undefined);
  const next = `${path}.${process.pid}`;
  await writeFile(next, textOf(successor), { mode: 0o600 });
  await rename(next, path);
}
