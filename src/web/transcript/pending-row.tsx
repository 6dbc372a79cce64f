/** A prompt of this device that has not started: where it is, and what can be done about it. */
import type { ReactElement } from "react";
import type { OutboxEntry } from "../../client/index.ts";
import { useServices } from "../app/hooks.ts";
import type { Draft } from "../composer/drafts.ts";
import { typedText } from "../composer/mentions.ts";
import { Icon } from "../ui/icon.tsx";
import { DeliveryMark } from "./delivery-mark.tsx";
import { TypedMessage } from "./typed-message.tsx";

export interface PendingRowProps {
  readonly entry: OutboxEntry;
  /** Puts the text back into the composer. */
  readonly onEdit: (draft: Draft) => void;
}

export function PendingRow({ entry, onEdit }: PendingRowProps): ReactElement {
  const { client } = useServices();
  const { failure } = entry;
  const edit = async (): Promise<void> => {
    if (await client.withdrawPrompt(entry.promptId)) onEdit(typedText(entry.blocks));
  };
  const sendAnew = (): void => {
    client.outbox.remove(entry.promptId);
    client.prompt(entry.sessionId, entry.blocks);
  };
  return (
    <article className="message user pending" aria-label="Your message, not started yet">
      <div className="bubble">
        <TypedMessage blocks={entry.blocks} />
      </div>
      <footer>
        <DeliveryMark entry={entry} />
      </footer>
      {failure !== undefined && (
        <p className="form-error">
          <Icon name="alert" small />{" "}
          {failure.canRetry ? failure.message : "The agent ended before anyone learned how this went."}
        </p>
      )}
      <div className="row-actions">
        {failure?.canRetry === true && (
          <button type="button" className="button small" onClick={() => client.retryPrompt(entry.promptId)}>
            <Icon name="refresh" small /> Retry
          </button>
        )}
        {failure?.canRetry === false && (
          <button type="button" className="button small" onClick={sendAnew}>
            <Icon name="send" small /> Send again
          </button>
        )}
        <button type="button" className="button small quiet" onClick={() => void edit()}>
          <Icon name="edit" small /> Edit
        </button>
        <button type="button" className="button small quiet" onClick={() => void client.withdrawPrompt(entry.promptId)}>
          <Icon name="trash" small /> Delete
        </button>
      </div>
    </article>
  );
}
