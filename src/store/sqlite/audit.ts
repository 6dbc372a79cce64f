/** The audit over SQLite. Triggers of the schema refuse any change of an entry. */
import type { SqlRow, Statement } from "../driver.ts";
import type { AuditEntry, AuditRecord, AuditStore } from "../ports.ts";
import { numberAt, objectAt, optionalText, textAt } from "./columns.ts";
import { attemptRecord, orThrow, type StoreContext } from "./guard.ts";

function auditOf(row: SqlRow): AuditRecord {
  const address = optionalText(row, "address");
  const target = optionalText(row, "target");
  return {
    id: numberAt(row, "id"),
    at: numberAt(row, "at"),
    actor: { deviceId: textAt(row, "device"), name: textAt(row, "name"), ...(address !== undefined && { address }) },
    action: textAt(row, "action"),
    ...(target !== undefined && { target }),
    ...(row["detail"] !== null && { detail: objectAt(row, "detail") }),
  };
}

export class SqliteAudit implements AuditStore {
  readonly #context: StoreContext;
  readonly #append: Statement;
  readonly #tail: Statement;
  readonly #read: Statement;

  constructor(context: StoreContext) {
    const { database } = context;
    this.#context = context;
    this.#append = database.prepare(
      "INSERT INTO audit (at, device, name, address, action, target, detail) VALUES (?, ?, ?, ?, ?, ?, ?)",
    );
    this.#tail = database.prepare("SELECT * FROM audit ORDER BY id DESC LIMIT ?");
    this.#read = database.prepare("SELECT * FROM audit WHERE id > ? ORDER BY id LIMIT ?");
  }

  append(entry: AuditEntry): boolean {
    return attemptRecord(this.#context, "writing the audit", () => {
      const { at, actor, action, target } = entry;
      const detail = entry.detail === undefined ? null : JSON.stringify(entry.detail);
      this.#append.run(at, actor.deviceId, actor.name, actor.address ?? null, action, target ?? null, detail);
      return true;
    });
  }

  tail(limit: number): readonly AuditRecord[] {
    return orThrow(this.#context, "reading the audit", () => this.#tail.all(limit).map(auditOf).reverse());
  }

  read(after: number, limit: number): readonly AuditRecord[] {
    return orThrow(this.#context, "reading the audit", () => this.#read.all(after, limit).map(auditOf));
  }
}
