/** Sessions over SQLite. */
import type { SessionId } from "../../protocol/ids.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import type { Database, Statement } from "../driver.ts";
import type {
  RetentionPolicy,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionStore,
  WorkspaceInfo,
} from "../ports.ts";
import { pageSize, passes } from "../session-filter.ts";
import type { SessionKey } from "../session-key.ts";
import { keyAt, numberAt, textAt } from "./columns.ts";
import { attempt, attemptRecord, orThrow, type StoreContext } from "./guard.ts";
import type { SearchTables } from "./search-tables.ts";
import type { SessionIds } from "./session-ids.ts";
import { SESSION_COLUMNS, SESSION_TABLES, sessionOf, sessionValues, stateAt } from "./session-row.ts";
import type { SessionSearch } from "./session-search.ts";

/** A search names sessions one by one up to here; where more pass, it finds enough of them without. */
const AMONG_MAX = 200;

export interface SessionParts {
  readonly ids: SessionIds;
  readonly index: SearchTables;
  readonly search: SessionSearch;
  /** Brings what can be searched up to date, within bounds. */
  refresh(): void;
  /** The journal drops what it knows and holds of the session. */
  forget(key: SessionKey): void;
}

export class SqliteSessions implements SessionStore {
  readonly #context: StoreContext;
  readonly #database: Database;
  readonly #parts: SessionParts;
  readonly #upsert: Statement;
  readonly #byKey: Statement;
  readonly #byRow: Statement;
  readonly #byId: Statement;
  readonly #recent: Statement;
  readonly #workspaces: Statement;
  readonly #closeAll: Statement;
  readonly #filters: Statement;

