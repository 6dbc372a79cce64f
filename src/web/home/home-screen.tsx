/** All sessions: who needs you, what runs, what rests, what was. */
import { type ReactElement, useEffect, useState } from "react";
import { shownCards } from "../../client/index.ts";
import type { HomeState } from "../app/home-store.ts";
import { useHubNow, useObservable, useServices } from "../app/hooks.ts";
import { useRights } from "../session/use-rights.ts";
import { Icon } from "../ui/icon.tsx";
import { IconButton } from "../ui/icon-button.tsx";
import { late } from "../ui/late.tsx";
import { Notice } from "../ui/notice.tsx";
import { atTime } from "../ui/time.ts";
import { HistoryList } from "./history-list.tsx";
import { HubChip } from "./hub-chip.tsx";
import { LiveLists, liveSessions } from "./live-lists.tsx";
import { NeedsYou } from "./needs-you.tsx";
import "./home.css";

const NewSession = late(async () => (await import("./new-session.tsx")).NewSession);

export interface HomeScreenProps {
  /** The session shown beside the list on wide screens. */
  readonly currentId: string | undefined;
}

export function HomeScreen({ currentId }: HomeScreenProps): ReactElement {
  const { home, client } = useServices();
  const state = useObservable(home.state);
  const cards = shownCards(useObservable(client.interactions));
  const now = useHubNow(30_000);
  const [query, setQuery] = useState("");
  const [isCreating, setCreating] = useState(false);
  const canPrompt = useRights()("sessions:prompt");
  const live = liveSessions(state);
  return (
    <div className="home">
      <HomeHeader />
      <div className="home-scroll">
        <SearchField query={query} onQuery={setQuery} />
        <StaleNotice state={state} />
        {query === "" && (
          <>
            <NeedsYou cards={cards} home={state} now={now} currentId={currentId} />
            <LiveLists home={state} live={live} cards={cards} currentId={currentId} now={now} />
            {live.length === 0 && state.freshAt !== undefined && <NoAgents />}
          </>
        )}
        <HistoryList
          query={query.trim()}
          live={new Set(live.map(({ session }) => session.sessionId))}
          freshAt={state.freshAt}
          currentId={currentId}
          now={now}
        />
      </div>
      {canPrompt && (
        <button type="button" className="button primary new-session" onClick={() => setCreating(true)}>
          <Icon name="plus" /> New session
        </button>
      )}
      {isCreating && <NewSession onClose={() => setCreating(false)} />}
    </div>
  );
}

function HomeHeader(): ReactElement {
  return (
    <header className="home-header">
      <h1>acp-hub</h1>
      <HubChip />
      <nav aria-label="App">
        <IconButton icon="bell" label="Notifications" href="#/notifications" />
        <IconButton icon="devices" label="Devices" href="#/devices" />
        <IconButton icon="gear" label="Settings" href="#/settings" />
      </nav>
    </header>
  );
}

function SearchField({
  query,
  onQuery,
}: {
  readonly query: string;
  readonly onQuery: (query: string) => void;
}): ReactElement {
  return (
    <search className="search">
      <Icon name="search" />
      <input
        className="input"
        type="search"
        id="search"
        value={query}
        placeholder="Search sessions"
        aria-label="Search sessions"
        onChange={(event) => onQuery(event.target.value)}
      />
    </search>
  );
}

function StaleNotice({ state }: { readonly state: HomeState }): ReactElement | null {
  const { access } = useServices();
  const isUnreachable = useObservable(access.access).kind === "unreachable";
  if (state.error === undefined && !isUnreachable) return null;
  const since = state.freshAt === undefined ? "" : ` What you see is as of ${atTime(state.freshAt, Date.now())}.`;
  return (
    <Notice tone="warn">
      {sentence(state.error ?? "The hub cannot be reached")}
      {since}
    </Notice>
  );
}

const sentence = (words: string): string => (/[.!?]$/.test(words) ? words : `${words}.`);

function NoAgents(): ReactElement {
  return (
    <div className="empty">
      <Icon name="inbox" />
      <p>
        No agent runs right now.
        <br />
        Start one in your editor with <code className="mono unbroken">acp-hub bridge</code>.
      </p>
    </div>
  );
}

/** Keeps the list of a wide screen from being read by everyone who only wants the session. */
export function useIsWide(): boolean {
  const [query] = useState(() => window.matchMedia("(min-width: 900px)"));
  const [isWide, setWide] = useState(query.matches);
  useEffect(() => {
    const look = (): void => setWide(query.matches);
    query.addEventListener("change", look);
    return () => query.removeEventListener("change", look);
  }, [query]);
  return isWide;
}
