/** The agent's own commands, while the text is the beginning of one. Pure. */
import { type JsonObject, stringAt } from "../../protocol/json.ts";

export interface Command {
  readonly name: string;
  readonly description: string;
}

/** Commands whose name holds the text, those it begins first; none unless the text is "/" and a word. */
export function matchingCommands(text: string, commands: readonly JsonObject[]): readonly Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands
    .map((command) => ({ name: stringAt(command, "name") ?? "", description: stringAt(command, "description") ?? "" }))
    .filter((command) => command.name.toLowerCase().includes(typed))
    .sort((a, b) => Number(b.name.startsWith(typed)) - Number(a.name.startsWith(typed)));
}
