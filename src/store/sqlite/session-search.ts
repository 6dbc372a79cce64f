/**
 * Sessions by words. The index is walked from its newest document down, so the first sessions found are the answer; the
 * walk is bounded, and a cursor says how many sessions were given and from which document the walk began.
 */
import { epoch as epochOf } from "../../protocol/ids.ts";
import type { Database, Statement } from "../driver.ts";
import { indexQuery } from "../index-text.ts";
import { decodeBody } from "../journal-body.ts";
import { bodyAt } from "../packed-body.ts";
import type { JoinRule, JournalItem, SessionHit, SessionRecord, Snippet } from "../ports.ts";
import { queryWords } from "../search-text.ts";
import { passageSnippet, snippetOf } from "../snippet.ts";
import { textAt } from "./columns.ts";
import type { DocPlace, SearchTables } from "./search-tables.ts";

/** Matches looked at for one page: about 50 ms of work at most. What is older than that is not found. */
const MATCHES_MAX = 40_000;

export interface SearchRequest {
  readonly text: string;
  readonly limit: number;
  /** Sessions of earlier pages. */
  readonly skip: number;
  /** The document earlier pages began with; absent for a first page. */
  readonly from?: number;
  /** The only sessions that can pass the other filters, where they are few; not empty. */
  readonly among?: readonly number[];
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
  readonly doc: number;
}

export class SessionSearch {
  readonly #tables: SearchTables;
  readonly #join: JoinRule;
  readonly #rows: Statement;
  readonly #epochName: Statement;

  constructor(database: Database, tables: SearchTables, join: JoinRule) {
    this.#tables = tables;
    this.#join = join;
    this.#rows = database.prepare(
      "SELECT body, packed FROM journal WHERE epoch = ? AND last >= ? AND first <= ? ORDER BY last",
    );
    this.#epochName = database.prepare("SELECT name FROM epochs WHERE id = ?");
  }

  search(request: SearchRequest): SearchAnswer {
    const from = request.from ?? this.#tables.newest();
    const words = queryWords(request.text);
    if (words.length === 0) return { hits: [], from, hasMore: false };
    const found = this.#walk(request, indexQuery(words, request.among), from);
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
    for (const { doc, session } of this.#tables.matches(query, from)) {
      if (found.length >= wanted || ++looked > MATCHES_MAX) break;
      if (seen.has(session)) continue;
      seen.add(session);
      const record = request.accept(session);
      if (record !== undefined) found.push({ record, doc });
    }
    return found;
  }

  #snippet(record: SessionRecord, doc: number, words: readonly string[]): Snippet {
    const place = this.#tables.placeOf(doc);
    if (place?.epoch === undefined) return snippetOf(record.title ?? "", words);
    const name = this.#epochName.get(place.epoch);
    const passage = passageSnippet(this.#items(place.epoch, place), words);
    return name === undefined ? passage : { ...passage, epoch: epochOf(textAt(name, "name")) };
  }

  /** The document's items, read again from the journal. */
  *#items(epoch: number, { first, last }: DocPlace): Generator<JournalItem> {
    for (const row of this.#rows.iterate(epoch, first, last)) {
      for (const { item } of decodeBody(bodyAt(row), { from: first, upTo: last }, this.#join)) yield item;
    }
  }
}
