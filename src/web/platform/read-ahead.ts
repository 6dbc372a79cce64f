/**
 * Has what the program will ask for first read while the program is still on its way: a slow phone takes the answers of its
 * database only between two long tasks, and the hub is not asked for a session before the device's copy is there.
 */
import type { ClientStorage } from "../../client/ports.ts";

/** Each answer is given once, and none that was overwritten meanwhile. */
export function readAhead(storage: ClientStorage, keys: readonly string[]): ClientStorage {
  const answers = new Map(keys.map((key) => [key, storage.get(key)]));
  // A failure is told to who asks; it may be that nobody does.
  for (const answer of answers.values()) answer.catch(() => undefined);
  return {
    get: (key) => {
      const answer = answers.get(key);
      answers.delete(key);
      return answer ?? storage.get(key);
    },
    set: (key, value) => {
      answers.delete(key);
      return storage.set(key, value);
    },
    delete: (key) => {
      answers.delete(key);
      return storage.delete(key);
    },
    keys: (prefix) => storage.keys(prefix),
  };
}
