/** Sessions this device is told nothing of. They are muted in their own menu and heard again here. */
import type { ReactElement } from "react";
import { instanceOf } from "../app/home-store.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";

export interface MutedSessionsProps {
  readonly sessionIds: readonly string[];
  readonly onUnmute: (sessionId: string) => void;
}

export function MutedSessions({ sessionIds, onUnmute }: MutedSessionsProps): ReactElement | null {
  const { home } = useServices();
  const state = useObservable(home.state);
  if (sessionIds.length === 0) return null;
  const titleOf = (id: string): string =>
    instanceOf(state, id)?.sessions.find((session) => session.sessionId === id)?.title ?? `Session ${id}`;
  return (
    <section className="page-section">
      <h2>Muted sessions</h2>
      <ul className="plain card-list">
        {sessionIds.map((id) => (
          <li key={id}>
            <Icon name="bellOff" />
            <span className="session-row-main">
              <span className="truncate">{titleOf(id)}</span>
            </span>
            <button
              type="button"
              className="button small"
              aria-label={`Unmute ${titleOf(id)}`}
              onClick={() => onUnmute(id)}
            >
              Unmute
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
