import { beforeEach, describe, expect, test } from "vitest";
import { deviceId } from "../../../src/protocol/ids.ts";
import { durably } from "../../../src/store/durable.ts";
import { assembleStore } from "../../../src/store/open-store.ts";
import type { CredentialRecord, Store } from "../../../src/store/ports.ts";
import { type FragileDatabase, fragileDatabase, sqliteError } from "../../support/fragile-database.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { chunk, device, E1, interaction, keyOf, prompt, session } from "../../support/store-samples.ts";

const A = keyOf("a");
const PHONE = deviceId("phone");
const NORMAL = 1;
const FULL = 2;
const credential: CredentialRecord = { id: "c", deviceId: PHONE, kind: "refresh", secretHash: "first", createdAt: 1 };

describe("what outlives a power cut", () => {
  let database: FragileDatabase;
  let store: Store;
  /** How much of each transaction was on the disk when it returned. */
  let levels: number[];

  beforeEach(() => {
    database = fragileDatabase();
    levels = [];
    const watched = {
      ...database,
      transaction: <T>(work: () => T): T => {
        levels.push(level());
        return database.transaction(work);
      },
    };
    const context = { database: watched, onError: () => undefined, onDamaged: () => undefined };
    store = assembleStore(context, new ManualClock(), {});
    store.devices.putDevice(device("phone"));
    store.devices.putCredential(credential);
    levels = [];
  });

  const level = (): number => Number(database.prepare("PRAGMA synchronous").get()?.["synchronous"]);

  test.each<[string, (store: Store) => unknown]>([
    [
      "a device that is paired, renamed, given other scopes or revoked",
      ({ devices }) => devices.putDevice(device("phone")),
    ],
    ["a credential that is given out", ({ devices }) => devices.putCredential({ ...credential, id: "other" })],
    [
      "a secret that takes another's place",
      ({ devices }) => devices.replaceSecret("c", "first", { secretHash: "second", expiresAt: 9 }),
    ],
    ["credentials that end", ({ devices }) => devices.deleteCredentials(PHONE)],
  ])("C2.tokens %s is on the disk when the call returns, and then commits are as usual", (_what, write) => {
    write(store);
    expect(levels).toEqual([FULL]);
    expect(level()).toBe(NORMAL);
  });

  test("everything else is committed as usual: no update waits for the disk", () => {
    database.executed.length = 0;
    store.sessions.upsert(session(A));
    store.journal.append(A, E1, [chunk(1, "x")]);
    store.journal.flush();
    store.prompts.put(prompt(A, "p1"));
    store.interactions.open(interaction(A, "i1"));
    store.audit.append({ at: 1, actor: { deviceId: "phone", name: "n" }, action: "x" });
    store.devices.seen(PHONE, 1, "192.0.2.7");
    store.devices.pruneCredentials(1);
    expect(levels).not.toContain(FULL);
    expect(database.executed.join()).not.toContain("synchronous");
  });

  test("a disk that takes nothing refuses the credential, and commits are as usual after it", () => {
    database.fault = sqliteError("SQLITE_FULL");
    expect(() => store.devices.putDevice(device("laptop"))).toThrow(expect.objectContaining({ code: "disk-full" }));
    database.fault = undefined;
    expect(store.devices.getDevice(deviceId("laptop"))).toBeUndefined();
    expect(level()).toBe(NORMAL);
  });

  test("within another transaction it is refused: it could not keep its promise", () => {
    expect(() => database.transaction(() => durably(database, () => undefined))).toThrow(/transaction/);
    expect(level()).toBe(NORMAL);
  });
});
