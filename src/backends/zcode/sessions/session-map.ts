/** The port that keeps which backend session an ACP id stands for, and its twin in memory. */

export interface LazyRecord {
  readonly cwd: string;
  /** Absent until the session was used. */
  readonly zcodeSid?: string;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  readonly choice?: { readonly model?: string; readonly thought?: string };
}

export type LazyTable = ReadonlyMap<string, LazyRecord>;

export interface SessionMap {
  /** All records as they stand now. */
  read(): Promise<LazyTable>;
  /** Writes one record, keeping every other. Never rejects: a session works without its record. */
  save(id: string, record: LazyRecord): Promise<void>;
}

/** Keeps the map for as long as the process lives. */
export class MemorySessionMap implements SessionMap {
  readonly #records = new Map<string, LazyRecord>();

  read(): Promise<LazyTable> {
    return Promise.resolve(new Map(this.#records));
  }

  save(id: string, record: LazyRecord): Promise<void> {
    this.#records.set(id, { ...this.#records.get(id), ...record });
    return Promise.resolve();
  }
}
