/** Prompts that wait at the hub, of everyone: in order, to move and to remove. */
import { type ReactElement, useState } from "react";
import type { SessionClient } from "../../client/index.ts";
import type { QueueEntry } from "../../protocol/hub-methods.ts";
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
  if (queue.length === 0) return null;
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
              author={entry.promptId !== undefined && ownIds.has(entry.promptId) ? "You" : entry.by.name}
              isFirst={index === 0}
              isLast={index === queue.length - 1}
              canChange={canChange}
              onMove={(step) => run(session.moveQueued(entry.promptId ?? "", index + step))}
              onRemove={() => run(session.removeQueued(entry.promptId ?? ""))}
            />
          ))}
        </ol>
      )}
    </section>
  );
}

interface QueueLineProps {
  readonly entry: QueueEntry;
  readonly author: string;
  readonly isFirst: boolean;
  readonly isLast: boolean;
  readonly canChange: boolean;
  readonly onMove: (step: number) => void;
  readonly onRemove: () => void;
}

function QueueLine({ entry, author, isFirst, isLast, canChange, onMove, onRemove }: QueueLineProps): ReactElement {
  const isFixed = !canChange || entry.promptId === undefined;
  return (
    <li>
      <span className="truncate">
        <strong>{author}</strong> {entry.title}
      </span>
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
