/** `acp-hub logs`: what hub, bridges and service wrote down, in one order; `-f` goes on. */
import { once } from "node:events";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readArgs, readNumber } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";
import { homePaths } from "./home.ts";
import { formatLine, type LogLine } from "./logs/format-line.ts";
import { TailFile } from "./logs/tail-file.ts";

const USAGE = "acp-hub logs [-f|--follow] [-n|--lines N] [--json] [--home DIR]";
const OPTIONS = {
  follow: { type: "boolean", short: "f" },
  lines: { type: "string", short: "n" },
  json: { type: "boolean" },
  home: { type: "string" },
} as const;

const LOOK_MS = 250;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, OPTIONS, USAGE, 0);
    const count = readNumber("-n", values.lines, 0, 100_000) ?? 50;
    const { logDir } = homePaths(values.home);
    const controller = new AbortController();
    const isFollowing = values.follow === true;
    if (isFollowing)
      for (const signal of ["SIGINT", "SIGTERM"]) void once(process, signal).then(() => controller.abort());
    const isJson = values.json === true;
    const print = (lines: readonly string[]): void =>
      void process.stdout.write(lines.map((line) => `${line}\n`).join(""));
    const isAnything = await showLogs({ logDir, count, isFollowing, isJson, print, signal: controller.signal });
    if (!isAnything) process.stderr.write(`Nothing is logged yet in ${logDir}\n`);
    return EXIT.ok;
  },
};

export interface ShowOptions {
  readonly logDir: string;
  /** Lines to begin with, of all files together. */
  readonly count: number;
  readonly isFollowing: boolean;
  /** Lines as they are in the files. */
  readonly isJson: boolean;
  print(lines: readonly string[]): void;
  readonly signal: AbortSignal;
}

/** Following, it resolves when the signal says so. False: there was nothing. */
export async function showLogs(options: ShowOptions): Promise<boolean> {
  const { count, isFollowing, print, signal } = options;
  const tails = new Map<string, TailFile>();
  try {
    await addNewFiles(tails, options.logDir);
    const first = (
      await Promise.all([...tails].map(async ([name, tail]) => linesOf(name, await tail.last(count), options)))
    ).flat();
    const shown = inOrder(first).slice(count === 0 ? first.length : -count);
    if (shown.length > 0) print(shown);
    while (isFollowing && !signal.aborted) {
      await pause(LOOK_MS, signal);
      await addNewFiles(tails, options.logDir);
      const more = await Promise.all([...tails].map(async ([name, tail]) => linesOf(name, await tail.poll(), options)));
      const lines = inOrder(more.flat());
      if (lines.length > 0) print(lines);
    }
    return first.length > 0 || isFollowing;
  } finally {
    await Promise.all([...tails.values()].map((tail) => tail.close()));
  }
}

/** `hub.log.1` and older are rotated ones: their lines were shown. */
async function addNewFiles(tails: Map<string, TailFile>, logDir: string): Promise<void> {
  const names = await readdir(logDir).catch(() => []);
  for (const name of names) {
    const source = /^([\w-]+)\.log$/.exec(name)?.[1];
    if (source !== undefined && !tails.has(source)) tails.set(source, new TailFile(join(logDir, name)));
  }
}

function linesOf(source: string, lines: readonly string[], { isJson }: ShowOptions): LogLine[] {
  return lines.map((line) => {
    const formatted = formatLine(source, line);
    return isJson ? { ...formatted, text: line } : formatted;
  });
}

/** By time; a line without one stays behind the one before it. */
function inOrder(lines: readonly LogLine[]): string[] {
  let last = 0;
  const timed = lines.map(({ time, text }) => {
    last = time ?? last;
    return { at: last, text };
  });
  return timed.sort((a, b) => a.at - b.at).map(({ text }) => text);
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(done, ms);
    signal.addEventListener("abort", done, { once: true });
    function done(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
  });
}
