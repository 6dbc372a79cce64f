/** What may go on where the caret stands: commands after "/", files after "@". The text field keeps the focus and the keys. */
import { type ReactElement, type ReactNode, useEffect, useRef } from "react";

export interface Suggestion {
  readonly key: string;
  readonly content: ReactNode;
  readonly choose: () => void;
}

export interface SuggestionMenuProps {
  readonly id: string;
  readonly label: string;
  readonly suggestions: readonly Suggestion[];
  readonly selected: number;
  /** A line below the list: what is not in it. */
  readonly note?: string | undefined;
}

export function SuggestionMenu({ id, label, suggestions, selected, note }: SuggestionMenuProps): ReactElement {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.children[selected]?.scrollIntoView({ block: "nearest" });
  }, [selected]);
  return (
    <div className="suggestions">
      <div role="listbox" id={id} ref={list} aria-label={label}>
        {suggestions.map((suggestion, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the text field keeps the focus and names the active option
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are handled by the text field
          <div
            key={suggestion.key}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === selected}
            onPointerDown={(event) => event.preventDefault()}
            onClick={suggestion.choose}
          >
            {suggestion.content}
          </div>
        ))}
      </div>
      {note !== undefined && (
        <p className="suggestions-note muted" role="status">
          {note}
        </p>
      )}
    </div>
  );
}
