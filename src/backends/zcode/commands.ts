/** Slash commands: ours, the backend's, and text that only looks like one. */
import { type JsonObject, stringAt } from "../../protocol/json.ts";

export interface SlashCommand {
  readonly name: string;
  readonly rest: string;
}

/** Handled by the bridge, never sent as a prompt. */
export const OWN_COMMANDS: Readonly<Record<string, { readonly description: string; readonly hint?: string }>> = {
  compact: { description: "Summarise the conversation to free context", hint: "what to keep" },
  goal: { description: "Show or change the session's goal", hint: "show | set <objective> | pause | resume | clear" },
  fork: { description: "Branch a new session from the latest checkpoint" },
  model: { description: "Switch the model", hint: "model id" },
  mode: { description: "Switch the mode", hint: "plan | build | edit | yolo | auto" },
  thought: { description: "Switch the thinking level", hint: "level" },
  steer: { description: "Add an instruction to the running turn", hint: "instruction" },
};

/** Reads `/name rest`; undefined for other text. */
export function parseSlash(text: string): SlashCommand | undefined {
  const found = /^\/([\w:.-]+)(?:\s+([\s\S]*))?$/.exec(text.trim());
  return found === null ? undefined : { name: found[1] ?? "", rest: (found[2] ?? "").trim() };
}

/** The command of ours a prompt is, if it is one. */
export function ownCommand(text: string): SlashCommand | undefined {
  const slash = parseSlash(text);
  return slash !== undefined && Object.hasOwn(OWN_COMMANDS, slash.name) ? slash : undefined;
}

/**
 * The text as it can be sent. The backend takes anything that starts with a slash for a command, and an unknown one can
 * fail the turn (`/Users/me/file is wrong`), so it gets a zero-width space in front.
 */
export function neutralised(text: string, backendCommands: readonly JsonObject[]): string {
  if (!/^\s*\//.test(text)) return text;
  const name = /^\s*\/([\w:.-]+)(?=\s|$)/.exec(text)?.[1];
  const isKnown =
    name !== undefined && (name === "init" || backendCommands.some((command) => stringAt(command, "name") === name));
  return isKnown ? text : `\u200b${text}`;
}

/** The list for `available_commands_update`. `without` names what this backend lacks. */
export function availableCommands(backendCommands: readonly JsonObject[], without: ReadonlySet<string>): JsonObject[] {
  const own = Object.entries(OWN_COMMANDS)
    .filter(([name]) => !without.has(name))
    .map(([name, { description, hint }]) => ({
      name,
      description,
      ...(hint === undefined ? {} : { input: { hint } }),
    }));
  const names = new Set(own.map((command) => command.name));
  const theirs = backendCommands.flatMap((command) => {
    const name = stringAt(command, "name");
    if (name === undefined || names.has(name)) return [];
    const hint = stringAt(command, "argumentHint");
    return [
      {
        name,
        description: stringAt(command, "description") ?? name,
        ...(hint === undefined ? {} : { input: { hint } }),
      },
    ];
  });
  const init =
    names.has("init") || theirs.some((command) => command.name === "init")
      ? []
      : [{ name: "init", description: "Write a guide to this project for the agent" }];
  return [...own, ...init, ...theirs];
}
