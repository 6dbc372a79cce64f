/** Past sessions: paged, and searched by the hub's full text. */
import { type ReactElement, useEffect, useState } from "react";
import type { HistorySession } from "../../client/index.ts";
import { useServices } from "../app/hooks.ts";
import { Notice } from "../ui/notice.tsx";
import { SessionRow } from "./session-row.tsx";

export interface HistoryListProps {
  readonly query: string;
  /** Sessions shown above already. */
  readonly live: ReadonlySet<string>;
  readonly currentId: string | undefined;
  readonly now: number;
}

interface State {
  readonly sessions: readonly HistorySession[];
  readonly cursor: string | undefined;
  readonly isLoading: boolean;
  readonly error: string | undefined;
}

const START: State = { sessions: [], cursor: undefined, isLoading: true, error: undefined };

/** A person types faster than a search is worth. */
const TYPING_MS = 250;

export function HistoryList({ query, live, currentId, now }: HistoryListProps): ReactElement {
  const { sessions, cursor, isLoading, error, more } = useHistory(query);
  const shown = query === "" ? sessions.filter((session) => !live.has(session.sessionId)) : sessions;
  return (
    <section className="home-section" aria-labelledby="history">
      <h2 id="history">{query === "" ? "History" : "Found"}</h2>
      {error !== undefined && <Notice tone="warn">{error}</Notice>}
      <ul className="plain">
        {shown.map((session) => (
          <SessionRow
            key={`${session.instanceId ?? ""}/${session.sessionId}`}
            sessionId={session.sessionId}
            instanceId={live.has(session.sessionId) ? session.instanceId : undefined}
            title={session.title ?? "Session"}
            workspace={session.workspace}
            agent={session.agent}
            status="history"
            updatedAt={session.updatedAt}
            now={now}
            isCurrent={session.sessionId === currentId}
            last={session.last}
            snippet={session.snippet}
          />
        ))}
      </ul>
      {shown.length === 0 && !isLoading && error === undefined && (
        <p className="muted list-note">{query === "" ? "No past sessions yet." : "Nothing found."}</p>
      )}
      {isLoading && <p className="muted list-note">Loading…</p>}
      {cursor !== undefined && !isLoading && (
        <button type="button" className="button small quiet" onClick={more}>
          Show more
        </button>
      )}
    </section>
  );
}

function useHistory(query: string): State & { readonly more: () => void } {
  const { api } = useServices();
  const [state, setState] = useState<State>(START);
  const load = (cursor: string | undefined, before: readonly HistorySession[], isCurrent: () => boolean): void => {
    const page = api.sessions({ ...(query !== "" && { q: query }), ...(cursor !== undefined && { cursor }) });
    page.then(
      (answer) =>
        isCurrent() &&
        setState({
          sessions: [...before, ...answer.sessions],
          cursor: answer.cursor,
          isLoading: false,
          error: undefined,
        }),
      (reason: unknown) => {
        const error = reason instanceof Error ? reason.message : "That did not work";
        if (isCurrent()) setState((last) => ({ ...last, isLoading: false, error }));
      },
    );
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: `load` closes over these two alone
  useEffect(() => {
    let isCurrent = true;
    setState((before) => ({ ...before, isLoading: true }));
    const timer = setTimeout(() => load(undefined, [], () => isCurrent), query === "" ? 0 : TYPING_MS);
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [api, query]);
  const more = (): void => {
    setState((before) => ({ ...before, isLoading: true }));
    load(state.cursor, state.sessions, () => true);
  };
  return { ...state, more };
}
