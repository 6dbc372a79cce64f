/** `acp-hub deny`: refuses a permission this once, or declines a form. */
import { resolvePaths } from "../config/paths.ts";
import { answerInteraction } from "./answer.ts";
import { choosePermission } from "./approve.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./exit.ts";
import { findInteraction, isPermission, openInteractions } from "./open-interactions.ts";

const USAGE = "acp-hub deny <interaction> [--option ID] [--json] [--home DIR]";
const OPTIONS = { option: { type: "string" }, json: { type: "boolean" }, home: { type: "string" } } as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE);
    const [id, extra] = positionals;
    if (id === undefined || extra !== undefined)
      throw new UsageError(`Name one interaction (acp-hub interactions shows them)\nUsage: ${USAGE}`);
    const paths = resolvePaths(values.home ?? process.env["ACP_HUB_HOME"]);
    const interaction = findInteraction(await openInteractions(paths), id);
    const choice = isPermission(interaction)
      ? choosePermission(interaction, values.option, "reject_once")
      : { answer: { action: "decline" }, words: "declined" };
    return answerInteraction(paths, interaction, choice, values.json === true);
  },
};
