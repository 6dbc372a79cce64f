/**
 * What is done with the journal behind its back: a commit stays cheap, and everything written since the last quiet moment is
 * read once for three purposes. Its words go into the text index (a word costs more than a whole update may), the many small
 * rows of a slow stream become few (a token in a row of its own costs five times its size), and the rows are packed.
 */
import type { Epoch } from "../../protocol/ids.ts";
import type { Database, SqlRow, Statement } from "../driver.ts";
import { EpochBuffer } from "../epoch-buffer.ts";
import { ALL_EVENTS, decodeBody } from "../journal-body.ts";
import { bodyAt, PACKED_ROW_CHARS, packBody, workBytesAt } from "../packed-body.ts";
import type { JoinRule, JournalItem } from "../ports.ts";
import { addToPassages, type Passage } from "../search-text.ts";
import { keyAt, numberAt, textAt } from "./columns.ts";
import type { SearchTables } from "./search-tables.ts";

export class Digest {
  readonly #database: Database;
  readonly #search: SearchTables;
  readonly #join: JoinRule;
  readonly #behind: Statement;
  readonly #rows: Statement;
  readonly #advance: Statement;
  readonly #delete: Statement;
  readonly #insert: Statement;

  constructor(database: Database, search: SearchTables, join: JoinRule) {
    this.#database = database;
    this.#search = search;
    this.#join = join;
    this.#behind = database.prepare(
      "SELECT e.id, e.session, e.name, e.digested, e.tail, i.key FROM epochs e JOIN session_ids i ON i.id = e.session " +
        "WHERE e.digested < e.tail LIMIT 1",
    );
    this.#rows = database.prepare(
      "SELECT id, last, bytes, coalesced, body, packed FROM journal WHERE epoch = ? AND last > ? ORDER BY last",
    );
    this.#advance = database.prepare("UPDATE epochs SET digested = ?, bytes = bytes + ? WHERE id = ?");
    this.#delete = database.prepare("DELETE FROM journal WHERE id = ?");
    this.#insert = database.prepare(
      "INSERT INTO journal (epoch, first, last, bytes, body, packed) VALUES (?, ?, ?, ?, ?, ?)",
    );
  }

  /** Digests about `bytes` of journal, and merges a little of the index. True when nothing is left to do of both. */
  step(bytes: number): boolean {
    for (let left = bytes; left > 0; ) {
      const behind = this.#behind.get();
      if (behind === undefined) break;
      left -= this.#database.transaction(() => this.#digest(behind, left));
    }
    const isMerged = this.#search.merge();
    return isMerged && this.#behind.get() === undefined;
  }

  /** Digests some rows of one epoch and gives their size. */
  #digest(behind: SqlRow, bytes: number): number {
    const epoch = numberAt(behind, "id");
    const from = numberAt(behind, "digested");
    const { rows, size, isEnd } = this.#take(epoch, from, bytes);
    const items = rows.flatMap((row) => [...decodeBody(bodyAt(row), ALL_EVENTS, this.#join)].map(({ item }) => item));
    const passages: Passage[] = [];
    for (const item of items) if (item.last > from) addToPassages(passages, item);
    for (const passage of passages) this.#search.add(numberAt(behind, "session"), epoch, passage);
    const grown = this.#compact(behind, rows, items);
    const last = rows.at(-1);
    const digested = isEnd || last === undefined ? numberAt(behind, "tail") : numberAt(last, "last");
    this.#advance.run(digested, grown, epoch);
    return Math.max(size, 1);
  }

  #take(epoch: number, from: number, bytes: number): { rows: SqlRow[]; size: number; isEnd: boolean } {
    const rows: SqlRow[] = [];
    let size = 0;
    for (const row of this.#rows.iterate(epoch, from)) {
      rows.push(row);
      size += workBytesAt(row);
      if (size >= bytes) return { rows, size, isEnd: false };
    }
    return { rows, size, isEnd: true };
  }

  /** Writes the rows anew, fewer and packed, where that makes them smaller. Gives by how much the epoch's size changes. */
  #compact(behind: SqlRow, rows: readonly SqlRow[], items: readonly JournalItem[]): number {
    if (rows.some((row) => numberAt(row, "coalesced") === 1)) return 0;
    const buffer = new EpochBuffer(
      { key: keyAt(behind, "key"), epoch: textAt(behind, "name") as Epoch, join: this.#join },
      undefined,
      0,
    );
    for (const item of items) buffer.push(item);
    const better = buffer
      .rows(PACKED_ROW_CHARS)
      .map(({ first, last, body }) => ({ first, last, stored: packBody(body) }));
    const before = rows.reduce((sum, row) => sum + numberAt(row, "bytes"), 0);
    const after = better.reduce((sum, { stored }) => sum + stored.bytes, 0);
    if (after >= before && better.length >= rows.length) return 0;
    for (const row of rows) this.#delete.run(numberAt(row, "id"));
    const epoch = numberAt(behind, "id");
    for (const { first, last, stored } of better)
      this.#insert.run(epoch, first, last, stored.bytes, stored.body, stored.packed);
    return after - before;
  }
}