  constructor(context: StoreContext, parts: SessionParts) {
    const { database } = context;
    this.#context = context;
    this.#database = database;
    this.#parts = parts;
    const select = `SELECT ${SESSION_COLUMNS} FROM ${SESSION_TABLES}`;
    this.#upsert = database.prepare(
      `INSERT INTO sessions (id, session_id, agent, cwd, title, epochs, created_at, updated_at, state, closed_at, listed, extra)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET title = excluded.title, epochs = excluded.epochs, created_at = excluded.created_at,
         updated_at = excluded.updated_at, state = excluded.state, closed_at = excluded.closed_at,
         listed = excluded.listed, extra = excluded.extra`,
    );
    this.#byKey = database.prepare(`${select} WHERE i.key = ?`);
    this.#byRow = database.prepare(`${select} WHERE s.id = ?`);
    this.#byId = database.prepare(`${select} WHERE s.session_id = ? ORDER BY s.updated_at DESC, s.id DESC`);
    this.#recent = database.prepare(
      `${select} WHERE (s.updated_at, s.id) < (?, ?) ORDER BY s.updated_at DESC, s.id DESC`,
    );
    this.#workspaces = database.prepare(
      "SELECT cwd, count(*) AS sessions, max(updated_at) AS updated_at FROM sessions WHERE listed = 1 GROUP BY cwd ORDER BY 3 DESC, 1",
    );
    this.#filters = database.prepare("SELECT id, cwd, state FROM sessions WHERE listed = 1");
    this.#closeAll = database.prepare("UPDATE sessions SET state = 'closed', closed_at = ? WHERE state <> 'closed'");
  }

  upsert(record: SessionRecord): boolean {
    return attemptRecord(this.#context, "writing a session", () =>
      this.#database.transaction(() => {
        const before = this.get(record.key);
        const id = this.#parts.ids.ensure(record.key);
        this.#upsert.run(...sessionValues(id, record));
        if (before?.title !== record.title) this.#parts.index.setTitle(id, record.title);
        return true;
      }),
    );
  }

  get(key: SessionKey): SessionRecord | undefined {
    return orThrow(this.#context, "reading a session", () => {
      const row = this.#byKey.get(key);
      return row === undefined ? undefined : sessionOf(row);
    });
  }

  findById(sessionId: SessionId): readonly SessionRecord[] {
    return orThrow(this.#context, "finding a session", () => this.#byId.all(sessionId).map(sessionOf));
  }

  list(query: SessionQuery): SessionPage {
    return orThrow(this.#context, "listing sessions", () => {
      const text = query.text?.trim() ?? "";
      return text === "" ? this.#listRecent(query) : this.#listByText(text, query);
    });
  }

  workspaces(): readonly WorkspaceInfo[] {
    return orThrow(this.#context, "listing workspaces", () =>
      this.#workspaces.all().map((row) => ({
        cwd: textAt(row, "cwd"),
        sessionCount: numberAt(row, "sessions"),
        updatedAt: numberAt(row, "updated_at"),
      })),
    );
  }

  closeAll(at: number): boolean {
    return attemptRecord(this.#context, "closing the sessions", () => {
      this.#closeAll.run(at);
      return true;
    });
  }

  remove(key: SessionKey): boolean {
    this.#parts.forget(key);
    return attempt(this.#context, "removing a session", false, () => {
      this.#removeRows(key);
      return true;
    });
  }

  prune(policy: RetentionPolicy): readonly SessionKey[] {
    return attempt(this.#context, "pruning sessions", [], () => {
      const removed = this.#due(policy);
      for (const key of removed) {
        this.#parts.forget(key);
        this.#removeRows(key);
      }
      return removed;
    });
  }

  #listRecent(query: SessionQuery): SessionPage {
    const limit = pageSize(query);
    const [updatedAt, id] = decodeCursor(query.cursor, 2) ?? [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER];
    const hits: { readonly session: SessionRecord }[] = [];
    let last: number[] = [];
    for (const row of this.#recent.iterate(updatedAt ?? 0, id ?? 0)) {
      const session = sessionOf(row);
      if (!passes(session, query)) continue;
      if (hits.length === limit) return { hits, nextCursor: encodeCursor(last) };
      hits.push({ session });
      last = [session.updatedAt, numberAt(row, "id")];
    }
    return { hits };
  }

  #listByText(text: string, query: SessionQuery): SessionPage {
    this.#parts.refresh();
    const limit = pageSize(query);
    const [from, skip] = decodeCursor(query.cursor, 2) ?? [];
    const among = this.#among(query);
    if (among?.length === 0) return { hits: [] };
    const answer = this.#parts.search.search({
      text,
      limit,
      skip: skip ?? 0,
      ...(from !== undefined && { from }),
      ...(among !== undefined && { among }),
      accept: (session) => {
        const row = this.#byRow.get(session);
        const record = row === undefined ? undefined : sessionOf(row);
        return record !== undefined && passes(record, query) ? record : undefined;
      },
    });
    if (!answer.hasMore) return { hits: answer.hits };
    return { hits: answer.hits, nextCursor: encodeCursor([answer.from, (skip ?? 0) + limit]) };
  }

  /** The sessions that pass the filters; undefined without a filter, or when so many pass that a search meets them soon. */
  #among(query: SessionQuery): number[] | undefined {
    if (query.workspace === undefined && query.state === undefined) return undefined;
    const among: number[] = [];
    for (const row of this.#filters.iterate()) {
      const state = stateAt(row);
      if (!passes({ isListed: true, cwd: textAt(row, "cwd"), state }, query)) continue;
      among.push(numberAt(row, "id"));
      if (among.length > AMONG_MAX) return undefined;
    }
    return among;
  }

  #removeRows(key: SessionKey): void {
    const id = this.#parts.ids.find(key);
    this.#database.transaction(() => {
      if (id !== undefined) {
        this.#parts.index.forget(id);
        this.#database.prepare("DELETE FROM session_ids WHERE id = ?").run(id);
      }
      this.#database.prepare("DELETE FROM prompts WHERE session_key = ?").run(key);
      this.#database.prepare("DELETE FROM interactions WHERE session_key = ?").run(key);
    });
  }

  /** Past their age first, then the oldest until the rest fits. */
  #due(policy: RetentionPolicy): SessionKey[] {
    const rows = this.#database
      .prepare(
        "SELECT i.key, s.updated_at, coalesce((SELECT sum(e.bytes) FROM epochs e WHERE e.session = i.id), 0) AS bytes " +
          `FROM ${SESSION_TABLES} ORDER BY s.updated_at, s.id`,
      )
      .all();
    const oldest = policy.maxAgeMs === undefined ? -1 : policy.now - policy.maxAgeMs;
    let left = rows.reduce((sum, row) => sum + numberAt(row, "bytes"), 0);
    const due: SessionKey[] = [];
    for (const row of rows) {
      const isTooOld = numberAt(row, "updated_at") < oldest;
      const isTooMuch = policy.maxBytes !== undefined && left > policy.maxBytes;
      if ((!isTooOld && !isTooMuch) || policy.isKept(keyAt(row, "key"))) continue;
      due.push(keyAt(row, "key"));
      left -= numberAt(row, "bytes");
    }
    return due;
  }
}
