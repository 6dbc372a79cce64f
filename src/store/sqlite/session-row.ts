/** A session as a row. */
import { epoch, sessionId } from "../../protocol/ids.ts";
import type { SqlRow, SqlValue } from "../driver.ts";
import type { SessionRecord, SessionState } from "../ports.ts";
import { keyAt, numberAt, objectAt, optionalNumber, optionalText, stringsAt, textAt } from "./columns.ts";

export const SESSION_COLUMNS =
  "s.id, i.key, s.session_id, s.agent, s.cwd, s.title, s.epochs, s.created_at, s.updated_at, s.state, s.closed_at, s.listed, s.extra";

export const SESSION_TABLES = "sessions s JOIN session_ids i ON i.id = s.id";

const STATES: ReadonlySet<string> = new Set<SessionState>(["idle", "running", "waiting", "closed"]);
const isState = (value: string): value is SessionState => STATES.has(value);

export function stateAt(row: SqlRow): SessionState {
  const state = textAt(row, "state");
  return isState(state) ? state : "closed";
}

export function sessionOf(row: SqlRow): SessionRecord {
  const title = optionalText(row, "title");
  const closedAt = optionalNumber(row, "closed_at");
  return {
    key: keyAt(row, "key"),
    sessionId: sessionId(textAt(row, "session_id")),
    agent: textAt(row, "agent"),
    cwd: textAt(row, "cwd"),
    ...(title !== undefined && { title }),
    epochs: stringsAt(row, "epochs").map(epoch),
    createdAt: numberAt(row, "created_at"),
    updatedAt: numberAt(row, "updated_at"),
    state: stateAt(row),
    ...(closedAt !== undefined && { closedAt }),
    isListed: numberAt(row, "listed") === 1,
    extra: objectAt(row, "extra"),
  };
}

/** In the order of the statement in `SqliteSessions.upsert`. */
export function sessionValues(id: number, record: SessionRecord): SqlValue[] {
  return [
    id,
    record.sessionId,
    record.agent,
    record.cwd,
    record.title ?? null,
    JSON.stringify(record.epochs),
    record.createdAt,
    record.updatedAt,
    record.state,
    record.closedAt ?? null,
    record.isListed ? 1 : 0,
    JSON.stringify(record.extra),
  ];
}
