/** The whole store in memory, without files or timers. */
import { LIMITS } from "../protocol/limits.ts";
import type { StoreError } from "./errors.ts";
import { MemoryDevices } from "./memory/devices.ts";
import { MemoryJournal } from "./memory/journal.ts";
import { MemoryAudit, MemoryInteractions, MemoryPrompts } from "./memory/records.ts";
import { MemorySessions } from "./memory/sessions.ts";
import type { DurableMark, Store } from "./ports.ts";

export interface MemoryStoreOptions {
  onError?(error: StoreError): void;
  /** Told by `flush()`: nothing here becomes durable by itself. */
  onDurable?(marks: readonly DurableMark[]): void;
  readonly sessionBytesMax?: number;
}

export function createMemoryStore(options: MemoryStoreOptions = {}): Store {
  const journal = new MemoryJournal({
    sessionBytesMax: options.sessionBytesMax ?? LIMITS.journalBytes,
    onError: (error) => options.onError?.(error),
    onDurable: (marks) => options.onDurable?.(marks),
  });
  const prompts = new MemoryPrompts();
  const interactions = new MemoryInteractions();
  return {
    journal,
    sessions: new MemorySessions(journal, [prompts, interactions]),
    prompts,
    interactions,
    devices: new MemoryDevices(),
    audit: new MemoryAudit(),
    close: () => {
      journal.flush();
    },
  };
}
