/** The top of a session: what it is, how the link stands, who is here, and the menu. */
import { memo, type ReactElement, useState } from "react";
import { type Attendant, type SessionClient, type SessionView, shownCards } from "../../client/index.ts";
import type { TurnNotice } from "../../protocol/hub-methods.ts";
import { stringAt } from "../../protocol/json.ts";
import { instanceOf, sessionAt } from "../app/home-store.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { IconButton } from "../ui/icon-button.tsx";
import { late } from "../ui/late.tsx";
import { baseName } from "../ui/path.ts";
import { AttendantsChip, typingText, useOwnDevice } from "./attendants.tsx";
import { LinkChip } from "./link-chip.tsx";
import type { LinkView } from "./link-state.ts";

const SessionMenu = late(async () => (await import("./session-menu.tsx")).SessionMenu);

/** What of a session its header shows; its text is not among it, so that a stream leaves the header alone. */
export type HeaderView = LinkView &
  Pick<SessionView, "sessionId" | "agent"> & {
    readonly attendants: readonly Attendant[];
    readonly info: SessionView["transcript"]["info"];
    readonly usage: SessionView["transcript"]["usage"];
  };

export interface SessionHeaderProps {
  readonly session: SessionClient;
  readonly view: HeaderView;
  readonly instanceId: string | undefined;
  readonly turn: TurnNotice;
  readonly canPrompt: boolean;
}

export const SessionHeader = memo(
  ({ session, view, instanceId, turn, canPrompt }: SessionHeaderProps): ReactElement => {
    const { home } = useServices();
    const [isMenuOpen, setMenuOpen] = useState(false);
    const instance = instanceOf(useObservable(home.state), view.sessionId, instanceId);
    const listed = sessionAt(instance, view.sessionId);
    const title = stringAt(view.info, "title") ?? listed?.title ?? "Session";
    const place = [instance === undefined ? undefined : baseName(listed?.cwd ?? instance.workspace), instance?.name]
      .filter(Boolean)
      .join(" · ");
    return (
      <header className="session-header">
        <BackLink sessionId={view.sessionId} />
        <button type="button" className="session-title" onClick={() => setMenuOpen(true)} aria-haspopup="dialog">
          <h1 className="truncate">{title}</h1>
          <span className="session-place truncate">
            <TurnWord turn={turn} />
            <Place session={session} place={place} />
          </span>
        </button>
        <AttendantsChip attendants={view.attendants} onClick={() => setMenuOpen(true)} />
        <LinkChip session={session} view={view} />
        <IconButton icon="more" label="Session menu" onClick={() => setMenuOpen(true)} />
        {isMenuOpen && (
          <SessionMenu
            session={session}
            view={view}
            turn={turn}
            title={title}
            instanceId={instance?.id ?? instanceId}
            canPrompt={canPrompt}
            onClose={() => setMenuOpen(false)}
          />
        )}
      </header>
    );
  },
);

/** The way back, with how many questions wait elsewhere. */
function BackLink({ sessionId }: { readonly sessionId: string }): ReactElement {
  const { client } = useServices();
  const elsewhere = shownCards(useObservable(client.interactions)).filter(
    (card) => card.sessionId !== sessionId,
  ).length;
  return (
    <span className="back-link">
      <IconButton
        icon="back"
        label={elsewhere > 0 ? `All sessions, ${elsewhere} need you` : "All sessions"}
        href="#/"
      />
      {elsewhere > 0 && (
        <span className="count" aria-hidden="true">
          {elsewhere}
        </span>
      )}
    </span>
  );
}

const TURN_WORDS: Readonly<Record<TurnNotice["state"], string>> = {
  running: "Running",
  waiting: "Waiting for you",
  idle: "Idle",
};

/** Where the agent works; while somebody else writes, that. */
function Place({ session, place }: { readonly session: SessionClient; readonly place: string }): ReactElement | null {
  const typing = typingText(useObservable(session.typists));
  const words = typing ?? place;
  return words === "" ? null : <span className={typing === undefined ? "truncate" : "truncate typing"}>{words}</span>;
}

function TurnWord({ turn }: { readonly turn: TurnNotice }): ReactElement {
  const own = useOwnDevice();
  const { by } = turn;
  // Whose message the agent works on; one's own needs no name.
  const driver = turn.state === "idle" || by === undefined || by.device === own ? undefined : by.name;
  return (
    <span className={`turn-word ${turn.state}`} data-turn={turn.state}>
      <span className={turn.state === "running" ? "dot pulse" : "dot"} />
      <span className="truncate">
        {turn.state === "running" && driver !== undefined ? `Running for ${driver}` : TURN_WORDS[turn.state]}
      </span>
    </span>
  );
}
