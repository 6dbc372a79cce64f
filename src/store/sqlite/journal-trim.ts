/**
 * Shrinks a session's journal in steps short enough for the live path (about 10 ms each): first the oldest rows that were
 * never coalesced become one row each stretch, and only when no more of them are left outside the newest quarter the
 * oldest rows go. Each step leaves fewer bytes or fewer uncoalesced rows, so it ends.
 */
import type { Database, SqlRow, Statement } from "../driver.ts";
import { ALL_EVENTS, decodeBody, encodeItem } from "../journal-body.ts";
import { bodyAt, packBody, type StoredBody, workBytesAt } from "../packed-body.ts";
import type { Coalesce, JoinRule, JournalItem } from "../ports.ts";
import type { SessionKey } from "../session-key.ts";
import { numberAt } from "./columns.ts";
import type { SearchTables } from "./search-tables.ts";
import type { SessionIds } from "./session-ids.ts";

const STEP_BYTES = 262_144;
/** The newest part is left exact, so that cursors of clients that were just away are served. */
const EXACT_SHARE = 0.25;

interface EpochSize {
  readonly id: number;
  readonly bytes: number;
}

interface Stretch {
  readonly epoch: number;
  readonly ids: readonly number[];
  readonly first: number;
  readonly last: number;
  readonly bytes: number;
  readonly rows: readonly SqlRow[];
}

export class JournalTrim {
  readonly #database: Database;
  readonly #ids: SessionIds;
  readonly #search: SearchTables;
  readonly #join: JoinRule;
  readonly #epochs: Statement;
  readonly #oldest: Statement;
  readonly #oldestExact: Statement;
  readonly #coalescedBytes: Statement;
  readonly #delete: Statement;
  readonly #replace: Statement;
  readonly #shrink: Statement;

