/** The client's storage on IndexedDB. Where the browser has none (private windows), it forgets with the page. */
// Not by the client's front: the page opens it before there is a client.
import { type ClientStorage, memoryStorage } from "../../client/ports.ts";

const DATABASE = "acp-hub";
const STORE = "values";

function open(): Promise<IDBDatabase> {
  return new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("no database"));
    request.onblocked = () => reject(new Error("the database is in use by an older page"));
  });
}

function outcome<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error ?? new Error("the database refused"));
  });
}

/** Ready at once; what is asked of it waits for the database. */
export function indexedStorage(): ClientStorage {
  const opened: Promise<ClientStorage> = open().then(storageOn, () => memoryStorage());
  return {
    get: async (key) => (await opened).get(key),
    set: async (key, value) => (await opened).set(key, value),
    delete: async (key) => (await opened).delete(key),
    keys: async (prefix) => (await opened).keys(prefix),
  };
}

function storageOn(database: IDBDatabase): ClientStorage {
  const store = (mode: IDBTransactionMode): IDBObjectStore => database.transaction(STORE, mode).objectStore(STORE);
  return {
    get: (key) => outcome(store("readonly").get(key) as IDBRequest<unknown>),
    set: async (key, value) => {
      await outcome(store("readwrite").put(value, key));
    },
    delete: async (key) => {
      await outcome(store("readwrite").delete(key));
    },
    keys: async (prefix) => {
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      const keys = await outcome(store("readonly").getAllKeys(range));
      return keys.filter((key): key is string => typeof key === "string");
    },
  };
}
