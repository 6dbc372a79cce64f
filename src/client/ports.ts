/** What the client needs from its surroundings. A browser, Node and a test each bring their own; the client has no globals. */

/** Time and chance, so that a test owns both. */
export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** In [0, 1). */
  random(): number;
  /** Runs `task` once after `ms`; the answer takes it back. */
  after(ms: number, task: () => void): () => void;
}

export interface SocketClose {
  /** A WebSocket close code; 1006 when the peer just went away. */
  readonly code: number;
  readonly reason: string;
  /** HTTP status of a refused upgrade, where the runtime tells (browsers do not). */
  readonly status?: number;
}

export interface SocketHandlers {
  onOpen(): void;
  onText(text: string): void;
  /** Exactly once, also for a socket that never opened. */
  onClose(close: SocketClose): void;
}

/** One WebSocket, whatever implements it. */
export interface Socket {
  /** Dropped silently when the socket is not open: the close that follows tells. */
  send(text: string): void;
  close(code: number, reason: string): void;
}

export type SocketFactory = (url: string, protocols: readonly string[], handlers: SocketHandlers) => Socket;

/** A small keyed store that outlives the page (IndexedDB in the app). Values are plain JSON. */
export interface ClientStorage {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  delete(key: string): Promise<void>;
  /** Keys that start with `prefix`. */
  keys(prefix: string): Promise<readonly string[]>;
}

/** The clock of the runtime. */
export const systemClock: Clock = {
  now: () => Date.now(),
  random: () => Math.random(),
  after: (ms, task) => {
    const timer = setTimeout(task, ms);
    return () => clearTimeout(timer);
  },
};

/** A store for callers without one: forgets with the process. */
export function memoryStorage(): ClientStorage {
  const values = new Map<string, unknown>();
  return {
    get: (key) => Promise.resolve(values.get(key)),
    set: (key, value) => {
      values.set(key, structuredClone(value));
      return Promise.resolve();
    },
    delete: (key) => {
      values.delete(key);
      return Promise.resolve();
    },
    keys: (prefix) => Promise.resolve([...values.keys()].filter((key) => key.startsWith(prefix))),
  };
}
