/** Where the hub keeps its files (contract §1). No reading or writing here but making directories; zod-free: bridges load it first. */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, statSync } from "node:fs";
import { homedir, platform } from "node:os";
import { join, resolve } from "node:path";

export interface Paths {
  readonly configFile: string;
  readonly dataDir: string;
  readonly database: string;
  readonly keysDir: string;
  readonly runDir: string;
  readonly linkSocket: string;
  readonly apiSocket: string;
  readonly hubInfo: string;
  readonly lockFile: string;
  readonly logDir: string;
}

/** Socket addresses hold about a hundred bytes; a longer path cannot be listened on. */
const SOCKET_PATH_MAX = 100;

function under(configDir: string, dataDir: string, runDir: string, logDir: string): Paths {
  const run = shortEnough(runDir);
  return {
    configFile: join(configDir, "config.json"),
    dataDir,
    database: join(dataDir, "hub.db"),
    keysDir: join(dataDir, "keys"),
    runDir: run,
    linkSocket: join(run, "link.sock"),
    apiSocket: join(run, "api.sock"),
    hubInfo: join(run, "hub.json"),
    lockFile: join(run, "hub.lock"),
    logDir,
  };
}

/**
 * A home too deep for a socket gets a short private directory, the same for everyone who names that home. Not `TMPDIR` and not
 * `XDG_RUNTIME_DIR`: editors, services and shells differ in them, and would look for each other in vain.
 */
function shortEnough(runDir: string): string {
  if (Buffer.byteLength(join(runDir, "link.sock")) <= SOCKET_PATH_MAX) return runDir;
  const name = createHash("sha256").update(runDir).digest("hex").slice(0, 16);
  return join("/tmp", `acp-hub-${process.getuid?.() ?? "user"}-${name}`);
}

/** `home`: everything under one directory (`--home`, `ACP_HUB_HOME`); otherwise the platform's own places. */
export function resolvePaths(home: string | undefined, env: NodeJS.ProcessEnv = process.env): Paths {
  if (home !== undefined && home !== "") {
    const root = resolve(home);
    return under(root, root, join(root, "run"), join(root, "logs"));
  }
  const user = homedir();
  if (platform() === "darwin") {
    const support = join(user, "Library", "Application Support", "acp-hub");
    return under(support, support, join(support, "run"), join(user, "Library", "Logs", "acp-hub"));
  }
  const configHome = env["XDG_CONFIG_HOME"] || join(user, ".config");
  const dataHome = env["XDG_DATA_HOME"] || join(user, ".local", "share");
  const stateHome = env["XDG_STATE_HOME"] || join(user, ".local", "state");
  const data = join(dataHome, "acp-hub");
  // Not XDG_RUNTIME_DIR: an editor started outside the login session has none, and would look for the hub elsewhere.
  return under(join(configHome, "acp-hub"), data, join(data, "run"), join(stateHome, "acp-hub", "logs"));
}

/** The bit of directories many users share, such as `/tmp`. */
const STICKY = 0o1000;

/**
 * Makes a directory that only this user can enter. One that is open to others is closed. One of another user is refused, and so
 * is a link another user laid there, and a directory that is shared by its nature: closing `/tmp` would break the machine.
 */
export function makePrivateDir(path: string, uid: number | undefined = process.getuid?.()): void {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const info = statSync(path);
  if (uid === undefined) return;
  if (info.uid !== uid || lstatSync(path).uid !== uid) throw new Error(`${path} belongs to another user`);
  if ((info.mode & STICKY) !== 0) throw new Error(`${path} is shared by all users: choose a directory of your own`);
  if ((info.mode & 0o077) !== 0) chmodSync(path, 0o700);
}
