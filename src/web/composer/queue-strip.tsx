/** Prompts that wait at the hub, of everyone: in order, to move and to remove. */
import { type ReactElement, useState } from "react";
import type { SessionClient } from "../../client/index.ts";
import type { QueueEntry } from "../../protocol/hub-methods.ts";
import { useServices } from "../app/hooks.ts";
import { Dialog } from "../ui/dialog.tsx";
import { Icon } from "../ui/icon.tsx";
import { IconButton } from "../ui/icon-button.tsx";

export interface QueueStripProps {
  readonly session: SessionClient;
  readonly queue: readonly QueueEntry[];
  readonly ownIds: ReadonlySet<string>;
  readonly canChange: boolean;
}

export function QueueStrip({ session, queue, ownIds, canChange }: QueueStripProps): ReactElement | null {
  const [isOpen, setOpen] = useState(false);
  const [error, setError] = useState<string>();
  const [urgent, setUrgent] = useState<QueueEntry>();
  if (queue.length === 0) return null;
  const isOwn = (entry: QueueEntry): boolean => entry.promptId !== undefined && ownIds.has(entry.promptId);
  const run = (change: Promise<void>): void => {
    setError(undefined);
    change.catch((reason: unknown) => setError(reason instanceof Error ? reason.message : "That did not work"));
  };
  return (
    <section className="queue" aria-label="Queue">
      <button type="button" className="queue-line" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        <Icon name="list" small />
        <span>
          {queue.length} {queue.length === 1 ? "message waits" : "messages wait"}
        </span>
        <Icon name="chevron" small />
      </button>
      {error !== undefined && (
        <p className="form-error" role="alert">
          {error}
        </p>
      )}
      {isOpen && (
        <ol className="plain">
          {queue.map((entry, index) => (
            <QueueLine
              key={entry.promptId ?? `${entry.queuedAt}`}
              entry={entry}
              author={isOwn(entry) ? "You" : entry.by.name}
              isFirst={index === 0}
              isLast={index === queue.length - 1}
              canChange={canChange}
              onMove={(step) => run(session.moveQueued(entry.promptId ?? "", index + step))}
              onSendNow={isOwn(entry) ? () => setUrgent(entry) : undefined}
              onRemove={() => run(session.removeQueued(entry.promptId ?? ""))}
            />
          ))}
        </ol>
      )}
      {urgent?.promptId !== undefined && (
        <SendNowDialog promptId={urgent.promptId} title={urgent.title} onClose={() => setUrgent(undefined)} />
      )}
    </section>
  );
}

interface SendNowProps {
  readonly promptId: string;
  readonly title: string;
  readonly onClose: () => void;
}

/** What runs is lost by it, so it is asked first. */
function SendNowDialog({ promptId, title, onClose }: SendNowProps): ReactElement {
  const { client } = useServices();
  const send = (): void => {
    client.outbox.preempt(promptId);
    onClose();
  };
  return (
    <Dialog title="Stop the running turn?" onClose={onClose}>
      <p>The agent stops what it does, its open questions are withdrawn, and your message goes next:</p>
      <p className="truncate">
        <bdi>{title}</bdi>
      </p>
      <div className="row-actions">
        <button type="button" className="button" onClick={onClose}>
          Let it finish
        </button>
        <button type="button" className="button danger" onClick={send}>
          Stop and send now
        </button>
      </div>
    </Dialog>
  );
}

interface QueueLineProps {
  readonly entry: QueueEntry;
  readonly author: string;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly canChange: boolean;
  readonly onMove: (step: number) => void;
  /** Undefined for prompts of others: this device has not their content. */
  readonly onSendNow: (() => void) | undefined;
  readonly onRemove: () => void;
}

function QueueLine(props: QueueLineProps): ReactElement {
  const { entry, author, isFirst, isLast, canChange, onMove, onSendNow, onRemove } = props;
  const isFixed = !canChange || entry.promptId === undefined;
  return (
    <li>
      <span className="truncate">
        <strong>{author}</strong> {entry.title}
      </span>
      {onSendNow !== undefined && (
        <IconButton icon="bolt" label={`Send now: ${entry.title}`} disabled={isFixed} onClick={onSendNow} />
      )}
      <IconButton
        icon="arrowUp"
        label={`Move up: ${entry.title}`}
        disabled={isFixed || isFirst}
        onClick={() => onMove(-1)}
      />
      <IconButton
        icon="arrowDown"
        label={`Move down: ${entry.title}`}
        disabled={isFixed || isLast}
        onClick={() => onMove(1)}
      />
      <IconButton icon="trash" label={`Remove: ${entry.title}`} disabled={isFixed} onClick={onRemove} />
    </li>
  );
}
