/** The commands of ours that the documentation and the recipes show. */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Everything people read, and everything in `deploy/`, whose comments show commands too: path → text. */
export async function texts(): Promise<Map<string, string>> {
  const roots = (await readdir(".")).filter((name) => name.endsWith(".md"));
  const below = async (dir: string): Promise<string[]> =>
    (await readdir(dir, { recursive: true })).map((name) => join(dir, name));
  const files = [...roots, ...(await below("docs")).filter((name) => name.endsWith(".md")), ...(await below("deploy"))];
  return new Map(await Promise.all(files.map(async (file) => [file, await readFile(file, "utf8")] as const)));
}

export interface Shown {
  readonly file: string;
  readonly text: string;
  /** After `acp-hub`, up to `--`: what stands there is an agent's. */
  readonly words: readonly string[];
  /** After `--`, as shown. */
  readonly agent?: string;
}

const BLOCK = /^ *```(\w*)\n([\s\S]*?)^ *```$/gm;
const SHELLS = ["", "sh", "bash", "console"];

/** `acp-hub …` as code: in backticks, or in a code block of the shell. */
export function commandsIn(file: string, text: string): Shown[] {
  const blocks = [...text.matchAll(BLOCK)].flatMap(([, kind = "", body = ""]) => (SHELLS.includes(kind) ? [body] : []));
  const spans = [...text.replaceAll(BLOCK, "").matchAll(/`([^`]+)`/g)].map((match) => match[1] ?? "");
  const lines = [...blocks.flatMap((block) => block.split("\n")), ...spans, ...commentLines(file, text)];
  return lines.flatMap((line) =>
    [...line.matchAll(/(?<![\w/.-])acp-hub ([a-z][^#;)|&`]*)/g)].map((match) => {
      const [before = "", agent] = (match[1] ?? "").split(" -- ");
      const words = before
        .replace(/ {3,}\(.*$/, "")
        .trim()
        .split(/\s+/);
      return { file, text: match[0].trim(), words, ...(agent !== undefined && { agent: agent.trim() }) };
    }),
  );
}

/** In recipes the commands stand in comments, alone after two spaces or in backticks. */
const commentLines = (file: string, text: string): string[] =>
  file.startsWith("deploy/") ? [...text.matchAll(/^# {3}(acp-hub .*)$/gm)].map((match) => match[1] ?? "") : [];

export const shown = async (): Promise<Shown[]> =>
  [...(await texts())].flatMap(([file, text]) => commandsIn(file, text));
