/** The branch a directory is on, as git's own files say. No git is run: a repository may name programs for it to start. */
import { lstat, readFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

const FILE_BYTES_MAX = 4096;
const NAME_CHARS_MAX = 200;
const REF = /^ref: refs\/heads\/(\S.*?)\s*$/;
const COMMIT = /^([0-9a-f]{7})[0-9a-f]{33,57}\s*$/;

/** A branch's name, or the first seven digits of a commit without one; undefined outside of a repository. */
export async function readBranch(directory: string): Promise<string | undefined> {
  const gitDir = await gitDirOf(resolve(directory));
  const head = gitDir === undefined ? undefined : await smallText(join(gitDir, "HEAD"));
  if (head === undefined) return undefined;
  const name = REF.exec(head)?.[1] ?? COMMIT.exec(head)?.[1];
  return name === undefined || name.length > NAME_CHARS_MAX ? undefined : name;
}

async function gitDirOf(directory: string): Promise<string | undefined> {
  const place = join(directory, ".git");
  const info = await lstat(place).catch(() => undefined);
  if (info?.isDirectory() === true) return place;
  if (info?.isFile() === true) {
    // A further worktree, or a submodule: the file says where.
    const to = /^gitdir: (.+?)\s*$/.exec((await smallText(place)) ?? "")?.[1];
    return to === undefined ? undefined : resolve(directory, to);
  }
  const parent = dirname(directory);
  return parent === directory ? undefined : gitDirOf(parent);
}

/** Of a plain file alone, and a small one as git writes it: a pipe under that name would be waited for. */
async function smallText(path: string): Promise<string | undefined> {
  const info = await lstat(path).catch(() => undefined);
  if (info?.isFile() !== true || info.size > FILE_BYTES_MAX) return undefined;
  return readFile(path, "utf8").catch(() => undefined);
}
