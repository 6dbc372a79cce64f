import { createMemoryStore } from "../../src/store/memory-store.ts";
import { openStore } from "../../src/store/open-store.ts";
import { ManualClock } from "../support/manual-clock.ts";
import { type MakeStore, storeSuite } from "./store.suite.ts";
import { storeRecordsSuite } from "./store-records.suite.ts";
import { storeSearchSuite } from "./store-search.suite.ts";

const STORES: readonly (readonly [string, MakeStore])[] = [
  ["memory", createMemoryStore],
  ["sqlite", (hooks) => openStore({ path: ":memory:", scheduler: new ManualClock(), ...hooks }).store],
];

for (const [name, make] of STORES) {
  storeSuite(name, make);
  storeSearchSuite(name, make);
  storeRecordsSuite(name, make);
}
