/** Reads a Dockerfile as far as ours goes: instructions with their stage, continued lines joined. */

export interface Instruction {
  readonly name: string;
  readonly rest: string;
  /** Which FROM it is under, from 0. */
  readonly stage: number;
  readonly line: number;
}

export function parseDockerfile(text: string): Instruction[] {
  const instructions: Instruction[] = [];
  let stage = -1;
  let open: { text: string; line: number } | undefined;
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*(#.*)?$/.test(line)) continue;
    open = { text: `${open?.text ?? ""}${line.replace(/\\\s*$/, " ")}`, line: open?.line ?? index + 1 };
    if (/\\\s*$/.test(line)) continue;
    const [, name = "", rest = ""] = /^\s*([A-Za-z]+)\s+([\s\S]*)$/.exec(open.text) ?? [];
    if (name.toUpperCase() === "FROM") stage += 1;
    instructions.push({ name: name.toUpperCase(), rest: rest.trim(), stage, line: open.line });
    open = undefined;
  }
  return instructions;
}

export interface Copy {
  readonly from: string | undefined;
  readonly sources: readonly string[];
  readonly target: string;
}

export function readCopy({ rest }: Instruction): Copy {
  const words = rest.split(/\s+/);
  const from = words.find((word) => word.startsWith("--from="))?.slice("--from=".length);
  const paths = words.filter((word) => !word.startsWith("--"));
  return { from, sources: paths.slice(0, -1), target: paths.at(-1) ?? "" };
}

/** The exec form's words; undefined for the shell form, which would put a shell between the init and us. */
export function readExec({ rest }: Instruction): string[] | undefined {
  try {
    const value: unknown = JSON.parse(rest.replace(/^(?:--\S+\s+)*(?:CMD\s+)?/, ""));
    return Array.isArray(value) ? value.map(String) : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `.dockerignore` keeps a path out of the build. */
export function isIgnored(ignore: string, path: string): boolean {
  const rules = ignore.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
  return rules.some((rule) => {
    const pattern = rule.trim().replace(/\/$/, "");
    if (pattern.startsWith("*")) return path.endsWith(pattern.slice(1)) && !path.includes("/");
    return path === pattern || path.startsWith(`${pattern}/`);
  });
}
