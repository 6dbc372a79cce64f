/** `acp-hub interactions`: what agents wait for, oldest first. */
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT } from "./exit.ts";
import { homePaths } from "./home.ts";
import { describeInteraction, openInteractions } from "./open-interactions.ts";

const USAGE = "acp-hub interactions [--json] [--home DIR]";

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, { json: { type: "boolean" }, home: { type: "string" } } as const, USAGE, 0);
    const open = await openInteractions(homePaths(values.home));
    if (values.json === true) process.stdout.write(`${JSON.stringify(open, null, 2)}\n`);
    else if (open.length > 0) process.stdout.write(`${open.map(describeInteraction).join("\n")}\n`);
    else process.stderr.write("No agent waits for an answer.\n");
    return EXIT.ok;
  },
};
