/** The field itself, with what it suggests: commands of the agent after "/", files of the workspace after "@". */
import { type ClipboardEvent, type KeyboardEvent, type ReactElement, type RefObject, useId, useState } from "react";
import { Icon } from "../ui/icon.tsx";
import { baseName } from "../ui/path.ts";
import { matchingCommands } from "./commands.ts";
import type { ComposerOffers } from "./composer.tsx";
import type { Draft } from "./drafts.ts";
import { type Mention, mentionAt, withMention } from "./mentions.ts";
import { type Suggestion, SuggestionMenu } from "./suggestion-menu.tsx";
import type { Caret } from "./use-caret.ts";
import { useFileSearch } from "./use-file-search.ts";

export interface TextFieldProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly caret: Caret;
  readonly draft: Draft;
  readonly offers: ComposerOffers;
  /** True while what stands there is on its way. */
  readonly isFixed: boolean;
  readonly onDraft: (draft: Draft) => void;
  readonly onSend: () => void;
  readonly onFiles: ((files: Iterable<File>) => void) | undefined;
}

export function TextField({
  field,
  caret,
  draft,
  offers,
  isFixed,
  onDraft,
  onSend,
  onFiles,
}: TextFieldProps): ReactElement {
  const menuId = useId();
  const [selected, setSelected] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const write = (next: Draft, at: number): void => {
    caret.moveTo(at);
    setSelected(0);
    onDraft(next);
    field.current?.focus();
  };
  const offered = useSuggestions(draft, caret.at, offers, write);
  const { label, note } = offered;
  const suggestions = isClosed ? [] : offered.suggestions;
  const chosen = Math.min(selected, suggestions.length - 1);
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const suggestion = suggestions[chosen];
    if (suggestion !== undefined && handleMenuKey(event, chosen, suggestions.length, setSelected)) return;
    if (suggestion !== undefined && (event.key === "Tab" || event.key === "Enter")) {
      event.preventDefault();
      suggestion.choose();
    } else if (suggestion !== undefined && event.key === "Escape") {
      event.stopPropagation();
      setClosed(true);
    } else if (event.key === "Enter" && !event.shiftKey && !isTouch()) {
      event.preventDefault();
      onSend();
    }
  };
  const onPaste = (event: ClipboardEvent): void => {
    if (onFiles !== undefined && event.clipboardData.files.length > 0) onFiles(event.clipboardData.files);
  };
  const isOpen = suggestions.length > 0;
  return (
    <>
      {(isOpen || (note !== undefined && !isClosed)) && (
        <SuggestionMenu id={menuId} label={label} suggestions={suggestions} selected={chosen} note={note} />
      )}
      <textarea
        ref={field}
        rows={1}
        value={draft.text}
        readOnly={isFixed}
        aria-label="Message to the agent"
        placeholder="Message"
        enterKeyHint={isTouch() ? "enter" : "send"}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={isOpen ? menuId : undefined}
        aria-activedescendant={isOpen ? `${menuId}-${chosen}` : undefined}
        onChange={(event) => {
          caret.read();
          onDraft({ ...draft, text: event.target.value });
          setSelected(0);
          setClosed(false);
        }}
        onSelect={caret.read}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </>
  );
}

interface Suggestions {
  readonly label: string;
  readonly suggestions: readonly Suggestion[];
  readonly note: string | undefined;
}

function useSuggestions(
  draft: Draft,
  caret: number,
  offers: ComposerOffers,
  write: (draft: Draft, caret: number) => void,
): Suggestions {
  const { sessionId, filesOf } = offers;
  const open = filesOf === undefined ? undefined : mentionAt(draft.text, caret);
  const { matches, error } = useFileSearch(filesOf, sessionId, open?.query);
  if (open !== undefined) {
    const choose = (mention: Mention): void => {
      const next = withMention(draft.text, open, mention);
      const others = draft.mentions.filter((other) => other.path !== mention.path);
      write({ ...draft, text: next.text, mentions: [...others, mention] }, next.caret);
    };
    const suggestions = (matches?.files ?? []).map((file) => ({
      key: file.uri,
      content: <FileLine mention={file} />,
      choose: () => choose(file),
    }));
    return { label: "Files", suggestions, note: noteOf(matches, error) };
  }
  const suggestions = matchingCommands(draft.text, offers.commands).map((command) => ({
    key: command.name,
    content: (
      <span>
        <strong>/{command.name}</strong> <span className="muted">{command.description}</span>
      </span>
    ),
    choose: () => write({ ...draft, text: `/${command.name} ` }, command.name.length + 2),
  }));
  return { label: "Commands", suggestions, note: undefined };
}

function noteOf(matches: ReturnType<typeof useFileSearch>["matches"], error: string | undefined): string | undefined {
  if (error !== undefined) return error;
  if (matches?.isTruncated === true) return "A big workspace: not all of it was searched.";
  return matches?.files.length === 0 ? "No such file" : undefined;
}

function FileLine({ mention }: { readonly mention: Mention }): ReactElement {
  const folder = mention.path.slice(0, -baseName(mention.path).length).replace(/\/$/, "");
  return (
    <span className="file-line">
      <Icon name="file" small />
      <strong className="truncate">{mention.name}</strong>
      {folder !== "" && (
        <span className="muted truncate folder">
          <bdi>{folder}</bdi>
        </span>
      )}
    </span>
  );
}

function handleMenuKey(event: KeyboardEvent, chosen: number, count: number, select: (index: number) => void): boolean {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return false;
  event.preventDefault();
  select((chosen + step + count) % count);
  return true;
}

/** On a touch keyboard Enter makes a line; there is a button to send. */
const coarse = window.matchMedia("(pointer: coarse)");
const isTouch = (): boolean => coarse.matches;
