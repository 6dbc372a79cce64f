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

/** Committed at once, and not when the page gets round to it: what is written as the page goes would be undone with it. */
function written(database: IDBDatabase, change: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = database.transaction(STORE, "readwrite");
  change(transaction.objectStore(STORE));
  transaction.commit();
  return new Promise((resolve, reject) => {
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error ?? new Error("the database refused"));
  });
}

function storageOn(database: IDBDatabase): ClientStorage {
  const reading = (): IDBObjectStore => database.transaction(STORE, "readonly").objectStore(STORE);
  return {
    get: (key) => outcome(reading().get(key) as IDBRequest<unknown>),
    set: (key, value) => written(database, (store) => void store.put(value, key)),
    delete: (key) => written(database, (store) => void store.delete(key)),
    keys: async (prefix) => {
      const range = IDBKeyRange.bound(prefix, `${prefix}\uffff`);
      const keys = await outcome(reading().getAllKeys(range));
      return keys.filter((key): key is string => typeof key === "string");
    },
  };
}
