/** How the database stands, for the command line: it asks the hub, never the store. */
import type { StoreHealth } from "../store/health.ts";

export type StorageState = StoreHealth;
export type StorageFault = NonNullable<StorageState["fault"]>["code"];
