/**
 * Feeds the text index behind the journal's back: a word costs more than a whole update may, so nothing is indexed in the
 * commit. Slices run when the hub is quiet, when much has piled up, and before a search.
 */
import type { Database, SqlRow, Statement } from "../driver.ts";
import { decodeBody } from "../journal-body.ts";
import { addToDocs, type SearchDoc } from "../search-text.ts";
import { numberAt, textAt } from "./columns.ts";
import type { SearchTables } from "./search-tables.ts";

export class SearchIndex {
  readonly #database: Database;
  readonly #tables: SearchTables;
  readonly #behind: Statement;
  readonly #rows: Statement;
  readonly #advance: Statement;

  constructor(database: Database, tables: SearchTables) {
    this.#database = database;
    this.#tables = tables;
    this.#behind = database.prepare("SELECT id, session, indexed, tail FROM epochs WHERE indexed < tail LIMIT 1");
    this.#rows = database.prepare("SELECT last, bytes, body FROM journal WHERE epoch = ? AND last > ? ORDER BY last");
    this.#advance = database.prepare("UPDATE epochs SET indexed = ? WHERE id = ?");
  }

  /** Indexes about `bytes` of journal. True when nothing is left to do. */
  step(bytes: number): boolean {
    let left = bytes;
    while (left > 0) {
      const behind = this.#behind.get();
      if (behind === undefined) return true;
      left -= this.#database.transaction(() => this.#indexEpoch(behind, left));
    }
    return this.#behind.get() === undefined;
  }

  /** Indexes some rows of one epoch as one transaction and gives their size. */
  #indexEpoch(behind: SqlRow, bytes: number): number {
    const epoch = numberAt(behind, "id");
    const indexed = numberAt(behind, "indexed");
    const docs: SearchDoc[] = [];
    let done = 0;
    let last = numberAt(behind, "tail");
    for (const row of this.#rows.iterate(epoch, indexed)) {
      for (const { item } of decodeBody(textAt(row, "body"), indexed, Number.MAX_SAFE_INTEGER)) addToDocs(docs, item);
      done += numberAt(row, "bytes");
      if (done < bytes) continue;
      last = numberAt(row, "last");
      break;
    }
    for (const doc of docs) this.#tables.add(numberAt(behind, "session"), epoch, doc);
    this.#advance.run(last, epoch);
    return Math.max(done, 1);
  }
}
