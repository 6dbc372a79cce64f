/** `acp-hub approve`: answers a permission or a form. Without `--option` it allows once, never for ever. */
import type { OpenInteraction } from "../protocol/hub-methods.ts";
import { isObject, type JsonObject } from "../protocol/json.ts";
import { type AnswerChoice, answerInteraction } from "./answer.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./exit.ts";
import { homePaths } from "./home.ts";
import {
  findInteraction,
  interactionNamed,
  isPermission,
  openInteractions,
  optionsOf,
  type PermissionOption,
} from "./open-interactions.ts";

const USAGE = "acp-hub approve <interaction> [--option ID] [--content JSON] [--json] [--home DIR]";
const OPTIONS = {
  option: { type: "string" },
  content: { type: "string" },
  json: { type: "boolean" },
  home: { type: "string" },
} as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, 1);
    const id = interactionNamed(positionals, USAGE);
    const paths = homePaths(values.home);
    const content = readContent(values.content);
    const interaction = findInteraction(await openInteractions(paths), id);
    const choice = isPermission(interaction)
      ? choosePermission(interaction, values.option, "allow_once")
      : { answer: { action: "accept", ...(content !== undefined && { content }) }, words: "accepted" };
    return answerInteraction(paths, interaction, choice, values.json === true);
  },
};

function readContent(text: string | undefined): JsonObject | undefined {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // Said below, without the parser's words: they quote what was typed.
  }
  throw new UsageError("--content takes a JSON object with the fields of the form");
}

/** The option named by id or name, else the one of `kind`. */
export function choosePermission(
  interaction: OpenInteraction,
  wanted: string | undefined,
  kind: "allow_once" | "reject_once",
): AnswerChoice {
  const options = optionsOf(interaction);
  const found = options.find((option) =>
    wanted === undefined ? option.kind === kind : option.optionId === wanted || option.name === wanted,
  );
  if (found === undefined) {
    const known = options.map((option) => `${option.optionId} (${option.kind})`).join(", ");
    const why = wanted === undefined ? `It offers no ${kind}` : `It has no option "${wanted}"`;
    throw new UsageError(`${why}: choose with --option one of ${known}`);
  }
  return { answer: { optionId: found.optionId }, words: wordsOf(found) };
}

const wordsOf = (option: PermissionOption): string =>
  `${option.kind.startsWith("reject") ? "denied" : "allowed"} (${option.name})`;
