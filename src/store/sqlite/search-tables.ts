/**
 * The text index's statements. A document is a passage or a title; its number only grows, so the newest match is found
 * first and a page of sessions needs no sorting. The text itself stays in the journal.
 */
import type { Database, Statement } from "../driver.ts";
import { indexDocument } from "../index-text.ts";
import type { Passage } from "../search-text.ts";
import { numberAt, optionalNumber } from "./columns.ts";

/** Where a document's text stands. */
export interface DocPlace {
  /** Absent for a session's title. */
  readonly epoch: number | undefined;
  readonly first: number;
  readonly last: number;
}

export interface Match {
  readonly doc: number;
  readonly session: number;
}

/** About 3 ms. */
const MERGE_PAGES = 32;

// `epoch` -1: all of the session, its title included.
const BELONGS = "session = ? AND (epoch = ? OR ? = -1) AND last <= ?";

export class SearchTables {
  readonly #insertDoc: Statement;
  readonly #insertText: Statement;
  readonly #titleOf: Statement;
  readonly #deleteText: Statement;
  readonly #deleteDoc: Statement;
  readonly #forgetTexts: Statement;
  readonly #forgetDocs: Statement;
  readonly #newest: Statement;
  readonly #match: Statement;
  readonly #place: Statement;
  readonly #merge: Statement;
  readonly #changes: Statement;

  constructor(database: Database) {
    this.#insertDoc = database.prepare("INSERT INTO search_docs (session, epoch, first, last) VALUES (?, ?, ?, ?)");
    this.#insertText = database.prepare("INSERT INTO search (rowid, body) VALUES (?, ?)");
    this.#titleOf = database.prepare("SELECT id FROM search_docs WHERE session = ? AND epoch IS NULL");
    this.#deleteText = database.prepare("DELETE FROM search WHERE rowid = ?");
    this.#deleteDoc = database.prepare("DELETE FROM search_docs WHERE id = ?");
    this.#forgetTexts = database.prepare(
      `DELETE FROM search WHERE rowid IN (SELECT id FROM search_docs WHERE ${BELONGS})`,
    );
    this.#forgetDocs = database.prepare(`DELETE FROM search_docs WHERE ${BELONGS}`);
    this.#newest = database.prepare("SELECT coalesce(max(id), 0) AS id FROM search_docs");
    this.#match = database.prepare(
      "SELECT d.id, d.session FROM search CROSS JOIN search_docs d ON d.id = search.rowid " +
        "WHERE search MATCH ? AND search.rowid <= ? ORDER BY search.rowid DESC",
    );
    this.#place = database.prepare("SELECT epoch, first, last FROM search_docs WHERE id = ?");
    this.#merge = database.prepare(`INSERT INTO search (search, rank) VALUES ('merge', ${MERGE_PAGES})`);
    this.#changes = database.prepare("SELECT total_changes() AS changes");
  }

  add(session: number, epoch: number, doc: Passage): void {
    const { lastId } = this.#insertDoc.run(session, epoch, doc.first, doc.last);
    this.#insertText.run(lastId, indexDocument(doc.text, session));
  }

  /** Puts the session's title into the index in place of the one before. */
  setTitle(session: number, title: string | undefined): void {
    for (const row of this.#titleOf.all(session)) {
      this.#deleteText.run(numberAt(row, "id"));
      this.#deleteDoc.run(numberAt(row, "id"));
    }
    if (title === undefined || title === "") return;
    const { lastId } = this.#insertDoc.run(session, null, 0, 0);
    this.#insertText.run(lastId, indexDocument(title, session));
  }

  /** Forgets a session's documents, or those of one epoch up to an event. */
  forget(session: number, epoch = -1, upTo: number = Number.MAX_SAFE_INTEGER): void {
    this.#forgetTexts.run(session, epoch, epoch, upTo);
    this.#forgetDocs.run(session, epoch, epoch, upTo);
  }

  /** The number of the newest document: a search that starts here sees none that come later. */
  newest(): number {
    const row = this.#newest.get();
    return row === undefined ? 0 : numberAt(row, "id");
  }

  /** Documents that match, newest first, from number `from` down. Leave the loop to stop. */
  *matches(query: string, from: number): Generator<Match> {
    for (const row of this.#match.iterate(query, from)) {
      yield { doc: numberAt(row, "id"), session: numberAt(row, "session") };
    }
  }

  /** Puts segments of the index together, a step of it; true when nothing is left to merge. */
  merge(): boolean {
    const before = this.#changed();
    this.#merge.run();
    // The command itself counts as one change.
    return this.#changed() - before < 2;
  }

  placeOf(doc: number): DocPlace | undefined {
    const row = this.#place.get(doc);
    if (row === undefined) return undefined;
    return { epoch: optionalNumber(row, "epoch"), first: numberAt(row, "first"), last: numberAt(row, "last") };
  }

  #changed(): number {
    const row = this.#changes.get();
    return row === undefined ? 0 : numberAt(row, "changes");
  }
}
