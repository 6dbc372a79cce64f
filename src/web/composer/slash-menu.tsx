/** The agent's own commands, while the text is the beginning of one. */
import { type ReactElement, useEffect, useRef } from "react";
import { type JsonObject, stringAt } from "../../protocol/json.ts";

export interface Command {
  readonly name: string;
  readonly description: string;
}

/** Commands whose name begins like the text; none unless the text is "/" and a word. */
export function matchingCommands(text: string, commands: readonly JsonObject[]): readonly Command[] {
  const typed = /^\/(\S*)$/.exec(text)?.[1]?.toLowerCase();
  if (typed === undefined) return [];
  return commands
    .map((command) => ({ name: stringAt(command, "name") ?? "", description: stringAt(command, "description") ?? "" }))
    .filter((command) => command.name.toLowerCase().includes(typed))
    .sort((a, b) => Number(b.name.startsWith(typed)) - Number(a.name.startsWith(typed)));
}

export interface SlashMenuProps {
  readonly id: string;
  readonly commands: readonly Command[];
  readonly selected: number;
  readonly onChoose: (command: Command) => void;
}

export function SlashMenu({ id, commands, selected, onChoose }: SlashMenuProps): ReactElement {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[selected]?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return (
    <div className="slash-menu" role="listbox" id={id} ref={list} aria-label="Commands">
      {commands.map((command, index) => (
        // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus and names the active option
        // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the text field
        <div
          key={command.name}
          id={`${id}-${index}`}
          role="option"
          aria-selected={index === selected}
          onPointerDown={(event) => event.preventDefault()}
          onClick={() => onChoose(command)}
        >
          <strong>/{command.name}</strong> <span className="muted">{command.description}</span>
        </div>
      ))}
    </div>
  );
}
