import { beforeEach, describe, expect, test } from "vitest";
import type { StoreError } from "../../../src/store/errors.ts";
import { assembleStore } from "../../../src/store/open-store.ts";
import type { DurableMark, Store } from "../../../src/store/ports.ts";
import { type FragileDatabase, fragileDatabase, sqliteError } from "../../support/fragile-database.ts";
import { ManualClock } from "../../support/manual-clock.ts";
import { chunk, E1, E2, keyOf, textOf, toolCall } from "../../support/store-samples.ts";

const A = keyOf("a");

describe("group commit", () => {
  let clock: ManualClock;
  let database: FragileDatabase;
  let store: Store;
  let errors: StoreError[];
  let durable: DurableMark[];
  let lost: number;

  beforeEach(() => {
    clock = new ManualClock();
    database = fragileDatabase();
    errors = [];
    durable = [];
    lost = 0;
    const context = {
      database,
      onError: (error: StoreError) => errors.push(error),
      onDamaged: () => undefined,
      onLost: (_what: "events" | "records", count: number) => {
        lost += count;
      },
    };
    store = assembleStore(context, clock, {
      onDurable: (marks) => durable.push(...marks),
      waitingBytesMax: 100_000,
    });
  });

  const lasts = (): number[] => durable.map((mark) => mark.last);

  test("an update is on disk 40 ms after it came, together with all that came meanwhile", async () => {
    store.journal.append(A, E1, [chunk(1, "a")]);
    await clock.advance(31);
    store.journal.append(A, E1, [chunk(2, "b")]);
    await clock.advance(8);
    expect(lasts()).toEqual([]);
    await clock.advance(1);
    expect(lasts()).toEqual([2]);
    store.journal.append(A, E1, [chunk(3, "c")]);
    await clock.advance(40);
    expect(lasts()).toEqual([2, 3]);
  });

  test("a stream is written right behind one of its events, not in the way of the next", async () => {
    for (let seq = 1; seq <= 7; seq++) {
      store.journal.append(A, E1, [chunk(seq, "a")]);
      expect(lasts()).toEqual([]);
      await clock.advance(5);
    }
    store.journal.append(A, E1, [chunk(8, "a")]);
    expect(lasts()).toEqual([]);
    await clock.advance(0);
    expect(lasts()).toEqual([8]);
    await clock.advance(40);
    expect(lasts()).toEqual([8]);
  });

  test("half a megabyte does not wait for the timer", () => {
    store.journal.append(A, E1, [toolCall(1, "x".repeat(600_000))]);
    expect(lasts()).toEqual([1]);
  });

  test("a fault loses nothing: what waits is readable, tried again ever more rarely, and durable in the end", async () => {
    database.fault = sqliteError("SQLITE_FULL");
    store.journal.append(A, E1, [chunk(1, "kept ")]);
    await clock.advance(40);
    expect(errors.map((error) => error.code)).toEqual(["disk-full"]);
    store.journal.append(A, E1, [chunk(2, "safe")]);
    expect(textOf(store.journal.read(A, E1, { after: 0 }).items)).toBe("kept safe");
    await clock.advance(249);
    expect(errors).toHaveLength(1);
    await clock.advance(1);
    expect(errors).toHaveLength(2);
    await clock.advance(10_000);
    const tries = errors.length;
    expect(tries).toBeLessThan(8);
    database.fault = undefined;
    await clock.advance(5_000);
    expect(lasts()).toEqual([2]);
    expect(errors).toHaveLength(tries);
    expect(textOf(store.journal.read(A, E1, { after: 0 }).items)).toBe("kept safe");
    expect(store.journal.epoch(A, E1)).toMatchObject({ head: 1, tail: 2, isWhole: true });
  });

  test("over the bound the oldest of what waits is given up, and said so in the epoch", () => {
    store.journal.append(A, E1, [toolCall(1, "first")]);
    store.journal.flush();
    database.fault = sqliteError("SQLITE_IOERR_WRITE");
    store.journal.append(A, E1, [toolCall(2, "second")]);
    store.journal.flush();
    for (let seq = 3; seq <= 40; seq++) store.journal.append(A, E1, [toolCall(seq, "x".repeat(10_000))]);
    expect(new Set(errors.map((error) => error.code))).toEqual(new Set(["io", "overflow"]));
    database.fault = undefined;
    expect(store.journal.flush()).toBe(true);
    const read = store.journal.read(A, E1, { after: 0, limitBytes: 10_000_000 }).items;
    expect(read[0]?.first).toBe(1);
    expect(read[1]?.first).toBeGreaterThan(2);
    expect(lost).toBe((read[1]?.first ?? 0) - 2);
    expect(read.at(-1)?.last).toBe(40);
    expect(store.journal.epoch(A, E1)).toMatchObject({
      head: 1,
      tail: 40,
      exactAfter: (read[1]?.first ?? 0) - 1,
      isWhole: false,
    });
  });

  test("a fault in the middle of a commit leaves no half of it behind", () => {
    database.fault = sqliteError("SQLITE_FULL");
    store.journal.append(A, E1, [chunk(1, "a")]);
    store.journal.append(keyOf("b"), E2, [chunk(1, "b")]);
    expect(store.journal.flush()).toBe(false);
    expect(database.prepare("SELECT count(*) AS n FROM epochs").get()).toEqual({ n: 0 });
    database.fault = undefined;
    expect(store.journal.flush()).toBe(true);
    expect(durable).toHaveLength(2);
  });

  test("text of one message becomes one item, whatever it came as", () => {
    for (let seq = 1; seq <= 1_000; seq++) store.journal.append(A, E1, [chunk(seq, "ab", { messageId: "m" })]);
    store.journal.flush();
    const { items } = store.journal.read(A, E1, { after: 0 });
    expect(items).toHaveLength(1);
    expect(items[0]).toMatchObject({ first: 1, last: 1_000, message: { ts: 1_000 } });
    expect(items[0]?.pieces).toEqual(Array.from({ length: 1_000 }, () => 2));
  });

  test("text is not joined across messages, kinds, authors, prompts or a gap, nor past 64 KiB", () => {
    const by = (id: string) => ({ connectionId: id, device: "d", name: "n" });
    const from = (seq: number, over: object) => {
      const item = chunk(seq, "t");
      return { ...item, message: { ...item.message, ...over } };
    };
    store.journal.append(A, E1, [
      chunk(1, "a", { messageId: "m1" }),
      chunk(2, "b", { messageId: "m2" }),
      chunk(3, "c", { messageId: "m2", kind: "agent_thought_chunk" }),
      from(4, { by: by("c1") }),
      from(5, { by: by("c2") }),
      from(6, { by: by("c2"), promptId: "p" }),
      from(9, { by: by("c2"), promptId: "p" }),
      chunk(10, "x".repeat(60_000)),
      chunk(11, "y".repeat(6_000)),
    ]);
    expect(store.journal.read(A, E1, { after: 0 }).items.map((item) => item.first)).toEqual([
      1, 2, 3, 4, 5, 6, 9, 10, 11,
    ]);
  });

  test("close commits what waits and leaves no timer behind", () => {
    store.journal.append(A, E1, [chunk(1, "a")]);
    store.close();
    store.close();
    expect(lasts()).toEqual([1]);
    expect(clock.pendingCount).toBe(0);
  });
});
