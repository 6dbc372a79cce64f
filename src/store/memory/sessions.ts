/** Sessions in memory. Search looks at every text: right for tests, too slow for a hub. */
import type { SessionId } from "../../protocol/ids.ts";
import { decodeCursor, encodeCursor } from "../cursor.ts";
import type {
  RetentionPolicy,
  SessionHit,
  SessionPage,
  SessionQuery,
  SessionRecord,
  SessionStore,
  Snippet,
  WorkspaceInfo,
} from "../ports.ts";
import { addToPassages, type Passage, queryWords } from "../search-text.ts";
import { pageSize, passes } from "../session-filter.ts";
import type { SessionKey } from "../session-key.ts";
import { passageSnippet, snippetOf } from "../snippet.ts";
import type { MemoryJournal } from "./journal.ts";

/** What else hangs on a session. */
export interface SessionDependents {
  removeSession(key: SessionKey): void;
}

export class MemorySessions implements SessionStore {
  readonly #journal: MemoryJournal;
  readonly #dependents: readonly SessionDependents[];
  readonly #records = new Map<SessionKey, SessionRecord>();

  constructor(journal: MemoryJournal, dependents: readonly SessionDependents[]) {
    this.#journal = journal;
    this.#dependents = dependents;
  }

  upsert(record: SessionRecord): boolean {
    this.#records.set(record.key, structuredClone(record));
    return true;
  }

  get(key: SessionKey): SessionRecord | undefined {
    return this.#records.get(key);
  }

  findById(sessionId: SessionId): readonly SessionRecord[] {
    return this.#newestFirst().filter((record) => record.sessionId === sessionId);
  }

  list(query: SessionQuery): SessionPage {
    const words = queryWords(query.text ?? "");
    const isSearch = (query.text?.trim() ?? "") !== "";
    const found = this.#newestFirst()
      .filter((record) => passes(record, query))
      .flatMap((session): SessionHit[] => {
        if (!isSearch) return [{ session }];
        const snippet = words.length === 0 ? undefined : this.#snippet(session, words);
        return snippet === undefined ? [] : [{ session, snippet }];
      });
    const skip = decodeCursor(query.cursor, 1)?.[0] ?? 0;
    const end = skip + pageSize(query);
    const hits = found.slice(skip, end);
    return found.length > end ? { hits, nextCursor: encodeCursor([end]) } : { hits };
  }

  workspaces(): readonly WorkspaceInfo[] {
    const found = new Map<string, WorkspaceInfo>();
    for (const record of this.#newestFirst().filter((entry) => entry.isListed)) {
      const { sessionCount, updatedAt } = found.get(record.cwd) ?? { sessionCount: 0, updatedAt: record.updatedAt };
      found.set(record.cwd, { cwd: record.cwd, sessionCount: sessionCount + 1, updatedAt });
    }
    return [...found.values()];
  }

  closeAll(at: number): boolean {
    for (const [key, record] of this.#records) {
      if (record.state !== "closed") this.#records.set(key, { ...record, state: "closed", closedAt: at });
    }
    return true;
  }

  remove(key: SessionKey): boolean {
    this.#records.delete(key);
    this.#journal.remove(key);
    for (const dependent of this.#dependents) dependent.removeSession(key);
    return true;
  }

  prune(policy: RetentionPolicy): readonly SessionKey[] {
    const oldestFirst = this.#newestFirst().reverse();
    const limit = policy.maxAgeMs === undefined ? -1 : policy.now - policy.maxAgeMs;
    let left = oldestFirst.reduce((sum, record) => sum + this.#journal.bytesOf(record.key), 0);
    const due: SessionKey[] = [];
    for (const { key, updatedAt } of oldestFirst) {
      const isTooMuch = policy.maxBytes !== undefined && left > policy.maxBytes;
      if ((updatedAt >= limit && !isTooMuch) || policy.isKept(key)) continue;
      due.push(key);
      left -= this.#journal.bytesOf(key);
    }
    for (const key of due) this.remove(key);
    return due;
  }

  #newestFirst(): SessionRecord[] {
    return [...this.#records.values()].reverse().sort((a, b) => b.updatedAt - a.updatedAt);
  }

  /** From the newest passage that has all the words, else from the title. */
  #snippet(session: SessionRecord, words: readonly string[]): Snippet | undefined {
    const hasAll = (text: string): boolean => words.every((word) => text.toLowerCase().includes(word.toLowerCase()));
    for (const { epoch } of [...this.#journal.epochs(session.key)].reverse()) {
      const passages: Passage[] = [];
      const range = { after: 0, limitBytes: Number.MAX_SAFE_INTEGER };
      const { items } = this.#journal.read(session.key, epoch, range);
      for (const item of items) addToPassages(passages, item);
      const found = passages.reverse().find((passage) => hasAll(passage.text));
      if (found === undefined) continue;
      const inside = items.filter((item) => item.first >= found.first && item.last <= found.last);
      return { ...passageSnippet(inside, words), epoch };
    }
    const title = session.title ?? "";
    return hasAll(title) ? snippetOf(title, words) : undefined;
  }
}
