/**
 * Sessions by words. The index is walked from its newest document down, so the first sessions found are the answer; the
 * walk is bounded, and a cursor says how many sessions were given and from which document the walk began.
 */
import { epoch as epochOf } from "../../protocol/ids.ts";
import type { Database, Statement } from "../driver.ts";
import { decodeBody } from "../journal-body.ts";
import type { SessionHit, SessionRecord, Snippet } from "../ports.ts";
import { addToDocs, indexQuery, queryWords, type SearchDoc } from "../search-text.ts";
import { snippetOf } from "../snippet.ts";
import { numberAt, textAt } from "./columns.ts";
import type { FoundDoc, SearchTables } from "./search-tables.ts";

/** Matches looked at for one page: about 40 ms of work at most. What is older than that is not found. */
const MATCHES_MAX = 60_000;

export interface SearchRequest {
  readonly text: string;
  readonly limit: number;
  /** Sessions of earlier pages. */
  readonly skip: number;
  /** The document earlier pages began with; absent for a first page. */
  readonly from?: number;
  /** The session a document belongs to, when it passes the other filters. */
  accept(session: number): SessionRecord | undefined;
}

export interface SearchAnswer {
  readonly hits: readonly SessionHit[];
  readonly from: number;
  readonly hasMore: boolean;
}

interface Found {
  readonly record: SessionRecord;
  readonly doc: FoundDoc;
}

export class SessionSearch {
  readonly #tables: SearchTables;
  readonly #rows: Statement;
  readonly #epochName: Statement;

  constructor(database: Database, tables: SearchTables) {
    this.#tables = tables;
    this.#rows = database.prepare(
      "SELECT first, body FROM journal WHERE epoch = ? AND last >= ? AND first <= ? ORDER BY last",
    );
    this.#epochName = database.prepare("SELECT name FROM epochs WHERE id = ?");
  }

  search(request: SearchRequest): SearchAnswer {
    const from = request.from ?? this.#tables.newest();
    const words = queryWords(request.text);
    if (words.length === 0) return { hits: [], from, hasMore: false };
    const found = this.#walk(request, indexQuery(words), from);
    const page = found.slice(request.skip, request.skip + request.limit);
    return {
      hits: page.map(({ record, doc }) => ({ session: record, snippet: this.#snippet(record, doc, words) })),
      from,
      hasMore: found.length > request.skip + request.limit,
    };
  }

  /** The sessions of this page and those before, and one more if there is one. */
  #walk(request: SearchRequest, query: string, from: number): Found[] {
    const wanted = request.skip + request.limit + 1;
    const seen = new Set<number>();
    const found: Found[] = [];
    let looked = 0;
    for (const doc of this.#tables.matches(query, from)) {
      if (found.length >= wanted || ++looked > MATCHES_MAX) break;
      if (seen.has(doc.session)) continue;
      seen.add(doc.session);
      const record = request.accept(doc.session);
      if (record !== undefined) found.push({ record, doc });
    }
    return found;
  }

  #snippet(record: SessionRecord, doc: FoundDoc, words: readonly string[]): Snippet {
    if (doc.epoch === undefined) return snippetOf(record.title ?? "", words);
    const name = this.#epochName.get(doc.epoch);
    const place = name === undefined ? {} : { epoch: epochOf(textAt(name, "name")), seq: doc.first };
    return { ...snippetOf(this.#textOf(doc.epoch, doc), words), ...place };
  }

  /** The document's text, made again from the journal the way it was indexed. */
  #textOf(epoch: number, doc: FoundDoc): string {
    const docs: SearchDoc[] = [];
    for (const row of this.#rows.iterate(epoch, doc.first, doc.last)) {
      if (numberAt(row, "first") > doc.last) break;
      for (const { item } of decodeBody(textAt(row, "body"), doc.first - 1, doc.last)) addToDocs(docs, item);
    }
    return docs.map((part) => part.text).join(" ");
  }
}
