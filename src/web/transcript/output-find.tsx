/** The line in which an output is searched. */
import { type KeyboardEvent, type ReactElement, useId } from "react";
import { IconButton } from "../ui/icon-button.tsx";
import { MATCHES_MAX } from "./find-text.ts";
import type { Find } from "./use-find.ts";

export interface OutputFindProps {
  readonly find: Find;
  readonly onClose: () => void;
}

export function OutputFind({ find, onClose }: OutputFindProps): ReactElement {
  const countId = useId();
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") find.step(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") onClose();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const hasNone = find.matches.length === 0;
  return (
    <search className="output-find">
      <input
        type="text"
        inputMode="search"
        enterKeyHint="search"
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        // biome-ignore lint/a11y/noAutofocus: it is opened to be typed in
        autoFocus
        value={find.query}
        aria-label="Find in output"
        aria-describedby={countId}
        placeholder="Find"
        onChange={(event) => find.look(event.target.value)}
        onFocus={(event) => event.target.select()}
        onKeyDown={onKeyDown}
      />
      <span id={countId} className="find-count" role="status">
        {countText(find)}
      </span>
      <IconButton icon="arrowUp" label="Previous match" disabled={hasNone} onClick={() => find.step(-1)} />
      <IconButton icon="arrowDown" label="Next match" disabled={hasNone} onClick={() => find.step(1)} />
      <IconButton icon="close" label="Close find" onClick={onClose} />
    </search>
  );
}

function countText({ query, matches, current, length }: Find): string {
  if (query === "" || length === 0) return "";
  if (matches.length === 0) return "No match";
  return `${current + 1} of ${matches.length}${matches.length === MATCHES_MAX ? "+" : ""}`;
}
