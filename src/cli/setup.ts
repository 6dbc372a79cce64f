/** `acp-hub setup`: puts the bridge into an editor's settings, or prints what to put there. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import { resolvePaths } from "../config/paths.ts";
import { ANY_WORDS, readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { namedHome } from "./home.ts";
import { type AgentEntry, agentEntry, type EntryInput } from "./setup/agent-entry.ts";
import { EDITORS, type Editor } from "./setup/editors.ts";
import { SettingsError } from "./setup/jsonc-insert.ts";
import { applyEntry, backupOf, type PatchTarget, recordFileOf, undoEntries } from "./setup/patch-file.ts";

const USAGE = `acp-hub setup ${[...EDITORS.keys()].join("|")} [--write] [--name N] [--file F] [--home DIR] <profile>
       acp-hub setup <editor> [options] -- <command> [args…]
       acp-hub setup <editor> --undo [--file F]`;

const OPTIONS = {
  write: { type: "boolean" },
  undo: { type: "boolean" },
  name: { type: "string" },
  file: { type: "string" },
  home: { type: "string" },
} as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const split = argv.indexOf("--");
    const { values, positionals } = readArgs(split < 0 ? argv : argv.slice(0, split), OPTIONS, USAGE, ANY_WORDS);
    const [id, profile, extra] = positionals;
    const editor = EDITORS.get(id ?? "");
    if (id === undefined || editor === undefined)
      throw new UsageError(`Name the editor: ${[...EDITORS.keys()].join(", ")}\nUsage: ${USAGE}`);
    if (extra !== undefined) throw new UsageError(`An agent's command stands after --\nUsage: ${USAGE}`);
    const named = namedHome(values.home);
    const home = named === undefined || named === "" ? undefined : resolve(named);
    const target = (): PatchTarget => targetOf(id, editor, values.file, recordFileOf(resolvePaths(home).dataDir, id));
    if (values.undo === true) return undo(editor, target());
    const after = split < 0 ? undefined : argv.slice(split + 1);
    const entry = entryOf(profile, after, home, values.name);
    if (values.write === true) return write(editor, target(), entry);
    process.stderr.write(`${editor.where}\n`);
    process.stdout.write(editor.snippet(entry));
    if (editor.settings !== undefined)
      process.stderr.write(`acp-hub setup ${id} --write … puts it there, --undo takes it back.\n`);
    return EXIT.ok;
  },
};

function entryOf(
  profile: string | undefined,
  after: readonly string[] | undefined,
  home: string | undefined,
  name: string | undefined,
): AgentEntry {
  const [first, ...rest] = after ?? [];
  if (first !== undefined && profile !== undefined)
    throw new UsageError(`Give a profile or a command, not both\nUsage: ${USAGE}`);
  const agent: EntryInput["agent"] | undefined =
    first !== undefined ? { command: [first, ...rest] } : profile !== undefined ? { profile } : undefined;
  if (agent === undefined) throw new UsageError(`Name the agent: a profile, or its command after --\nUsage: ${USAGE}`);
  return agentEntry({ node: process.execPath, script: resolve(process.argv[1] ?? ""), home, name, agent });
}

function targetOf(id: string, editor: Editor, file: string | undefined, recordFile: string): PatchTarget {
  const { settings } = editor;
  if (settings === undefined)
    throw new UsageError(
      `The settings of ${editor.title} are not written: acp-hub setup ${id} <agent> prints what to put there`,
    );
  const place = { platform: process.platform, home: process.env["HOME"] || homedir(), env: process.env };
  return { file: file === undefined ? settings.file(place) : resolve(file), member: settings.member, recordFile };
}

async function write(editor: Editor, target: PatchTarget, entry: AgentEntry): Promise<number> {
  const value = editor.settings?.value(entry) ?? null;
  try {
    const hasChanged = await applyEntry(target, entry.name, value);
    const words = hasChanged ? `"${entry.name}" is in ${target.file}` : `"${entry.name}" was in ${target.file} already`;
    process.stderr.write(`${words}\n`);
    if (hasChanged) process.stderr.write(before(target.file));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    throw new UsageError(
      `${target.file} was not touched: ${error.message}. Mend it, or paste what acp-hub setup prints`,
      {
        cause: error,
      },
    );
  }
}

/** A file that was not there has no backup. */
const before = (file: string): string =>
  existsSync(backupOf(file))
    ? `What was there before: ${backupOf(file)}; --undo takes it back.\n`
    : "There was no such file before; --undo takes it away again.\n";

async function undo(editor: Editor, target: PatchTarget): Promise<number> {
  const result = await undoEntries(target);
  const words = {
    restored: `${target.file} is as it was before`,
    removed: `${target.file} was changed since: only what acp-hub put there is gone`,
    nothing: `acp-hub put nothing into the settings of ${editor.title}`,
  };
  process.stderr.write(`${words[result]}\n`);
  return EXIT.ok;
}
