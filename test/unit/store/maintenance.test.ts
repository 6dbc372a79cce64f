import { createHash } from "node:crypto";
import { beforeEach, describe, expect, test } from "vitest";
import type { StoreError } from "../../../src/store/errors.ts";
import { assembleStore } from "../../../src/store/open-store.ts";
import type { Store } from "../../../src/store/ports.ts";
import { type FragileDatabase, fragileDatabase } from "../../support/fragile-database.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { chunk, E1, keyOf, session, textOf, toolCall } from "../../support/store-samples.ts";

const A = keyOf("a");

/** Text that does not get smaller when it is packed. */
const noise = (seed: number, chars: number): string =>
  Array.from({ length: Math.ceil(chars / 44) }, (_, n) => createHash("sha256").update(`${seed}.${n}`).digest("base64"))
    .join("")
    .slice(0, chars);

describe("maintenance", () => {
  let clock: ManualClock;
  let database: FragileDatabase;
  let store: Store;
  let errors: StoreError[];

  beforeEach(() => {
    clock = new ManualClock();
    database = fragileDatabase();
    errors = [];
    const context = { database, onError: (error: StoreError) => errors.push(error), onDamaged: () => undefined };
    store = assembleStore(context, clock, { sessionBytesMax: 100_000 });
  });

  const checkpoints = (): number => database.executed.filter((sql) => sql.includes("wal_checkpoint")).length;
  const rowCount = (): unknown => database.prepare("SELECT count(*) AS n FROM journal").get()?.["n"];
  const textCount = (): unknown => database.prepare("SELECT count(*) AS n FROM search_docs").get()?.["n"];

  test("a checkpoint waits for 250 ms of quiet", async () => {
    for (let seq = 1; seq <= 20; seq++) {
      store.journal.append(A, E1, [toolCall(seq, "work")]);
      await clock.advance(100);
    }
    expect(checkpoints()).toBe(0);
    await clock.advance(200);
    expect(checkpoints()).toBe(1);
  });

  test("without quiet a log of 4 MiB is checkpointed all the same", async () => {
    store = assembleStore({ database, onError: () => undefined, onDamaged: () => undefined }, clock, {
      sessionBytesMax: 1e9,
    });
    for (let seq = 1; seq <= 8; seq++) {
      store.journal.append(A, E1, [toolCall(seq, "x".repeat(1_000_000))]);
      await clock.advance(10);
    }
    expect(checkpoints()).toBe(1);
  });

  test("words are indexed after 2 s of quiet, once, and nothing is left to do after that", async () => {
    store.journal.append(A, E1, [chunk(1, "hello")]);
    await clock.advance(1_900);
    expect(textCount()).toBe(0);
    await clock.advance(1_000);
    expect(textCount()).toBe(1);
    await clock.advance(60_000);
    expect(textCount()).toBe(1);
    expect(clock.pendingCount).toBe(0);
  });

  test("the index is merged by the digest alone, in its own small steps, until nothing is left to merge", async () => {
    for (let seq = 1; seq <= 100; seq++) {
      store.journal.append(A, E1, [chunk(seq, `word${seq}`)]);
      await clock.advance(3_000);
    }
    expect(database.prepare("SELECT v FROM search_config WHERE k = 'automerge'").get()).toEqual({ v: 0 });
    const changes = (): number => Number(database.prepare("SELECT total_changes() AS n").get()?.["n"]);
    const before = changes();
    database.exec("INSERT INTO search (search, rank) VALUES ('merge', 1000)");
    expect(changes() - before).toBeLessThan(2);
    expect(clock.pendingCount).toBe(0);
  });

  test("a clock that is set back by a day holds nothing up", async () => {
    store.journal.append(A, E1, [chunk(1, "hello")]);
    await clock.advance(100);
    clock.set(-86_400_000);
    await clock.advance(3_000);
    expect([textCount(), checkpoints() > 0]).toEqual([1, true]);
    expect(clock.pendingCount).toBe(0);
  });

  test("the small rows of a slow stream become few, with the same content and the same cursors", async () => {
    for (let seq = 1; seq <= 100; seq++) {
      store.journal.append(A, E1, [chunk(seq, `${seq},`, { messageId: "m" })]);
      await clock.advance(50);
    }
    expect(rowCount()).toBe(100);
    const before = store.journal.epoch(A, E1);
    await clock.advance(5_000);
    expect(rowCount()).toBe(1);
    const after = store.journal.epoch(A, E1);
    expect(after).toEqual({ ...before, bytes: after?.bytes });
    expect(after?.bytes).toBeLessThan((before?.bytes ?? 0) / 5);
    const { items } = store.journal.read(A, E1, { after: 0 });
    expect(textOf(items)).toBe(Array.from({ length: 100 }, (_, index) => `${index + 1},`).join(""));
    expect(items[0]?.pieces?.slice(8, 11)).toEqual([2, 3, 3]);
    store.journal.append(A, E1, [chunk(101, "more")]);
    expect(store.journal.read(A, E1, { after: 100 }).items.map((item) => item.first)).toEqual([101]);
  });

  test("C6.limits a session over its size is trimmed in the background, step by step", async () => {
    store.sessions.upsert(session(A));
    for (let seq = 1; seq <= 300; seq++) {
      store.journal.append(A, E1, [toolCall(seq, noise(seq, 1_000))]);
      store.journal.flush();
    }
    await clock.advance(60_000);
    const info = store.journal.epoch(A, E1);
    expect(info?.bytes).toBeLessThanOrEqual(106_250);
    expect(info?.bytes).toBeGreaterThan(50_000);
    expect(info?.tail).toBe(300);
    expect(errors).toEqual([]);
    expect(clock.pendingCount).toBe(0);
  });

  test("a fault of the background is told and rests until the next commit", async () => {
    store.journal.append(A, E1, [chunk(1, "hello")]);
    await clock.advance(300);
    database.exec("DROP TABLE search_docs");
    await clock.advance(10_000);
    expect(errors).toHaveLength(1);
    expect(textOf(store.journal.read(A, E1, { after: 0 }).items)).toBe("hello");
    store.journal.append(A, E1, [chunk(2, " again")]);
    await clock.advance(10_000);
    expect(errors).toHaveLength(2);
  });
});
