/** ZCode's script opens `node:sqlite`, so it needs a Node that has it (22 and newer). Found by trying, not by version. */
import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const PROBE = "new (require('node:sqlite').DatabaseSync)(':memory:').close()";
const PROBE_MS = 5_000;

/**
 * Off: Node's 250 ms address race kills model calls on slow networks; `ipv4first` then keeps `localhost` providers
 * reachable. `ZCODE_KEEP_HAPPY_EYEBALLS=1` leaves both alone.
 */
export function nodeFlags(env: Readonly<Record<string, string | undefined>>): string[] {
  if (env["ZCODE_KEEP_HAPPY_EYEBALLS"] === "1") return [];
  return ["--no-network-family-autoselection", "--dns-result-order=ipv4first"];
}

function zedNodes(home: string): string[] {
  const roots = [join(home, "Library/Application Support/Zed/node"), join(home, ".local/share/zed/node")];
  return roots.flatMap((root) => {
    try {
      return readdirSync(root).map((version) => join(root, version, "bin", "node"));
    } catch {
      return [];
    }
  });
}

/** Candidates in the order they are tried. */
export function nodeCandidates(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
  onPath: (command: string) => string | undefined,
): string[] {
  const list = [
    env["ZCODE_NODE"],
    process.execPath,
    "/opt/homebrew/bin/node",
    "/usr/local/bin/node",
    onPath("node"),
    ...zedNodes(home),
  ];
  return [...new Set(list.filter((path): path is string => path !== undefined && path !== ""))];
}

/** True when this Node opens an in-memory database within five seconds. */
export function hasSqlite(node: string): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(node, ["--no-warnings", "-e", PROBE], { timeout: PROBE_MS }, (error) => resolve(error === null));
  });
}

/** The first candidate that passes, or undefined. */
export async function chooseNode(
  candidates: readonly string[],
  passes: (node: string) => Promise<boolean> = hasSqlite,
): Promise<string | undefined> {
  for (const candidate of candidates) if (await passes(candidate)) return candidate;
  return undefined;
}
