/** A session in a list: what, where, how it stands, what is new. */
import type { ReactElement } from "react";
import type { TurnState } from "../../protocol/hub-methods.ts";
import { hrefOf } from "../app/router.ts";
import { Icon } from "../ui/icon.tsx";
import { baseName } from "../ui/path.ts";
import { ago } from "../ui/time.ts";

export interface SessionRowProps {
  readonly sessionId: string;
  readonly instanceId: string | undefined;
  readonly title: string;
  readonly workspace: string | undefined;
  readonly agent: string | undefined;
  readonly status: TurnState | "history" | "unknown";
  readonly updatedAt: number;
  readonly now: number;
  readonly isUnread?: boolean;
  readonly isCurrent?: boolean;
  /** Clients connected to the instance. */
  readonly clients?: number;
  readonly snippet?: string | undefined;
}

const WORDS: Readonly<Record<SessionRowProps["status"], string>> = {
  running: "Running",
  waiting: "Waiting for you",
  idle: "Idle",
  history: "",
  unknown: "State unknown",
};

export function SessionRow(props: SessionRowProps): ReactElement {
  const { sessionId, instanceId, title, workspace, agent, status, updatedAt, now } = props;
  const place = [workspace === undefined || workspace === "" ? undefined : baseName(workspace), agent]
    .filter(Boolean)
    .join(" · ");
  return (
    <li>
      <a
        className={`session-row ${status}`}
        href={hrefOf({ screen: "session", sessionId, instanceId })}
        aria-current={props.isCurrent === true ? "page" : undefined}
      >
        <span className={`status-dot ${status}`} />
        <span className="session-row-main">
          <span className="session-row-title truncate">
            {title}
            {props.isUnread === true && <span className="unread">new</span>}
          </span>
          <span className="session-row-place truncate">
            {WORDS[status] !== "" && <span className={`word ${status}`}>{WORDS[status]}</span>}
            {place}
          </span>
          {props.snippet !== undefined && <span className="session-row-snippet truncate">{props.snippet}</span>}
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
