/** What can be completed, read out of each command's own usage: the table and the help are the only truth. */

export interface CommandWords {
  readonly name: string;
  readonly summary: string;
  /** First words after the command, such as `install` of `service`. */
  readonly verbs: readonly string[];
  /** `--json`, `-f`. */
  readonly options: readonly string[];
  /** Option → its values, where usage lists them. */
  readonly values: ReadonlyMap<string, readonly string[]>;
}

const unique = (words: readonly string[]): string[] => [...new Set(words)];
const ALTERNATIVES = /^[a-z][a-z0-9-]*(?:\|[a-z][a-z0-9-]*)+$/;

export function wordsOf(name: string, summary: string, usage: string): CommandWords {
  const values = new Map<string, readonly string[]>();
  for (const [, option = "", list = ""] of usage.matchAll(/(--[a-z][a-z-]*) ([a-z][a-z0-9-]*(?:\|[a-z0-9-]+)+)/g))
    values.set(option, list.split("|"));
  const options = unique(
    [...usage.matchAll(/(?<![\w-])(--[a-z][a-z-]*|-[a-z])(?![\w-])/g)].map((match) => match[1] ?? ""),
  );
  return { name, summary, verbs: unique(verbsOf(name, usage)), options: unique([...options, "--help"]), values };
}

function verbsOf(name: string, usage: string): string[] {
  return usage.split("\n").flatMap((line) => {
    const after = line.trim().split(/\s+/);
    const at = after.indexOf(name);
    const first = (after[0] === "acp-hub" && at === 1 ? after[2] : undefined)?.replace(/^\[|\]$/g, "") ?? "";
    if (ALTERNATIVES.test(first)) return first.split("|");
    return /^[a-z][a-z-]*$/.test(first) && first !== "options" ? [first] : [];
  });
}
