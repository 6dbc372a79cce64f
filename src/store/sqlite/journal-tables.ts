/** The journal's statements. */
import { type Epoch, epoch as epochOf } from "../../protocol/ids.ts";
import type { Database, SqlRow, Statement } from "../driver.ts";
import type { EpochBuffer } from "../epoch-buffer.ts";
import type { EpochInfo } from "../ports.ts";
import type { SessionKey } from "../session-key.ts";
import { numberAt, textAt } from "./columns.ts";
import type { SearchTables } from "./search-tables.ts";
import type { SessionIds } from "./session-ids.ts";

export interface StoredEpoch {
  readonly rowId: number;
  readonly tail: number;
}

function infoOf(row: SqlRow): EpochInfo {
  const head = numberAt(row, "head");
  return {
    epoch: epochOf(textAt(row, "name")),
    head,
    tail: numberAt(row, "tail"),
    exactAfter: Math.max(head - 1, numberAt(row, "exact_after")),
    isWhole: head === 1 && numberAt(row, "holed") === 0,
    bytes: numberAt(row, "bytes"),
  };
}

const EPOCH_COLUMNS = "id, name, head, tail, exact_after, holed, bytes";

export class JournalTables {
  readonly #database: Database;
  readonly #ids: SessionIds;
  readonly #search: SearchTables;
  readonly #find: Statement;
  readonly #begin: Statement;
  readonly #insert: Statement;
  readonly #advance: Statement;
  readonly #after: Statement;
  readonly #before: Statement;
  readonly #one: Statement;
  readonly #all: Statement;
  readonly #bytes: Statement;
  readonly #remove: Statement;
  readonly #removeId: Statement;

  constructor(database: Database, ids: SessionIds, search: SearchTables) {
    this.#database = database;
    this.#ids = ids;
    this.#search = search;
    const prepare = (sql: string): Statement => database.prepare(sql);
    this.#find = prepare("SELECT id, tail FROM epochs WHERE session = ? AND name = ?");
    this.#begin = prepare("INSERT INTO epochs (session, name, head, tail, bytes) VALUES (?, ?, ?, 0, 0)");
    this.#insert = prepare("INSERT INTO journal (epoch, first, last, bytes, body) VALUES (?, ?, ?, ?, ?)");
    // After everything was trimmed the head stands past the tail; the next event is then the head.
    this.#advance = prepare(
      "UPDATE epochs SET head = CASE WHEN head > tail THEN ? ELSE head END, tail = ?, bytes = bytes + ?, " +
        "exact_after = max(exact_after, ?), holed = max(holed, ?) WHERE id = ?",
    );
    this.#after = prepare("SELECT first, body, packed FROM journal WHERE epoch = ? AND last > ? ORDER BY last");
    this.#before = prepare("SELECT body, packed FROM journal WHERE epoch = ? AND first < ? ORDER BY last DESC");
    this.#one = prepare(`SELECT ${EPOCH_COLUMNS} FROM epochs WHERE id = ?`);
    this.#all = prepare(`SELECT ${EPOCH_COLUMNS} FROM epochs WHERE session = ? ORDER BY id`);
    this.#bytes = prepare(
      "SELECT coalesce(sum(e.bytes), 0) AS bytes FROM epochs e JOIN session_ids s ON s.id = e.session WHERE s.key = ?",
    );
    this.#remove = prepare("DELETE FROM epochs WHERE session = ?");
    this.#removeId = prepare(
      "DELETE FROM session_ids WHERE id = ? AND NOT EXISTS (SELECT 1 FROM sessions s WHERE s.id = session_ids.id)",
    );
  }

  find(key: SessionKey, epoch: Epoch): StoredEpoch | undefined {
    const session = this.#ids.find(key);
    const row = session === undefined ? undefined : this.#find.get(session, epoch);
    return row === undefined ? undefined : { rowId: numberAt(row, "id"), tail: numberAt(row, "tail") };
  }

  /** Writes all that waits as one transaction and gives its size. Nothing of `states` is changed when it throws. */
  commit(states: readonly EpochBuffer[]): number {
    const begun = new Map<EpochBuffer, number>();
    const bytes = this.#database.transaction(() => states.reduce((sum, state) => sum + this.#write(state, begun), 0));
    for (const [state, rowId] of begun) state.rowId = rowId;
    return bytes;
  }

  rowsAfter(rowId: number | undefined, after: number): Iterable<SqlRow> {
    return rowId === undefined ? [] : this.#after.iterate(rowId, after);
  }

  /** Nearest first. */
  rowsBefore(rowId: number | undefined, before: number): Iterable<SqlRow> {
    return rowId === undefined ? [] : this.#before.iterate(rowId, before);
  }

  epoch(rowId: number | undefined): EpochInfo | undefined {
    const row = rowId === undefined ? undefined : this.#one.get(rowId);
    return row === undefined ? undefined : infoOf(row);
  }

  epochs(key: SessionKey): EpochInfo[] {
    const session = this.#ids.find(key);
    return session === undefined ? [] : this.#all.all(session).map(infoOf);
  }

  bytesOf(key: SessionKey): number {
    const row = this.#bytes.get(key);
    return row === undefined ? 0 : numberAt(row, "bytes");
  }

  /** Forgets the session's epochs with all that hangs on them; its title stays in the index while it has a record. */
  remove(key: SessionKey): void {
    const session = this.#ids.find(key);
    if (session === undefined) return;
    this.#database.transaction(() => {
      for (const row of this.#all.all(session)) this.#search.forget(session, numberAt(row, "id"));
      this.#remove.run(session);
      this.#removeId.run(session);
    });
  }

  #write(state: EpochBuffer, begun: Map<EpochBuffer, number>): number {
    const first = state.first ?? 1;
    let rowId = state.rowId;
    if (rowId === undefined) {
      rowId = this.#begin.run(this.#ids.ensure(state.key), state.epoch, first).lastId;
      begun.set(state, rowId);
    }
    let bytes = 0;
    for (const row of state.rows()) {
      const size = Buffer.byteLength(row.body);
      this.#insert.run(rowId, row.first, row.last, size, row.body);
      bytes += size;
    }
    this.#advance.run(first, state.tail, bytes, state.holeUpTo, state.holeUpTo > 0 ? 1 : 0, rowId);
    return bytes;
  }
}
