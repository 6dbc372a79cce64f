/** Which names of a workspace nobody looks for: what git is told to ignore, and a few that are never sources. */
import ignore, { type Ignore } from "ignore";
import { openInside } from "../../bridge/host/open-inside.ts";

/** Kept by tools for themselves. */
const NEVER: ReadonlySet<string> = new Set([".git", ".hg", ".svn", ".jj", "node_modules", ".DS_Store"]);

const GITIGNORE_BYTES_MAX = 262_144;

/**
 * Patterns become regular expressions, and a workspace is not to be trusted with the hub's time: those that could take long are
 * left out. Then more is found, never less.
 */
const PATTERNS_MAX = 500;
const PATTERN_CHARS_MAX = 128;
const STARS_MAX = 2;

/** The `.gitignore` of one directory. */
interface Rules {
  /** Names are judged relative to it: "" for the root, else ending in "/". */
  readonly base: string;
  readonly ignore: Ignore;
}

/** Those of a directory and of all above it, outermost first. */
export type IgnoreRules = readonly Rules[];

/** `above` with the `.gitignore` of the directory itself. `base` is its name below the root. */
export async function withGitignore(
  above: IgnoreRules,
  base: string,
  file: string,
  roots: readonly string[],
): Promise<IgnoreRules> {
  const text = await readSmall(file, roots);
  return text === undefined
    ? above
    : [...above, { base, ignore: ignore({ allowRelativePaths: true, ignoreCase: false }).add(swiftPatterns(text)) }];
}

/** `path` is relative to the root, with "/" between its parts. The innermost rule that knows a name decides, as in git. */
export function isIgnored(rules: IgnoreRules, path: string, name: string, isDirectory: boolean): boolean {
  if (NEVER.has(name)) return true;
  for (const { base, ignore: judge } of rules.toReversed()) {
    const { ignored, unignored } = judge.test(path.slice(base.length) + (isDirectory ? "/" : ""));
    if (ignored || unignored) return ignored;
  }
  return false;
}

export function swiftPatterns(text: string): string[] {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return lines.filter(isSwift).slice(0, PATTERNS_MAX);
}

function isSwift(pattern: string): boolean {
  if (pattern.length > PATTERN_CHARS_MAX) return false;
  const segments = pattern.split("/");
  const stars = segments.map((segment) => (segment === "**" ? 0 : segment.split("*").length - 1));
  const anyDepth = segments.filter((segment) => segment === "**").length;
  return anyDepth <= STARS_MAX && stars.every((count) => count <= STARS_MAX);
}

/** Undefined for one that is not there, too big, or not ours to read. */
async function readSmall(file: string, roots: readonly string[]): Promise<string | undefined> {
  const opened = await openInside(file, roots, "file").catch(() => undefined);
  if (opened === undefined) return undefined;
  try {
    return opened.stats.size > GITIGNORE_BYTES_MAX ? undefined : await opened.handle.readFile("utf8");
  } catch {
    return undefined;
  } finally {
    await opened.handle.close();
  }
}
