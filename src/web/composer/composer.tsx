/** Where a person writes. Grows with the text, keeps the draft, and never loses a tap: send always leads somewhere. */
import {
  type ClipboardEvent,
  type KeyboardEvent,
  memo,
  type ReactElement,
  useEffect,
  useId,
  useRef,
  useState,
} from "react";
import type { SessionClient, Transcript } from "../../client/index.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { AgentOptions } from "./agent-options.tsx";
import { readDraft, writeDraft } from "./drafts.ts";
import { matchingCommands, SlashMenu } from "./slash-menu.tsx";
import { type Attachments, useAttachments } from "./use-attachments.ts";
import "./composer.css";

/** What the agent offers beside the text. The transcript is not among it: a stream leaves the composer alone. */
export interface ComposerOffers extends Pick<Transcript, "commands" | "modes" | "configOptions"> {
  readonly sessionId: string;
  readonly isLive: boolean;
}

export interface ComposerProps {
  readonly session: SessionClient;
  readonly offers: ComposerOffers;
  readonly isRunning: boolean;
  readonly takesImages: boolean;
  readonly canSetOptions: boolean;
  /** A text to continue with (an edited prompt); changes when another is handed over. */
  readonly handedText: { readonly text: string } | undefined;
}

export const Composer = memo(
  ({ session, offers, isRunning, takesImages, canSetOptions, handedText }: ComposerProps): ReactElement => {
    const { client } = useServices();
    const [text, setText] = useDraft(offers.sessionId, handedText);
    const attachments = useAttachments();
    const [error, setError] = useState<string>();
    const field = useRef<HTMLTextAreaElement>(null);
    const isEmpty = text.trim() === "" && attachments.images.length === 0;
    const send = (): void => {
      if (isEmpty) return;
      const blocks: JsonObject[] = [...attachments.images];
      if (text.trim() !== "") blocks.push({ type: "text", text });
      try {
        client.prompt(offers.sessionId, blocks);
      } catch (reason) {
        setError(reason instanceof Error ? reason.message : "That did not work");
        return;
      }
      setText("");
      setError(undefined);
      attachments.clear();
      field.current?.focus();
    };
    return (
      <div className="composer">
        {(error ?? attachments.error) !== undefined && (
          <p className="form-error" role="alert">
            <Icon name="alert" small /> {error ?? attachments.error}
          </p>
        )}
        <Previews attachments={attachments} />
        <div className="composer-box">
          <TextField
            field={field}
            text={text}
            offers={offers}
            onText={setText}
            onSend={send}
            onFiles={takesImages ? attachments.add : undefined}
          />
          <div className="composer-bar">
            {takesImages && <AttachButton onFiles={attachments.add} />}
            <AgentOptions session={session} offers={offers} isDisabled={!canSetOptions || !offers.isLive} />
            <span className="composer-actions">
              {isRunning && (
                <IconButton icon="stop" label="Stop the turn" tone="stop" onClick={() => session.cancel()} />
              )}
              <IconButton
                icon="send"
                label={isRunning ? "Add to the queue" : "Send"}
                tone="filled"
                disabled={isEmpty}
                onClick={send}
              />
            </span>
          </div>
        </div>
      </div>
    );
  },
);

interface TextFieldProps {
  readonly field: React.RefObject<HTMLTextAreaElement | null>;
  readonly text: string;
  readonly offers: ComposerOffers;
  readonly onText: (text: string) => void;
  readonly onSend: () => void;
  readonly onFiles: ((files: Iterable<File>) => void) | undefined;
}

function TextField({ field, text, offers, onText, onSend, onFiles }: TextFieldProps): ReactElement {
  const menuId = useId();
  const [selected, setSelected] = useState(0);
  const [isClosed, setClosed] = useState(false);
  const commands = isClosed ? [] : matchingCommands(text, offers.commands);
  const chosen = Math.min(selected, commands.length - 1);
  const choose = (name: string): void => {
    onText(`/${name} `);
    field.current?.focus();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const command = commands[chosen];
    if (command !== undefined && handleMenuKey(event, chosen, commands.length, setSelected)) return;
    if (command !== undefined && (event.key === "Tab" || event.key === "Enter")) {
      event.preventDefault();
      choose(command.name);
    } else if (command !== undefined && event.key === "Escape") {
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
  return (
    <>
      {commands.length > 0 && (
        <SlashMenu id={menuId} commands={commands} selected={chosen} onChoose={(command) => choose(command.name)} />
      )}
      <textarea
        ref={field}
        rows={1}
        value={text}
        aria-label="Message to the agent"
        placeholder="Message"
        enterKeyHint={isTouch() ? "enter" : "send"}
        aria-autocomplete="list"
        aria-haspopup="listbox"
        aria-controls={commands.length > 0 ? menuId : undefined}
        aria-activedescendant={commands.length > 0 ? `${menuId}-${chosen}` : undefined}
        onChange={(event) => {
          onText(event.target.value);
          setSelected(0);
          setClosed(false);
        }}
        onKeyDown={onKeyDown}
        onPaste={onPaste}
      />
    </>
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

function AttachButton({ onFiles }: { readonly onFiles: (files: Iterable<File>) => void }): ReactElement {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <IconButton icon="image" label="Attach an image" onClick={() => input.current?.click()} />
      <input
        ref={input}
        type="file"
        accept="image/*"
        multiple
        hidden
        aria-label="Image to attach"
        onChange={(event) => {
          onFiles([...(event.target.files ?? [])]);
          event.target.value = "";
        }}
      />
    </>
  );
}

function Previews({ attachments }: { readonly attachments: Attachments }): ReactElement | null {
  if (attachments.images.length === 0) return null;
  return (
    <ul className="plain previews">
      {attachments.images.map((image, index) => (
        <li key={String(image["data"]).slice(0, 64) + String(index)}>
          <img
            src={`data:${String(image["mimeType"])};base64,${String(image["data"])}`}
            alt={`Attachment ${index + 1}`}
          />
          <IconButton icon="close" label={`Remove attachment ${index + 1}`} onClick={() => attachments.remove(image)} />
        </li>
      ))}
    </ul>
  );
}

/** The draft of a session, kept on the device. A text handed over comes before what was typed. */
function useDraft(
  sessionId: string,
  handed: { readonly text: string } | undefined,
): readonly [string, (text: string) => void] {
  const { storage } = useServices();
  const [text, setText] = useState("");
  const isTouched = useRef(false);
  const change = (next: string): void => {
    isTouched.current = true;
    setText(next);
    writeDraft(storage, sessionId, next);
  };
  useEffect(() => {
    isTouched.current = false;
    void readDraft(storage, sessionId).then((draft) => {
      if (!isTouched.current) setText(draft);
    });
  }, [storage, sessionId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new hand-over changes the text
  useEffect(() => {
    if (handed !== undefined) change(text === "" ? handed.text : `${handed.text}\n${text}`);
  }, [handed]);
  return [text, change];
}
