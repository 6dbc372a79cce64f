/** Prompt outcomes, interactions and the audit in memory. */
import type { DeviceId, InteractionId, PromptId } from "../../protocol/ids.ts";
import { lastDue, pruneEntry } from "../audit-retention.ts";
import type {
  AuditEntry,
  AuditRecord,
  AuditRetention,
  AuditStore,
  InteractionRecord,
  InteractionStore,
  PromptRecord,
  PromptStore,
  SettledRecord,
} from "../ports.ts";
import { PROMPT_KEPT_MS, PROMPTS_PER_SESSION } from "../prompt-retention.ts";
import type { SessionKey } from "../session-key.ts";
import type { SessionDependents } from "./sessions.ts";

export class MemoryPrompts implements PromptStore, SessionDependents {
  readonly #records = new Map<string, PromptRecord>();

  put(record: PromptRecord): boolean {
    this.#records.set(nameOf(record.deviceId, record.sessionKey, record.promptId), structuredClone(record));
    const ofSession = [...this.#records.values()].filter((other) => other.sessionKey === record.sessionKey);
    const newestFirst = ofSession.sort((a, b) => b.at - a.at || (a.promptId < b.promptId ? 1 : -1));
    for (const old of newestFirst.slice(PROMPTS_PER_SESSION)) this.#remove(old);
    return true;
  }

  get(deviceId: DeviceId, sessionKey: SessionKey, promptId: PromptId): PromptRecord | undefined {
    return this.#records.get(nameOf(deviceId, sessionKey, promptId));
  }

  prune(now: number): number {
    const due = [...this.#records.values()].filter((record) => record.at < now - PROMPT_KEPT_MS);
    for (const record of due) this.#remove(record);
    return due.length;
  }

  removeSession(key: SessionKey): void {
    for (const record of this.#records.values()) if (record.sessionKey === key) this.#remove(record);
  }

  #remove({ deviceId, sessionKey, promptId }: PromptRecord): void {
    this.#records.delete(nameOf(deviceId, sessionKey, promptId));
  }
}

const nameOf = (...parts: readonly string[]): string => JSON.stringify(parts);

const byOpening = (a: InteractionRecord, b: InteractionRecord): number =>
  a.openedAt - b.openedAt || (a.interactionId < b.interactionId ? -1 : 1);

export class MemoryInteractions implements InteractionStore, SessionDependents {
  readonly #records = new Map<InteractionId, InteractionRecord>();

  open(record: InteractionRecord): boolean {
    if (!this.#records.has(record.interactionId)) this.#records.set(record.interactionId, structuredClone(record));
    return true;
  }

  settle(interactionId: InteractionId, settled: SettledRecord): boolean {
    const record = this.#records.get(interactionId);
    if (record === undefined || record.settled !== undefined) return false;
    this.#records.set(interactionId, { ...record, settled: structuredClone(settled) });
    return true;
  }

  get(interactionId: InteractionId): InteractionRecord | undefined {
    return this.#records.get(interactionId);
  }

  listOpen(): readonly InteractionRecord[] {
    return [...this.#records.values()].filter((record) => record.settled === undefined).sort(byOpening);
  }

  history(sessionKey: SessionKey, limit: number): readonly InteractionRecord[] {
    const found = [...this.#records.values()].filter((record) => record.sessionKey === sessionKey);
    return found.sort(byOpening).reverse().slice(0, limit);
  }

  prune(before: number): number {
    const due = [...this.#records.values()].filter(({ settled }) => settled !== undefined && settled.at < before);
    for (const record of due) this.#records.delete(record.interactionId);
    return due.length;
  }

  removeSession(key: SessionKey): void {
    for (const record of this.#records.values()) {
      if (record.sessionKey === key) this.#records.delete(record.interactionId);
    }
  }
}

export class MemoryAudit implements AuditStore {
  #records: AuditRecord[] = [];
  #lastId = 0;

  append(entry: AuditEntry): boolean {
    this.#records.push({ ...structuredClone(entry), id: ++this.#lastId });
    return true;
  }

  prune(retention: AuditRetention): number {
    const [first] = this.#records;
    if (first === undefined) return 0;
    const lastBefore = (time: number): number => {
      const kept = this.#records.find(({ at }) => at >= time);
      return kept === undefined ? this.#lastId : kept.id - 1;
    };
    const due = lastDue(first, this.#lastId, retention, lastBefore);
    const gone = this.#records.filter(({ id }) => id <= due);
    const last = gone.at(-1);
    if (last === undefined) return 0;
    this.#records = this.#records.slice(gone.length);
    this.append(pruneEntry(retention.at, first, last));
    return gone.length;
  }

  tail(limit: number): readonly AuditRecord[] {
    return this.#records.slice(Math.max(0, this.#records.length - limit));
  }

  read(after: number, limit: number): readonly AuditRecord[] {
    return this.#records.filter(({ id }) => id > after).slice(0, limit);
  }
}