  constructor(database: Database, ids: SessionIds, search: SearchTables, join: JoinRule) {
    this.#database = database;
    this.#ids = ids;
    this.#search = search;
    this.#join = join;
    this.#epochs = database.prepare("SELECT id, bytes FROM epochs WHERE session = ? AND bytes > 0 ORDER BY id");
    this.#oldest = database.prepare("SELECT * FROM journal WHERE epoch = ? ORDER BY last");
    this.#oldestExact = database.prepare(
      "SELECT * FROM journal WHERE epoch = ? AND last > (SELECT coalesce(max(last), 0) FROM journal " +
        "WHERE epoch = ? AND coalesced = 1) ORDER BY last",
    );
    this.#coalescedBytes = database.prepare(
      "SELECT coalesce(sum(bytes), 0) AS bytes FROM journal WHERE epoch = ? AND coalesced = 1",
    );
    this.#delete = database.prepare("DELETE FROM journal WHERE id = ?");
    this.#replace = database.prepare(
      "INSERT INTO journal (epoch, first, last, bytes, coalesced, body, packed) VALUES (?, ?, ?, ?, 1, ?, ?)",
    );
    this.#shrink = database.prepare(
      "UPDATE epochs SET bytes = bytes - ?, exact_after = max(exact_after, ?), head = coalesce((SELECT first FROM " +
        "journal j WHERE j.epoch = epochs.id ORDER BY j.last LIMIT 1), tail + 1) WHERE id = ?",
    );
  }

  /** One step. True when the session fits. */
  step(key: SessionKey, maxBytes: number, coalesce?: Coalesce): boolean {
    const session = this.#ids.find(key);
    if (session === undefined) return true;
    const epochs = this.#epochs.all(session).map((row) => ({ id: numberAt(row, "id"), bytes: numberAt(row, "bytes") }));
    const total = epochs.reduce((sum, epoch) => sum + epoch.bytes, 0);
    if (total <= maxBytes) return true;
    const stretch = coalesce === undefined ? undefined : this.#toCoalesce(epochs, total - maxBytes * EXACT_SHARE);
    this.#database.transaction(() => {
      if (stretch !== undefined && coalesce !== undefined) this.#rewrite(stretch, coalesce);
      else this.#removeOldest(session, epochs, total - maxBytes);
    });
    return false;
  }

  /** The oldest exact rows, so long as `budget` bytes from the start reach them. */
  #toCoalesce(epochs: readonly EpochSize[], budget: number): Stretch | undefined {
    let left = budget;
    for (const { id, bytes } of epochs) {
      const room = Math.min(left - this.#coalescedBytesOf(id), STEP_BYTES);
      const exact = takeWithin(this.#oldestExact.iterate(id, id), room);
      if (exact !== undefined) return exact;
      left -= bytes;
      if (left <= 0) return undefined;
    }
    return undefined;
  }

  /** Coalesced rows always come before the exact ones of their epoch. */
  #coalescedBytesOf(epoch: number): number {
    const row = this.#coalescedBytes.get(epoch);
    return row === undefined ? 0 : numberAt(row, "bytes");
  }

  #rewrite(stretch: Stretch, coalesce: Coalesce): void {
    const items = stretch.rows.flatMap((row) => [...decodeBody(bodyAt(row), ALL_EVENTS, this.#join)]);
    const fewer = rewritten(
      items.map(({ item }) => item),
      coalesce,
    );
    for (const id of stretch.ids) this.#delete.run(id);
    const { epoch, first, last } = stretch;
    if (fewer !== undefined) this.#replace.run(epoch, first, last, fewer.bytes, fewer.body, fewer.packed);
    this.#shrink.run(stretch.bytes - (fewer?.bytes ?? 0), last, epoch);
  }

  #removeOldest(session: number, epochs: readonly EpochSize[], excess: number): void {
    const oldest = epochs[0];
    if (oldest === undefined) return;
    const stretch = takeUntil(this.#oldest.iterate(oldest.id), Math.min(excess, STEP_BYTES));
    for (const id of stretch?.ids ?? []) this.#delete.run(id);
    if (stretch !== undefined) this.#search.forget(session, oldest.id, stretch.last);
    // Without rows the sum was wrong: zero ends the loop that waits for it to shrink.
    this.#shrink.run(stretch?.bytes ?? oldest.bytes, 0, oldest.id);
  }
}

/** Undefined when nothing is left of them. */
function rewritten(items: readonly JournalItem[], coalesce: Coalesce): StoredBody | undefined {
  const body = coalesce(items).map(encodeItem).join("\n");
  return body === "" ? undefined : packBody(body);
}

/** Rows from the front until `bytes` are reached; undefined when there are none. */
function takeUntil(rows: Iterable<SqlRow>, bytes: number): Stretch | undefined {
  const taken: SqlRow[] = [];
  let sum = 0;
  for (const row of rows) {
    taken.push(row);
    sum += numberAt(row, "bytes");
    if (sum >= bytes) break;
  }
  return stretchOf(taken);
}

/** Rows from the front as long as they stay within `bytes` and a step; undefined when the first does not. */
function takeWithin(rows: Iterable<SqlRow>, bytes: number): Stretch | undefined {
  const taken: SqlRow[] = [];
  let sum = 0;
  let work = 0;
  for (const row of rows) {
    sum += numberAt(row, "bytes");
    if (sum > bytes || work >= STEP_BYTES) break;
    work += workBytesAt(row);
    taken.push(row);
  }
  return stretchOf(taken);
}

function stretchOf(rows: readonly SqlRow[]): Stretch | undefined {
  const [oldest, newest] = [rows[0], rows.at(-1)];
  if (oldest === undefined || newest === undefined) return undefined;
  return {
    epoch: numberAt(oldest, "epoch"),
    first: numberAt(oldest, "first"),
    last: numberAt(newest, "last"),
    bytes: rows.reduce((sum, row) => sum + numberAt(row, "bytes"), 0),
    ids: rows.map((row) => numberAt(row, "id")),
    rows,
  };
}
