/** The audit over SQLite. Triggers of the schema refuse any change of an entry, and let entries go from the beginning only. */
import { type AuditMark, lastDue, pruneEntry } from "../audit-retention.ts";
import type { Database, SqlRow, Statement } from "../driver.ts";
import type { AuditEntry, AuditRecord, AuditRetention, AuditStore } from "../ports.ts";
import { numberAt, objectAt, optionalText, textAt } from "./columns.ts";
import { attempt, attemptRecord, orThrow, type StoreContext } from "./guard.ts";

function auditOf(row: SqlRow): AuditRecord {
  const address = optionalText(row, "address");
  const target = optionalText(row, "target");
  const connectionId = optionalText(row, "connection");
  return {
    id: numberAt(row, "id"),
    at: numberAt(row, "at"),
    actor: {
      deviceId: textAt(row, "device"),
      ...(connectionId !== undefined && { connectionId }),
      name: textAt(row, "name"),
      ...(address !== undefined && { address }),
    },
    action: textAt(row, "action"),
    ...(target !== undefined && { target }),
    ...(row["detail"] !== null && { detail: objectAt(row, "detail") }),
  };
}

const markOf = (row: SqlRow | undefined): AuditMark | undefined =>
  row === undefined ? undefined : { id: numberAt(row, "id"), at: numberAt(row, "at") };

export class SqliteAudit implements AuditStore {
  readonly #context: StoreContext;
  readonly #database: Database;
  readonly #append: Statement;
  readonly #tail: Statement;
  readonly #read: Statement;
  readonly #first: Statement;
  readonly #last: Statement;
  readonly #firstFrom: Statement;
  readonly #lastTo: Statement;
  readonly #keepFrom: Statement;
  readonly #remove: Statement;

  constructor(context: StoreContext) {
    const { database } = context;
    this.#context = context;
    this.#database = database;
    this.#append = database.prepare(
      "INSERT INTO audit (at, device, connection, name, address, action, target, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    );
    this.#tail = database.prepare("SELECT * FROM audit ORDER BY id DESC LIMIT ?");
    this.#read = database.prepare("SELECT * FROM audit WHERE id > ? ORDER BY id LIMIT ?");
    this.#first = database.prepare("SELECT id, at FROM audit ORDER BY id LIMIT 1");
    this.#last = database.prepare("SELECT id FROM audit ORDER BY id DESC LIMIT 1");
    this.#firstFrom = database.prepare("SELECT id FROM audit WHERE at >= ? ORDER BY id LIMIT 1");
    this.#lastTo = database.prepare("SELECT id, at FROM audit WHERE id <= ? ORDER BY id DESC LIMIT 1");
    this.#keepFrom = database.prepare("UPDATE audit_head SET kept_from = ?");
    this.#remove = database.prepare("DELETE FROM audit WHERE id <= ?");
  }

  append(entry: AuditEntry): boolean {
    return attemptRecord(this.#context, "writing the audit", () => {
      this.#insert(entry);
      return true;
    });
  }

  prune(retention: AuditRetention): number {
    return attempt(this.#context, "pruning the audit", 0, () =>
      this.#database.transaction(() => {
        const first = markOf(this.#first.get());
        const last = this.#last.get();
        if (first === undefined || last === undefined) return 0;
        const lastId = numberAt(last, "id");
        const due = markOf(
          this.#lastTo.get(lastDue(first, lastId, retention, (time) => this.#lastBefore(time, lastId))),
        );
        if (due === undefined) return 0;
        this.#keepFrom.run(due.id + 1);
        this.#remove.run(due.id);
        this.#insert(pruneEntry(retention.at, first, due));
        return due.id - first.id + 1;
      }),
    );
  }

  #lastBefore(time: number, lastId: number): number {
    const kept = this.#firstFrom.get(time);
    return kept === undefined ? lastId : numberAt(kept, "id") - 1;
  }

  #insert({ at, actor, action, target, detail }: AuditEntry): void {
    this.#append.run(
      at,
      actor.deviceId,
      actor.connectionId ?? null,
      actor.name,
      actor.address ?? null,
      action,
      target ?? null,
      detail === undefined ? null : JSON.stringify(detail),
    );
  }

  tail(limit: number): readonly AuditRecord[] {
    return orThrow(this.#context, "reading the audit", () => this.#tail.all(limit).map(auditOf).reverse());
  }

  read(after: number, limit: number): readonly AuditRecord[] {
    return orThrow(this.#context, "reading the audit", () => this.#read.all(after, limit).map(auditOf));
  }
}
