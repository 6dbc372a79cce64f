/** Prompt outcomes over SQLite (P3). */
import { type DeviceId, deviceId as deviceIdOf, type PromptId, promptId as promptIdOf } from "../../protocol/ids.ts";
import { isObject } from "../../protocol/json.ts";
import type { SqlRow, Statement } from "../driver.ts";
import type { PromptRecord, PromptState, PromptStore } from "../ports.ts";
import { PROMPT_KEPT_MS, PROMPTS_PER_SESSION } from "../prompt-retention.ts";
import type { SessionKey } from "../session-key.ts";
import { jsonAt, keyAt, numberAt, optionalText, textAt } from "./columns.ts";
import { attempt, attemptRecord, orThrow, type StoreContext } from "./guard.ts";

const STATES: ReadonlySet<string> = new Set<PromptState>(["waiting", "running", "done"]);
const isState = (value: string): value is PromptState => STATES.has(value);

function errorAt(row: SqlRow): { readonly code: number; readonly message: string } | undefined {
  if (row["error"] === null) return undefined;
  const value = jsonAt(row, "error");
  if (!isObject(value) || typeof value["code"] !== "number" || typeof value["message"] !== "string") return undefined;
  return { code: value["code"], message: value["message"] };
}

function promptOf(row: SqlRow): PromptRecord {
  const state = textAt(row, "state");
  const stopReason = optionalText(row, "stop_reason");
  const error = errorAt(row);
  return {
    deviceId: deviceIdOf(textAt(row, "device")),
    sessionKey: keyAt(row, "session_key"),
    promptId: promptIdOf(textAt(row, "prompt")),
    contentHash: textAt(row, "hash"),
    state: isState(state) ? state : "done",
    ...(stopReason !== undefined && { stopReason }),
    ...(error !== undefined && { error }),
    at: numberAt(row, "at"),
  };
}

export class SqlitePrompts implements PromptStore {
  readonly #context: StoreContext;
  readonly #put: Statement;
  readonly #get: Statement;
  readonly #keepNewest: Statement;
  readonly #prune: Statement;

  constructor(context: StoreContext) {
    const { database } = context;
    this.#context = context;
    this.#put = database.prepare(
      `INSERT INTO prompts (session_key, device, prompt, hash, state, stop_reason, error, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET hash = excluded.hash, state = excluded.state, stop_reason = excluded.stop_reason,
         error = excluded.error, at = excluded.at`,
    );
    this.#get = database.prepare("SELECT * FROM prompts WHERE session_key = ? AND device = ? AND prompt = ?");
    this.#keepNewest = database.prepare(
      `DELETE FROM prompts WHERE session_key = ? AND (device, prompt) IN (SELECT device, prompt FROM prompts
         WHERE session_key = ? ORDER BY at DESC, prompt DESC LIMIT -1 OFFSET ${PROMPTS_PER_SESSION})`,
    );
    this.#prune = database.prepare("DELETE FROM prompts WHERE at < ?");
  }

  put(record: PromptRecord): boolean {
    return attemptRecord(this.#context, "writing a prompt's outcome", () => {
      const error = record.error === undefined ? null : JSON.stringify(record.error);
      const { sessionKey, deviceId, promptId, contentHash, state, stopReason, at } = record;
      this.#put.run(sessionKey, deviceId, promptId, contentHash, state, stopReason ?? null, error, at);
      this.#keepNewest.run(sessionKey, sessionKey);
      return true;
    });
  }

  get(deviceId: DeviceId, sessionKey: SessionKey, promptId: PromptId): PromptRecord | undefined {
    return orThrow(this.#context, "reading a prompt's outcome", () => {
      const row = this.#get.get(sessionKey, deviceId, promptId);
      return row === undefined ? undefined : promptOf(row);
    });
  }

  prune(now: number): number {
    return attempt(this.#context, "pruning prompts", 0, () => this.#prune.run(now - PROMPT_KEPT_MS).changes);
  }
}
