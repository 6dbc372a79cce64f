/** `acp-hub completions`: a script for the shell, made from the command table. */
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import type { Entry } from "./commands.ts";
import { completionScript, SHELLS } from "./completions/shells.ts";
import { wordsOf } from "./completions/words.ts";
import { EXIT, UsageError } from "./exit.ts";

const USAGE = "acp-hub completions bash|zsh|fish";

/** `table`: every command, this one included. */
export const completionsOf = (table: ReadonlyMap<string, Entry>): Command => ({
  usage: USAGE,
  async run(argv) {
    const { positionals } = readArgs(argv, {} as const, USAGE, 1);
    const shell = SHELLS.find((each) => each === positionals[0]);
    if (shell === undefined) throw new UsageError(`Name the shell\nUsage: ${USAGE}`);
    const words = await Promise.all(
      [...table].map(async ([name, entry]) => wordsOf(name, entry.summary, (await entry.load()).command.usage)),
    );
    process.stdout.write(completionScript(shell, words));
    return EXIT.ok;
  },
});
