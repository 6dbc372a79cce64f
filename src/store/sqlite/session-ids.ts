/** The small integers that stand for session keys in every table. */
import type { Database, Statement } from "../driver.ts";
import type { SessionKey } from "../session-key.ts";
import { numberAt } from "./columns.ts";

export class SessionIds {
  readonly #find: Statement;
  readonly #insert: Statement;

  constructor(database: Database) {
    this.#find = database.prepare("SELECT id FROM session_ids WHERE key = ?");
    this.#insert = database.prepare("INSERT INTO session_ids (key) VALUES (?)");
  }

  find(key: SessionKey): number | undefined {
    const row = this.#find.get(key);
    return row === undefined ? undefined : numberAt(row, "id");
  }

  ensure(key: SessionKey): number {
    return this.find(key) ?? this.#insert.run(key).lastId;
  }
}
