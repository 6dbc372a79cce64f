/** One level of a directory, bounded, read through the handle that was checked. */
import type { Stats } from "node:fs";
import { lstat, opendir, realpath, stat } from "node:fs/promises";
import { join } from "node:path";
import { isInside } from "../../bridge/host/inside.ts";
import type { Opened } from "../../bridge/host/open-inside.ts";
import { Problem } from "./problem.ts";

export interface DirectoryEntry {
  readonly name: string;
  /** What to ask for to get it: as the directory was asked for. */
  readonly path: string;
  readonly type: "file" | "directory" | "other";
  /** It is a link; `type` and `size` are those of what it leads to, unless that is outside: then nothing is told of it. */
  readonly isLink?: true;
  readonly size: number;
  /** Epoch milliseconds. */
  readonly modifiedAt: number;
}

export interface DirectoryListing {
  readonly path: string;
  /** Directories first, by name. */
  readonly entries: readonly DirectoryEntry[];
  /** There are more than are listed. */
  readonly truncated: boolean;
}

const ENTRIES_MAX = 5000;

/** `asked`: the path as the client named it; its entries are named the same way. */
export async function listDirectory(opened: Opened, asked: string): Promise<DirectoryListing> {
  const place = placeOf(opened);
  const entries: DirectoryEntry[] = [];
  let isTruncated = false;
  for await (const { name } of await opendir(place)) {
    if (entries.length >= ENTRIES_MAX) {
      isTruncated = true;
      break;
    }
    const entry = await describe(place, name, asked, opened.roots);
    if (entry !== undefined) entries.push(entry);
  }
  await sameStill(opened);
  return { path: asked, entries: entries.sort(directoriesFirst), truncated: isTruncated };
}

/** Linux reads a directory by its handle; elsewhere only its name can be given, which is checked once more at the end. */
const placeOf = ({ handle, path }: Opened): string =>
  process.platform === "linux" ? `/proc/self/fd/${handle.fd}` : path;

/** Undefined for one that went away meanwhile. */
async function describe(
  place: string,
  name: string,
  asked: string,
  roots: readonly string[],
): Promise<DirectoryEntry | undefined> {
  const at = join(place, name);
  const own = await lstat(at).catch(() => undefined);
  if (own === undefined) return undefined;
  const isLink = own.isSymbolicLink();
  const stats = isLink ? await statInside(at, roots) : own;
  return {
    name,
    path: asked === "" ? name : join(asked, name),
    type: stats === undefined ? "other" : typeOf(stats),
    ...(isLink && { isLink }),
    size: stats?.size ?? 0,
    modifiedAt: Math.round((stats ?? own).mtimeMs),
  };
}

async function statInside(link: string, roots: readonly string[]): Promise<Stats | undefined> {
  try {
    const real = await realpath(link);
    return roots.some((root) => isInside(root, real)) ? await stat(real) : undefined;
  } catch {
    return undefined;
  }
}

function typeOf(stats: Stats): DirectoryEntry["type"] {
  if (stats.isDirectory()) return "directory";
  return stats.isFile() ? "file" : "other";
}

async function sameStill({ path, stats }: Opened): Promise<void> {
  const isSame = await Promise.all([realpath(path), lstat(path, { bigint: true })]).then(
    ([real, named]) => real === path && named.ino === stats.ino && named.dev === stats.dev,
    () => false,
  );
  if (!isSame) throw new Problem(404, "The directory has gone while it was read");
}

function directoriesFirst(a: DirectoryEntry, b: DirectoryEntry): number {
  const isDirectory = (entry: DirectoryEntry): number => Number(entry.type === "directory");
  return isDirectory(b) - isDirectory(a) || (a.name < b.name ? -1 : 1);
}
