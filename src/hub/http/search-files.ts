/**
 * Finds files below the roots of a session by what somebody typed. Breadth first, so that what is near is found when time or number
 * run out. A link is not followed: what it leads to inside the roots is found under its own name, and what lies elsewhere is
 * nobody's to find.
 */
import type { Dirent } from "node:fs";
import { readdir, realpath } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isInside } from "../../bridge/host/inside.ts";
import { type IgnoreRules, isIgnored, withGitignore } from "./ignore-rules.ts";
import { rankPath } from "./rank-path.ts";

export interface FoundFile {
  /** Absolute, below the root as the session names it. */
  readonly path: string;
  /** Relative to its root, with "/" between its parts. */
  readonly relativePath: string;
}

export interface FileSearch {
  /** Directories as the session names them. */
  readonly roots: readonly string[];
  readonly query: string;
  readonly limit: number;
  /** True for a path, links resolved, that is nobody's to see. */
  isHidden(path: string): boolean;
  /** Nobody waits any more. */
  readonly signal: AbortSignal;
  readonly bounds?: SearchBounds;
}

export interface SearchBounds {
  readonly entriesMax: number;
  readonly ms: number;
}

export interface SearchResult {
  /** Best first. */
  readonly found: readonly FoundFile[];
  /** Not everything was looked at: too much, or too slow. */
  readonly truncated: boolean;
}

const BOUNDS: SearchBounds = { entriesMax: 50_000, ms: 1500 };

/** Directories read at once: enough to keep a disk busy, few enough to leave threads to others. */
const AT_ONCE = 4;

/** Deeper names are not looked at: nobody types them, and rules take long over them. */
const PATH_CHARS_MAX = 1024;

interface Directory {
  /** Links resolved. */
  readonly real: string;
  /** Below the root; "" for the root itself, else ending in "/". */
  readonly base: string;
  /** An index into the roots of the search. */
  readonly root: number;
  readonly rules: IgnoreRules;
}

/** Rejects with the signal's reason when it is aborted. Directories that cannot be read hold nothing. */
export async function searchFiles(search: FileSearch): Promise<SearchResult> {
  const { entriesMax, ms } = search.bounds ?? BOUNDS;
  const endsAt = performance.now() + ms;
  const best = new Best(search.limit);
  const query = search.query.toLowerCase();
  const roots = await rootsOf(search.roots);
  const walk: Walk = { search, roots, left: entriesMax, isOver: () => performance.now() > endsAt };
  const offer = (file: FoundFile): void => best.offer(rankPath(query, file.relativePath), file);
  const queue: Directory[] = roots.map(({ real, root }) => ({ real, base: "", root, rules: [] }));
  while (queue.length > 0) {
    search.signal.throwIfAborted();
    if (walk.left <= 0 || walk.isOver()) return { found: best.list(), truncated: true };
    const read = await Promise.all(queue.splice(0, AT_ONCE).map((directory) => readOne(walk, directory)));
    for (const { files, directories } of read) {
      for (const file of files) offer(file);
      queue.push(...directories);
    }
  }
  return { found: best.list(), truncated: walk.left <= 0 };
}

interface Walk {
  readonly search: FileSearch;
  readonly roots: readonly Root[];
  /** Entries that may still be looked at. */
  left: number;
  isOver(): boolean;
}

interface Root {
  readonly real: string;
  readonly root: number;
}

/** Roots that are there; one inside another is searched with it. The root of the file system is none: it would hold everything. */
async function rootsOf(roots: readonly string[]): Promise<readonly Root[]> {
  const found = await Promise.all(
    roots.map(async (path, root) => ({ real: await realpath(path).catch(() => undefined), root })),
  );
  const there = found.filter((each): each is Root => each.real !== undefined && dirname(each.real) !== each.real);
  return there.filter(
    ({ real, root }) =>
      !there.some(
        (other) => other.root !== root && isInside(other.real, real) && (other.real !== real || other.root < root),
      ),
  );
}

interface Contents {
  readonly files: readonly FoundFile[];
  readonly directories: readonly Directory[];
}

const NOTHING: Contents = { files: [], directories: [] };

async function readOne(walk: Walk, directory: Directory): Promise<Contents> {
  const { real } = directory;
  const entries = await readdir(real, { withFileTypes: true }).catch(() => undefined);
  // A link put in its place meanwhile leads elsewhere: then the names are not of this place.
  if (entries === undefined || (await realpath(real).catch(() => undefined)) !== real) return NOTHING;
  const hasOwnRules = entries.some((entry) => entry.name === ".gitignore" && entry.isFile());
  const rules = hasOwnRules
    ? await withGitignore(directory.rules, directory.base, join(real, ".gitignore"), [real])
    : directory.rules;
  return sorted(walk, { ...directory, rules }, entries);
}

/** What of a directory is wanted, until time or number run out. */
function sorted(walk: Walk, { real, base, root, rules }: Directory, entries: readonly Dirent[]): Contents {
  const { search } = walk;
  const files: FoundFile[] = [];
  const directories: Directory[] = [];
  for (const entry of entries) {
    const isDirectory = entry.isDirectory();
    if (!isDirectory && !entry.isFile()) continue;
    walk.left -= 1;
    if (walk.left < 0 || walk.isOver()) break;
    const relativePath = base + entry.name;
    const at = join(real, entry.name);
    if (relativePath.length > PATH_CHARS_MAX || isIgnored(rules, relativePath, entry.name, isDirectory)) continue;
    if (search.isHidden(at)) continue;
    if (isDirectory) directories.push({ real: at, base: `${relativePath}/`, root, rules });
    else files.push({ path: join(search.roots[root] ?? "", relativePath), relativePath });
  }
  return { files, directories };
}

/** The best so many. */
class Best {
  readonly #limit: number;
  readonly #entries: { readonly rank: number; readonly file: FoundFile }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  offer(rank: number | undefined, file: FoundFile): void {
    if (rank === undefined) return;
    const last = this.#entries.at(-1);
    if (this.#entries.length >= this.#limit && last !== undefined && last.rank >= rank) return;
    const at = this.#entries.findIndex((entry) => entry.rank < rank);
    this.#entries.splice(at < 0 ? this.#entries.length : at, 0, { rank, file });
    if (this.#entries.length > this.#limit) this.#entries.pop();
  }

  list(): readonly FoundFile[] {
    return this.#entries.map((entry) => entry.file);
  }
}
