/** What the parts of the backend share. Built once in `agent.ts`; everything that has I/O or time comes from here. */

import type { JsonObject } from "../../protocol/json.ts";
import type { AcpLink } from "./acp/link.ts";
import type { Clock } from "./clock.ts";
import type { Asks } from "./interactions/asks.ts";
import type { Log } from "./log.ts";
import type { ResolvedConfig } from "./options.ts";
import type { Supervisor } from "./process/supervisor.ts";
import type { ConfiguredProvider } from "./process/user-config.ts";
import type { SessionRegistry } from "./sessions/registry.ts";
import type { Session } from "./sessions/session.ts";
import type { SessionMap } from "./sessions/session-map.ts";

export interface Host {
  readonly clock: Clock;
  readonly log: Log;
  readonly config: ResolvedConfig;
  readonly supervisor: Supervisor;
  readonly link: AcpLink;
  readonly asks: Asks;
  readonly store: SessionMap;
  readonly sessions: SessionRegistry;
  /** A random UUID. */
  newId(): string;
  /** Providers of the user's configuration, read now. */
  providers(): readonly ConfiguredProvider[];
  /** Feeds events of a subscribe's window. */
  feed(session: Session, events: readonly unknown[]): void;
  /** Tells the client which commands there are, now and a little later. */
  announceCommands(session: Session): void;
}

/** Tells the multiplexer about a turn that no prompt of a client started, so that a cancel reaches it. */
export function reportBackendTurn(
  host: Host,
  session: Session,
  running: boolean,
  kind: "goal" | "background" | "compact",
): void {
  for (const sessionId of session.aliases) host.link.notify("_acp-hub/backend_turn", { sessionId, running, kind });
}

/** Tells the multiplexer how many background tasks run, when that has changed: nobody may end the backend under them. */
export function reportBackendTasks(host: Host, session: Session): void {
  const running = session.tasks.runningCount;
  if (running === session.tasksReported) return;
  session.tasksReported = running;
  for (const sessionId of session.aliases) host.link.notify("_acp-hub/backend_tasks", { sessionId, running });
}

/** Tells the multiplexer what the backend itself holds in its queue. */
export function reportBackendQueue(host: Host, session: Session, entries: readonly JsonObject[]): void {
  for (const sessionId of session.aliases)
    host.link.notify("_acp-hub/backend_queue", { sessionId, entries: [...entries] });
}
