/** Interactions over SQLite (X13). */
import { deviceId as deviceIdOf, type InteractionId, interactionId as interactionIdOf } from "../../protocol/ids.ts";
import { numberAt as jsonNumberAt, objectAt as jsonObjectAt, stringAt } from "../../protocol/json.ts";
import type { SqlRow, Statement } from "../driver.ts";
import type { InteractionRecord, InteractionStore, SettledRecord } from "../ports.ts";
import type { SessionKey } from "../session-key.ts";
import { keyAt, numberAt, objectAt, textAt } from "./columns.ts";
import { attempt, attemptRecord, orThrow, type StoreContext } from "./guard.ts";

function settledOf(row: SqlRow): SettledRecord | undefined {
  if (row["settled"] === null) return undefined;
  const value = objectAt(row, "settled");
  const answer = jsonObjectAt(value, "answer");
  const device = stringAt(value, "deviceId");
  const connectionId = stringAt(value, "connectionId");
  const name = stringAt(value, "name");
  return {
    action: stringAt(value, "action") ?? "",
    ...(answer !== undefined && { answer }),
    ...(device !== undefined && { deviceId: deviceIdOf(device) }),
    ...(connectionId !== undefined && { connectionId }),
    ...(name !== undefined && { name }),
    at: jsonNumberAt(value, "at") ?? 0,
  };
}

function interactionOf(row: SqlRow): InteractionRecord {
  const settled = settledOf(row);
  return {
    interactionId: interactionIdOf(textAt(row, "id")),
    ...(row["session_key"] !== null && { sessionKey: keyAt(row, "session_key") }),
    instanceId: textAt(row, "instance"),
    method: textAt(row, "method"),
    request: objectAt(row, "request"),
    openedAt: numberAt(row, "opened_at"),
    ...(settled !== undefined && { settled }),
  };
}

export class SqliteInteractions implements InteractionStore {
  readonly #context: StoreContext;
  readonly #open: Statement;
  readonly #settle: Statement;
  readonly #get: Statement;
  readonly #listOpen: Statement;
  readonly #history: Statement;
  readonly #prune: Statement;

  constructor(context: StoreContext) {
    const { database } = context;
    this.#context = context;
    this.#open = database.prepare(
      "INSERT INTO interactions (id, session_key, instance, method, request, opened_at) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
    );
    this.#settle = database.prepare(
      "UPDATE interactions SET settled_at = ?, settled = ? WHERE id = ? AND settled_at IS NULL",
    );
    this.#get = database.prepare("SELECT * FROM interactions WHERE id = ?");
    this.#listOpen = database.prepare("SELECT * FROM interactions WHERE settled_at IS NULL ORDER BY opened_at, id");
    this.#history = database.prepare(
      "SELECT * FROM interactions WHERE session_key = ? ORDER BY opened_at DESC, id DESC LIMIT ?",
    );
    this.#prune = database.prepare("DELETE FROM interactions WHERE settled_at < ?");
  }

  open(record: InteractionRecord): boolean {
    return attemptRecord(this.#context, "writing an interaction", () => {
      const { interactionId, sessionKey, instanceId, method, request, openedAt } = record;
      this.#open.run(interactionId, sessionKey ?? null, instanceId, method, JSON.stringify(request), openedAt);
      return true;
    });
  }

  settle(interactionId: InteractionId, settled: SettledRecord): boolean {
    return attemptRecord(this.#context, "settling an interaction", () => {
      return this.#settle.run(settled.at, JSON.stringify(settled), interactionId).changes === 1;
    });
  }

  get(interactionId: InteractionId): InteractionRecord | undefined {
    return orThrow(this.#context, "reading an interaction", () => {
      const row = this.#get.get(interactionId);
      return row === undefined ? undefined : interactionOf(row);
    });
  }

  listOpen(): readonly InteractionRecord[] {
    return orThrow(this.#context, "listing open interactions", () => this.#listOpen.all().map(interactionOf));
  }

  history(sessionKey: SessionKey, limit: number): readonly InteractionRecord[] {
    return orThrow(this.#context, "reading interactions", () =>
      this.#history.all(sessionKey, limit).map(interactionOf),
    );
  }

  prune(before: number): number {
    return attempt(this.#context, "pruning interactions", 0, () => this.#prune.run(before).changes);
  }
}
