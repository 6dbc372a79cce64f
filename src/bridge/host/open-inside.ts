/**
 * Opens files and directories that are certainly inside given roots (S7, contract §3). The name is resolved first, and looked at
 * once more behind the open handle: a link swapped in between is found out, because the handle is then another file.
 */
import type { BigIntStats } from "node:fs";
import { constants, type FileHandle, lstat, mkdir, open, realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, resolve } from "node:path";
import { isInside } from "./inside.ts";

/** `outside` the roots (or not tellable), `missing`, `denied` by the system, or not the `wrong-type` of thing. */
export type PlaceErrorCode = "outside" | "missing" | "denied" | "wrong-type";

export class PlaceError extends Error {
  override readonly name = "PlaceError";
  readonly code: PlaceErrorCode;

  constructor(code: PlaceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

export interface Opened {
  readonly handle: FileHandle;
  /** Its name without links. */
  readonly path: string;
  readonly stats: BigIntStats;
  /** The roots it was found in, links resolved. */
  readonly roots: readonly string[];
}

export type Wanted = "file" | "directory";

// Without O_NONBLOCK the open of a pipe would wait for its writer, and hold a thread of ours.
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const WRITE = constants.O_WRONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_CREAT;

/** Opens for reading. `path` is absolute; rejects with `PlaceError`, or with what the system says. The caller closes the handle. */
export async function openInside(path: string, roots: readonly string[], wanted: Wanted): Promise<Opened> {
  const within = await resolveRoots(roots);
  const real = await realpath(checked(path)).catch((error: unknown) => {
    throw placeError(error, isNamedInside(path, roots, within));
  });
  if (!within.some((root) => isInside(root, real))) throw outside();
  return verified(await openOr(real, READ, wanted), real, within, wanted);
}

/** Opens a file for writing, made with its directories where it does not exist; what it held is still there. */
export async function openForWriting(path: string, roots: readonly string[]): Promise<Opened> {
  const within = await resolveRoots(roots);
  const real = await realpathOfNew(checked(path));
  if (!within.some((root) => isInside(root, real))) throw outside();
  await mkdir(dirname(real), { recursive: true }).catch((error: unknown) => {
    throw placeError(error, true);
  });
  return verified(await openOr(real, WRITE, "file"), real, within, "file");
}

function checked(path: string): string {
  if (!isAbsolute(path) || path.includes("\0")) throw new PlaceError("outside", "The path has to be absolute");
  return path;
}

/** Roots that do not exist hold nothing. The root of the file system is none: it would hold everything. */
async function resolveRoots(roots: readonly string[]): Promise<string[]> {
  const found = await Promise.all(roots.map((root) => realpath(root).catch(() => undefined)));
  return found.filter((root): root is string => root !== undefined && dirname(root) !== root);
}

async function realpathOfNew(path: string): Promise<string> {
  const missing: string[] = [];
  for (let existing = resolve(path); ; existing = dirname(existing)) {
    try {
      return join(await realpath(existing), ...missing);
    } catch (error) {
      const isThere = await lstat(existing).then(
        () => true,
        () => false,
      );
      // Something is there and leads nowhere: a link whose target is missing must not be made by us.
      if (isThere || dirname(existing) === existing) throw placeError(error, true);
      missing.unshift(basename(existing));
    }
  }
}

async function openOr(real: string, flags: number, wanted: Wanted): Promise<FileHandle> {
  const more = wanted === "directory" ? constants.O_DIRECTORY : 0;
  return open(real, flags | more, 0o666).catch((error: unknown) => {
    throw placeError(error, true);
  });
}

/** The handle is the file of that name, and the name has no links: then it is inside. */
async function verified(handle: FileHandle, real: string, within: readonly string[], wanted: Wanted): Promise<Opened> {
  try {
    const stats = await handle.stat({ bigint: true });
    const [again, named] = await Promise.all([realpath(real), lstat(real, { bigint: true })]).catch(() => {
      throw outside();
    });
    const isSame = again === real && named.ino === stats.ino && named.dev === stats.dev;
    if (!isSame || !within.some((root) => isInside(root, again))) throw outside();
    if (wanted === "directory" ? !stats.isDirectory() : !stats.isFile()) throw wrongType(wanted);
    return { handle, path: real, stats, roots: within };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

const isNamedInside = (path: string, roots: readonly string[], within: readonly string[]): boolean =>
  [...roots, ...within].some((root) => isInside(resolve(root), resolve(path)));

const outside = (): PlaceError => new PlaceError("outside", "The path is not inside the session's directories");
const wrongType = (wanted: Wanted): PlaceError =>
  new PlaceError("wrong-type", wanted === "file" ? "This is not a plain file" : "This is not a directory");

/** `isInside`: whether the name at least stands inside the roots; nothing is told of what stands elsewhere. */
function placeError(error: unknown, isNameInside: boolean): unknown {
  if (!isNameInside) return outside();
  const cause = { cause: error };
  switch ((error as NodeJS.ErrnoException).code) {
    case "ENOENT":
    case "ENAMETOOLONG":
      return new PlaceError("missing", "There is nothing at this path", cause);
    case "ENOTDIR":
    case "EISDIR":
    case "ENXIO":
      return new PlaceError("wrong-type", "The path is not of the kind asked for", cause);
    case "ELOOP":
      return outside();
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new PlaceError("denied", "The system does not allow this", cause);
    default:
      return error;
  }
}
