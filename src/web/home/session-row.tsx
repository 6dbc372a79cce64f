/** A session in a list: what, where, how it stands and since when, what was said last, what is new. */
import type { ReactElement } from "react";
import type { LastLine } from "../../client/index.ts";
import type { TurnState } from "../../protocol/hub-methods.ts";
import { hrefOf } from "../app/route.ts";
import { Icon } from "../ui/icon.tsx";
import { baseName } from "../ui/path.ts";
import { ago, lasted } from "../ui/time.ts";

export interface SessionRowProps {
  readonly sessionId: string;
  readonly instanceId: string | undefined;
  readonly title: string;
  readonly workspace: string | undefined;
  /** Of the repository there. */
  readonly branch?: string | undefined;
  readonly agent: string | undefined;
  readonly status: TurnState | "history" | "unknown";
  /** Since when it is so, where that is known. */
  readonly statusSince?: number | undefined;
  readonly updatedAt: number;
  readonly now: number;
  /** How it stands is known as of then; as of now when left out. */
  readonly knownAt?: number;
  readonly isUnread?: boolean;
  readonly isCurrent?: boolean;
  /** Clients connected to the instance. */
  readonly clients?: number;
  readonly last?: LastLine | undefined;
  /** Where the words of a search were found: shown in place of the last line. */
  readonly snippet?: string | undefined;
  /** It was left here and goes on there: in the place of how it stands. */
  readonly continuesIn?: string | undefined;
}

const WORDS: Readonly<Record<SessionRowProps["status"], string>> = {
  running: "Running",
  waiting: "Waiting for you",
  idle: "Idle",
  history: "",
  unknown: "State unknown",
};

export function SessionRow(props: SessionRowProps): ReactElement {
  const { sessionId, instanceId, title, status, updatedAt, now } = props;
  return (
    <li>
      <a
        className={`session-row ${status}`}
        href={hrefOf({ screen: "session", sessionId, instanceId })}
        aria-current={props.isCurrent === true ? "page" : undefined}
      >
        <span className={`status-dot ${props.continuesIn === undefined ? status : ""}`} />
        <span className="session-row-main">
          <span className="session-row-head">
            <span className="session-row-title truncate">{title}</span>
            {props.isUnread === true && <span className="unread">new</span>}
          </span>
          <span className="session-row-state">
            <Standing {...props} />
            <span className="truncate">{placeWords(props)}</span>
          </span>
          <Line last={props.last} snippet={props.snippet} />
        </span>
        <span className="session-row-side">
          <span>{ago(updatedAt, now)}</span>
          {(props.clients ?? 0) > 1 && (
            <span className="clients" title={`${props.clients} clients attached`}>
              <Icon name="users" small /> {props.clients}
              <span className="hidden-text"> clients attached</span>
            </span>
          )}
        </span>
      </a>
    </li>
  );
}

/** Where, on which branch, with whom. Names of others' making: isolated, so that their direction turns nothing around them. */
function placeWords({ workspace, branch, agent }: SessionRowProps): ReactElement {
  const folder = workspace === undefined || workspace === "" ? undefined : baseName(workspace);
  return (
    <>
      {folder !== undefined && <bdi>{folder}</bdi>}
      {branch !== undefined && (
        <>
          {" "}
          (<span className="hidden-text">branch </span>
          <bdi>{branch}</bdi>)
        </>
      )}
      {folder !== undefined && agent !== undefined && " · "}
      {agent !== undefined && <bdi>{agent}</bdi>}
    </>
  );
}

const TONES = new Map<SessionRowProps["status"], string>([
  ["running", "ok"],
  ["waiting", "warn"],
]);

function Standing({ status, statusSince, now, knownAt = now, continuesIn }: SessionRowProps): ReactElement | null {
  if (continuesIn !== undefined) {
    return (
      <span className="chip">
        <Icon name="link" small /> <span className="truncate">Continues in {continuesIn}</span>
      </span>
    );
  }
  const tone = TONES.get(status);
  if (tone === undefined) return WORDS[status] === "" ? null : <span>{WORDS[status]}</span>;
  const time = statusSince === undefined ? "" : lasted(statusSince, knownAt);
  return <span className={`chip ${tone}`}>{time === "" ? WORDS[status] : `${WORDS[status]} ${time}`}</span>;
}

/** Other people's words: isolated, so that their direction turns nothing around them. */
function Line({ last, snippet }: Pick<SessionRowProps, "last" | "snippet">): ReactElement | null {
  if (snippet !== undefined) {
    return (
      <span className="session-row-line found truncate">
        <bdi>{snippet}</bdi>
      </span>
    );
  }
  if (last === undefined) return null;
  return (
    <span className="session-row-line truncate" data-from={last.from}>
      {last.from === "user" && "You: "}
      {last.from === "tool" && <Icon name="tool" small />}
      <bdi>{last.text}</bdi>
    </span>
  );
}
