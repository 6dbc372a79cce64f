/** Who can get at the hub's files: directories 0700, files 0600, all of this user (contract §1). */
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import type { DoctorContext } from "../context.ts";
import { type Check, type Finding, fail, ok, warn } from "../finding.ts";

type Found = Omit<Finding, "id">;

const octal = (mode: number): string => (mode & 0o777).toString(8).padStart(4, "0");

export const permissions: Check<DoctorContext> = {
  id: "permissions",
  async run({ paths }) {
    const dirs = [...new Set([paths.dataDir, paths.runDir, paths.keysDir, paths.logDir])];
    const files = [
      paths.configFile,
      ...(await filesIn(paths.dataDir, /^hub\.db/)),
      ...(await filesIn(paths.keysDir, /./)),
      ...(await filesIn(paths.runDir, /./)),
      ...(await filesIn(paths.logDir, /\.log/)),
    ];
    const found = [
      ...(await Promise.all(dirs.map((dir) => look(dir, true)))),
      ...(await Promise.all(files.map((file) => look(file, false)))),
    ].flat();
    return found.length > 0 ? found : [ok("only you can read the hub's files")];
  },
};

async function filesIn(dir: string, name: RegExp): Promise<string[]> {
  const entries = await readdir(dir, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => !entry.isDirectory() && name.test(entry.name)).map((entry) => join(dir, entry.name));
}

async function look(path: string, isDir: boolean): Promise<Found[]> {
  const info = await lstat(path).catch(() => undefined);
  if (info === undefined || info.isSymbolicLink()) return [];
  if (process.getuid !== undefined && info.uid !== process.getuid())
    return [fail(`${path} belongs to another user`, `chown it to yourself, or use another --home`)];
  const open = info.mode & 0o077;
  if (open === 0) return [];
  const wanted = isDir ? "700" : "600";
  const text = `${path} is open to others (mode ${octal(info.mode)})`;
  // In a closed directory an open file is a blemish; an open directory, or a file others may write, is a hole.
  const isHole = isDir || (open & 0o022) !== 0 || info.isSocket();
  return [isHole ? fail(text, `chmod ${wanted} ${path}`) : warn(text, `chmod ${wanted} ${path}`)];
}
