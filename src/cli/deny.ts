/** `acp-hub deny`: refuses a permission this once, or declines a form. */
import { answerInteraction } from "./answer.ts";
import { choosePermission } from "./approve.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { homePaths } from "./home.ts";
import { findInteraction, interactionNamed, isPermission, openInteractions } from "./open-interactions.ts";

const USAGE = "acp-hub deny <interaction> [--option ID] [--json] [--home DIR]";
const OPTIONS = { option: { type: "string" }, json: { type: "boolean" }, home: { type: "string" } } as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, 1);
    const id = interactionNamed(positionals, USAGE);
    const paths = homePaths(values.home);
    const interaction = findInteraction(await openInteractions(paths), id);
    const choice = isPermission(interaction)
      ? choosePermission(interaction, values.option, "reject_once")
      : { answer: { action: "decline" }, words: "declined" };
    return answerInteraction(paths, interaction, choice, values.json === true);
  },
};
