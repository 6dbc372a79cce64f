/** Which program is ZCode: an explicit path, the command on PATH, or the script inside the desktop app. */
import { join } from "node:path";

export interface ExecutableLookup {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  isFile(path: string): boolean;
  /** The absolute path of a command on PATH, or undefined. */
  onPath(command: string): string | undefined;
}

const TAIL = ["resources", "glm", "zcode.cjs"];

/** Where the desktop app keeps its script, most likely first. */
export function bundleLocations(lookup: Pick<ExecutableLookup, "env" | "platform" | "home">): string[] {
  if (lookup.platform === "darwin") {
    const inside = join("ZCode.app", "Contents", "Resources", "glm", "zcode.cjs");
    return [join("/Applications", inside), join(lookup.home, "Applications", inside)];
  }
  if (lookup.platform === "win32") {
    const local = lookup.env["LOCALAPPDATA"];
    return local === undefined ? [] : [join(local, "Programs", "ZCode", ...TAIL)];
  }
  return [join("/opt/ZCode", ...TAIL), join("/usr/share/zcode", ...TAIL)];
}

/**
 * `ZCODE_BIN`, then `zcode` on PATH, then the app's script, then the bare name, whose spawn fails with ENOENT and
 * becomes the error the caller reads.
 */
export function resolveExecutable(lookup: ExecutableLookup): string {
  const explicit = lookup.env["ZCODE_BIN"];
  if (explicit !== undefined && explicit !== "") return explicit;
  const found = lookup.onPath("zcode");
  if (found !== undefined) return found;
  return bundleLocations(lookup).find((path) => lookup.isFile(path)) ?? "zcode";
}

/** True for a script that needs a Node of our choosing in front of it. */
export const isScript = (path: string): boolean => /\.(cjs|mjs|js)$/i.test(path);
