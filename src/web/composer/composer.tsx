/** Where a person writes. Grows with the text, keeps the draft, and never loses a tap: send always leads somewhere. */
import { memo, type ReactElement, type RefObject, useRef, useState } from "react";
import type { SessionClient, Transcript } from "../../client/index.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { AgentOptions } from "./agent-options.tsx";
import { type Draft, EMPTY_DRAFT } from "./drafts.ts";
import { type MentionTexts, mentionsIn, promptBlocks } from "./mentions.ts";
import { TextField } from "./text-field.tsx";
import { useAttachments } from "./use-attachments.ts";
import { type Caret, useCaret } from "./use-caret.ts";
import { useDraft } from "./use-draft.ts";
import "./composer.css";

/** What the agent offers beside the text. The transcript is not among it: a stream leaves the composer alone. */
export interface ComposerOffers extends Pick<Transcript, "commands" | "modes" | "configOptions"> {
  readonly sessionId: string;
  readonly isLive: boolean;
  /** The instance whose files may be named; undefined where this device may not read them. */
  readonly filesOf: string | undefined;
  /** The agent takes the texts of files; else it is sent links. */
  readonly takesTexts: boolean;
}

export interface ComposerProps {
  readonly session: SessionClient;
  readonly offers: ComposerOffers;
  readonly isRunning: boolean;
  readonly takesImages: boolean;
  readonly canSetOptions: boolean;
  /** What to continue with (an edited prompt); changes when another is handed over. */
  readonly handed: Draft | undefined;
}

export const Composer = memo(
  ({ session, offers, isRunning, takesImages, canSetOptions, handed }: ComposerProps): ReactElement => {
    const [draft, change] = useDraft(offers.sessionId, handed);
    const setText = ({ text, mentions }: Pick<Draft, "text" | "mentions">): void => {
      change(() => ({ text, mentions }));
      session.drafted(text.trim() === "");
    };
    const attachments = useAttachments(change);
    const field = useRef<HTMLTextAreaElement>(null);
    const caret = useCaret(field);
    const { send, isSending, error } = useSend(offers, draft, () => {
      setText(EMPTY_DRAFT);
      change(() => EMPTY_DRAFT);
      field.current?.focus();
    });
    const isEmpty = draft.text.trim() === "" && draft.images.length === 0;
    const shownError = error ?? attachments.error;
    return (
      <div className="composer">
        {shownError !== undefined && (
          <p className="form-error" role="alert">
            <Icon name="alert" small /> {shownError}
          </p>
        )}
        <Previews
          images={draft.images}
          onRemove={(image) => change(({ images }) => ({ images: images.filter((other) => other !== image) }))}
        />
        <div className="composer-box">
          <TextField
            field={field}
            caret={caret}
            draft={draft}
            offers={offers}
            isFixed={isSending}
            onDraft={setText}
            onSend={isEmpty ? noop : send}
            onFiles={takesImages ? attachments.add : undefined}
          />
          <div className="composer-bar">
            {takesImages && <AttachButton onFiles={attachments.add} />}
            {offers.filesOf !== undefined && (
              <MentionButton field={field} caret={caret} draft={draft} onDraft={setText} />
            )}
            <AgentOptions session={session} offers={offers} isDisabled={!canSetOptions || !offers.isLive} />
            <span className="composer-actions">
              {isRunning && (
                <IconButton
                  icon="stop"
                  label="Stop the turn"
                  tone="stop"
                  // A stop that waits for a lost link could meet another turn.
                  disabled={!offers.isLive}
                  onClick={() => session.cancel()}
                />
              )}
              <IconButton
                icon="send"
                label={isRunning ? "Add to the queue" : "Send"}
                tone="filled"
                disabled={isEmpty || isSending}
                onClick={send}
              />
            </span>
          </div>
        </div>
      </div>
    );
  },
);

const noop = (): void => undefined;

interface Sending {
  readonly send: () => void;
  /** The texts of files are on their way; the draft stays until they are here or given up. */
  readonly isSending: boolean;
  readonly error: string | undefined;
}

function useSend(offers: ComposerOffers, draft: Draft, onSent: () => void): Sending {
  const { client, api } = useServices();
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<string>();
  const { sessionId, filesOf, takesTexts, isLive } = offers;
  const deliver = (texts: MentionTexts): void => {
    setSending(false);
    try {
      const written = draft.text.trim() === "" ? [] : promptBlocks(draft.text, draft.mentions, texts);
      client.prompt(sessionId, [...draft.images, ...written]);
      setError(undefined);
      onSent();
    } catch (reason) {
      setError(reason instanceof Error ? reason.message : "That did not work");
    }
  };
  const send = (): void => {
    if (isSending) return;
    const named = mentionsIn(draft.text, draft.mentions);
    if (named.length === 0 || !takesTexts || !isLive || filesOf === undefined) return deliver(new Map());
    setSending(true);
    import("./file-texts.ts")
      .then(({ fileTexts }) => fileTexts(api, filesOf, sessionId, named))
      .then(deliver, () => deliver(new Map()));
  };
  return { send, isSending, error };
}

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

interface MentionButtonProps {
  readonly field: RefObject<HTMLTextAreaElement | null>;
  readonly caret: Caret;
  readonly draft: Draft;
  readonly onDraft: (draft: Draft) => void;
}

/** Types the "@": on a phone's keyboard it is two layers away. */
function MentionButton({ field, caret, draft, onDraft }: MentionButtonProps): ReactElement {
  const begin = (): void => {
    const element = field.current;
    if (element === null) return;
    const at = element.selectionStart;
    const before = draft.text.slice(0, at);
    const start = before === "" || /\s$/.test(before) ? "@" : " @";
    onDraft({ ...draft, text: before + start + draft.text.slice(at) });
    caret.moveTo(at + start.length);
    element.focus();
  };
  return <IconButton icon="at" label="Mention a file" onClick={begin} />;
}

interface PreviewsProps {
  readonly images: readonly JsonObject[];
  readonly onRemove: (image: JsonObject) => void;
}

function Previews({ images, onRemove }: PreviewsProps): ReactElement | null {
  if (images.length === 0) return null;
  return (
    <ul className="plain previews">
      {images.map((image, index) => (
        <li key={String(image["data"]).slice(0, 64) + String(index)}>
          <img
            src={`data:${String(image["mimeType"])};base64,${String(image["data"])}`}
            alt={`Attachment ${index + 1}`}
          />
          <IconButton icon="close" label={`Remove attachment ${index + 1}`} onClick={() => onRemove(image)} />
        </li>
      ))}
    </ul>
  );
}
