/** Who listens on a port of this computer, for the error that says so. Linux only; elsewhere nobody is named. */
import { readdir, readFile, readlink } from "node:fs/promises";

async function socketInodes(port: number): Promise<Set<string>> {
  const inodes = new Set<string>();
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  for (const file of ["/proc/net/tcp", "/proc/net/tcp6"]) {
    const text = await readFile(file, "utf8").catch(() => "");
    for (const line of text.split("\n").slice(1)) {
      const fields = line.trim().split(/\s+/);
      // State 0A is LISTEN.
      if (fields[1]?.endsWith(`:${hex}`) === true && fields[3] === "0A" && fields[9] !== undefined)
        inodes.add(fields[9]);
    }
  }
  return inodes;
}

async function holds(pid: string, inodes: ReadonlySet<string>): Promise<boolean> {
  const fds = await readdir(`/proc/${pid}/fd`).catch(() => []);
  for (const fd of fds) {
    const target = await readlink(`/proc/${pid}/fd/${fd}`).catch(() => "");
    const inode = /^socket:\[(\d+)\]$/.exec(target)?.[1];
    if (inode !== undefined && inodes.has(inode)) return true;
  }
  return false;
}

/** `name (pid n)`, or undefined when it cannot be told. */
export async function whoHolds(port: number): Promise<string | undefined> {
  const inodes = await socketInodes(port);
  if (inodes.size === 0) return undefined;
  const pids = (await readdir("/proc").catch(() => [])).filter((name) => /^\d+$/.test(name));
  for (const pid of pids) {
    if (!(await holds(pid, inodes))) continue;
    const name = await readFile(`/proc/${pid}/comm`, "utf8").catch(() => "a process");
    return `${name.trim()} (pid ${pid})`;
  }
  return undefined;
}
