/** Past sessions: paged, and searched by the hub's full text; without a hub, those the device has kept. */
import { type ReactElement, useEffect, useRef, useState } from "react";
import type { HistoryPage, HistorySession } from "../../client/index.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { Notice } from "../ui/notice.tsx";
import { useKept } from "./kept.ts";
import { SessionRow } from "./session-row.tsx";

export interface HistoryListProps {
  readonly query: string;
  /** Sessions shown above already. */
  readonly live: ReadonlySet<string>;
  /** When the hub last told of those. */
  readonly freshAt: number | undefined;
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

export function HistoryList({ query, live, freshAt, currentId, now }: HistoryListProps): ReactElement {
  const { sessions, cursor, isLoading, error, more } = useHistory(query, useEndedCount(live), freshAt);
  const kept = useKept(error !== undefined && sessions.length === 0 && query === "");
  const shown = query === "" ? [...sessions, ...kept].filter((session) => !live.has(session.sessionId)) : sessions;
  const isKept = kept.length > 0;
  return (
    <section className="home-section" aria-labelledby="history">
      <h2 id="history">{query === "" ? "History" : "Found"}</h2>
      {error !== undefined && !isKept && <Notice tone="warn">{error}</Notice>}
      {isKept && <p className="muted list-note">What this device has kept.</p>}
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

/** Counts the sessions that have left the live ones: they are history now. */
function useEndedCount(live: ReadonlySet<string>): number {
  const before = useRef(live);
  const count = useRef(0);
  for (const id of before.current) if (!live.has(id)) count.current += 1;
  before.current = live;
  return count.current;
}

function useHistory(
  query: string,
  endedCount: number,
  freshAt: number | undefined,
): State & { readonly more: () => void } {
  const { api, events } = useServices();
  const isHeard = useObservable(events.state) === "open";
  const [state, setState] = useState<State>(START);
  const [retries, setRetries] = useState(0);
  const asked = useRef<string>(undefined);
  const load = (cursor: string | undefined, join: Join, isCurrent: () => boolean): void => {
    const page = api.sessions({ ...(query !== "" && { q: query }), ...(cursor !== undefined && { cursor }) });
    page.then(
      (answer) =>
        isCurrent() && setState((before) => ({ ...join(answer, before), isLoading: false, error: undefined })),
      (reason: unknown) => {
        const error = reason instanceof Error ? reason.message : "That did not work";
        if (isCurrent()) setState((last) => ({ ...last, isLoading: false, error }));
      },
    );
  };
  // The hub is heard again: what could not be had may be had now.
  // biome-ignore lint/correctness/useExhaustiveDependencies: its word is the reason, an error alone is none
  useEffect(() => {
    if (state.error !== undefined) setRetries((before) => before + 1);
  }, [freshAt, isHeard]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `load` closes over these alone
  useEffect(() => {
    let isCurrent = true;
    const isSame = asked.current === query;
    asked.current = query;
    // What is shown stays while the same is asked for again.
    if (!isSame) setState((before) => ({ ...before, isLoading: true }));
    const timer = setTimeout(
      () => load(undefined, isSame ? inFront : instead, () => isCurrent),
      query === "" ? 0 : TYPING_MS,
    );
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [api, query, endedCount, retries]);
  const more = (): void => {
    setState((before) => ({ ...before, isLoading: true }));
    load(state.cursor, behind, () => true);
  };
  return { ...state, more };
}

type Join = (page: HistoryPage, before: State) => HistoryPage;

const instead: Join = (page) => page;

const behind: Join = (page, before) => ({ ...page, sessions: [...before.sessions, ...page.sessions] });

/** The first page anew; those of later pages stay behind it. */
const inFront: Join = (page, before) => {
  if (before.sessions.length <= page.sessions.length) return page;
  const ids = new Set(page.sessions.map(({ sessionId }) => sessionId));
  const later = before.sessions.filter(({ sessionId }) => !ids.has(sessionId));
  return { sessions: [...page.sessions, ...later], cursor: before.cursor };
};
