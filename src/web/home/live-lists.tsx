/** The sessions agents have open: who runs or waits, who rests, and those that were left and go on elsewhere. */
import type { ReactElement } from "react";
import type { Instance, InstanceSession, InteractionCard } from "../../client/index.ts";
import { type HomeState, placeOf, successorOf } from "../app/home-store.ts";
import { useObservable, useServices } from "../app/hooks.ts";
import { Icon } from "../ui/icon.tsx";
import { seen } from "./seen.ts";
import { SessionRow, type SessionRowProps } from "./session-row.tsx";

interface LiveSession {
  readonly instance: Instance;
  readonly session: InstanceSession;
  /** Where it goes on instead (S9). */
  readonly successor: Instance | undefined;
}

/** Newest first. */
export function liveSessions(home: HomeState): readonly LiveSession[] {
  return home.instances
    .flatMap((instance) =>
      instance.sessions.map((session) => ({
        instance,
        session,
        successor: successorOf(home, instance, session.sessionId),
      })),
    )
    .sort((a, b) => b.session.updatedAt - a.session.updatedAt);
}

export interface LiveListsProps {
  readonly home: HomeState;
  readonly live: readonly LiveSession[];
  readonly cards: readonly InteractionCard[];
  readonly currentId: string | undefined;
  readonly now: number;
}

export function LiveLists({ home, live, cards, currentId, now }: LiveListsProps): ReactElement {
  const { events, hubClock } = useServices();
  const isHeard = useObservable(events.state) === "open";
  const isAsked = ({ instance, session }: LiveSession): boolean =>
    cards.some(
      ({ sessionId, instanceId = "" }) =>
        sessionId === session.sessionId && (instanceId === "" || instanceId === instance.id),
    );
  // What is asked may be known by its number alone: without a hub nothing else of it is.
  const busy = live.filter(
    (entry) => entry.session.status !== "idle" || entry.session.openInteractions > 0 || isAsked(entry),
  );
  const resting = live.filter((entry) => !busy.includes(entry));
  const left = resting.filter((entry) => entry.successor !== undefined);
  const idle = resting.filter((entry) => entry.successor === undefined);
  // While nothing is heard nobody knows whether it still runs: the time stands still.
  const times = { currentId, now, knownAt: isHeard || home.freshAt === undefined ? now : hubClock.at(home.freshAt) };
  return (
    <>
      <LiveList title="Running" sessions={busy} {...times} />
      <LiveList title="Idle" sessions={idle} {...times} />
      {left.length > 0 && (
        <details className="home-section elsewhere">
          <summary>
            <Icon name="chevron" small /> Continued elsewhere ({left.length})
          </summary>
          <Rows sessions={left} {...times} />
        </details>
      )}
    </>
  );
}

interface RowsProps {
  readonly sessions: readonly LiveSession[];
  readonly currentId: string | undefined;
  readonly now: number;
  /** What was last heard is as of then. */
  readonly knownAt: number;
}

function LiveList({ title, ...rows }: RowsProps & { readonly title: string }): ReactElement | null {
  if (rows.sessions.length === 0) return null;
  return (
    <section className="home-section" aria-labelledby={`list-${title}`}>
      <h2 id={`list-${title}`}>{title}</h2>
      <Rows {...rows} />
    </section>
  );
}

function Rows({ sessions, currentId, now, knownAt }: RowsProps): ReactElement {
  const seenAt = useObservable(seen);
  return (
    <ul className="plain">
      {sessions.map(({ instance, session, successor }) => {
        const isLeft = successor !== undefined;
        const status = statusOf(instance, session);
        return (
          <SessionRow
            key={`${instance.id}/${session.sessionId}`}
            sessionId={session.sessionId}
            instanceId={isLeft ? successor.id : instance.id}
            title={session.title ?? "New session"}
            workspace={session.cwd ?? instance.workspace}
            branch={session.branch}
            agent={instance.name}
            status={status}
            statusSince={status === session.status ? session.turnSince : undefined}
            continuesIn={isLeft ? placeOf(successor) : undefined}
            last={session.last}
            updatedAt={session.updatedAt}
            now={now}
            knownAt={knownAt}
            clients={instance.clients}
            isUnread={
              !isLeft && session.updatedAt > (seenAt[session.sessionId] ?? now) && session.sessionId !== currentId
            }
            isCurrent={!isLeft && session.sessionId === currentId}
          />
        );
      })}
    </ul>
  );
}

function statusOf({ health }: Instance, session: InstanceSession): SessionRowProps["status"] {
  if (health === "unreachable" || health === "unresponsive") return "unknown";
  return session.openInteractions > 0 ? "waiting" : session.status;
}
