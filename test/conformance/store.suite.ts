/** What every store has to do, whatever it is made of. Journal and sessions; the records are in `store-records.suite.ts`. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { sessionId } from "../../src/protocol/ids.ts";
import { coalesceItems } from "../../src/store/core-items.ts";
import type { StoreError } from "../../src/store/errors.ts";
import type { DurableMark, JournalItem, Store } from "../../src/store/ports.ts";
import { chunk, E1, E2, interaction, keyOf, prompt, session, textOf, toolCall } from "../support/store-samples.ts";

export interface StoreHooks {
  onError(error: StoreError): void;
  onDurable(marks: readonly DurableMark[]): void;
}

export type MakeStore = (hooks: StoreHooks) => Store;

const A = keyOf("a");
const B = keyOf("b");

export function storeSuite(name: string, make: MakeStore): void {
  let store: Store;
  let errors: StoreError[];
  let durable: DurableMark[];
  beforeEach(() => {
    errors = [];
    durable = [];
    store = make({ onError: (error) => errors.push(error), onDurable: (marks) => durable.push(...marks) });
  });
  afterEach(() => store.close());

  const readAll = (key = A, epoch = E1): readonly JournalItem[] => store.journal.read(key, epoch, { after: 0 }).items;

  describe(`${name}: journal`, () => {
    test("S3 what was appended is read back exactly, before and after the commit", () => {
      const items = [chunk(1, "Hello "), chunk(2, "wörld 👋"), toolCall(3, "Read a.ts")];
      store.journal.append(A, E1, items);
      for (const step of ["waiting", "committed"]) {
        const read = readAll();
        expect(
          read.map((item) => [item.first, item.last]),
          step,
        ).toEqual([
          [1, 2],
          [3, 3],
        ]);
        expect(read[0]?.pieces, step).toEqual([6, 8]);
        expect(textOf(read), step).toBe("Hello wörld 👋Read a.ts");
        expect(store.journal.flush()).toBe(true);
      }
    });

    test("S3 text comes back to the character: halves of one, NUL, marks, what looks like a row", () => {
      const texts = [
        "a\0b",
        "\ufeff\r\n",
        '\n{"f":1,"l":9,"m":{}}\n',
        "face \ud83d",
        "\ude00 done",
        "lone \udc00",
        "",
        "\u2028é",
      ];
      for (const messageId of ["joined", "alone"]) {
        const at = messageId === "joined" ? 0 : texts.length;
        store.journal.append(
          A,
          E1,
          texts.map((text, index) =>
            chunk(at + index + 1, text, { messageId: messageId === "joined" ? messageId : `m${index}` }),
          ),
        );
        store.journal.flush();
      }
      expect(textOf(readAll())).toBe(texts.join("").repeat(2));
      expect(readAll()[0]?.pieces).toEqual(texts.map((text) => text.length));
    });

    test("S3 a commit names the last durable event of each epoch once", () => {
      store.journal.append(A, E1, [chunk(1, "x"), chunk(2, "y")]);
      store.journal.append(B, E2, [chunk(7, "z")]);
      store.journal.flush();
      store.journal.flush();
      expect(durable).toEqual([
        { key: A, epoch: E1, last: 2 },
        { key: B, epoch: E2, last: 7 },
      ]);
    });

    test("S3 events that are already there are ignored, so a repeated stretch doubles nothing", () => {
      store.journal.append(A, E1, [chunk(1, "one "), chunk(2, "two ")]);
      store.journal.flush();
      store.journal.append(A, E1, [chunk(2, "two "), chunk(3, "three")]);
      store.journal.flush();
      expect(textOf(readAll())).toBe("one two three");
      expect(errors).toEqual([]);
    });

    test("S3 an item that overlaps the tail is left out and reported", () => {
      store.journal.append(A, E1, [{ ...chunk(1, "abc"), last: 3, pieces: [1, 1, 1] }]);
      store.journal.append(A, E1, [{ ...chunk(3, "cd"), last: 4, pieces: [1, 1] }]);
      expect(errors.map((error) => error.code)).toEqual(["out-of-order"]);
      expect(textOf(readAll())).toBe("abc");
    });

    test("S3 a cursor inside joined text gets the item whole, with the lengths to cut it by", () => {
      store.journal.append(A, E1, [chunk(1, "ab"), chunk(2, "cde"), chunk(3, "f")]);
      store.journal.flush();
      const page = store.journal.read(A, E1, { after: 2 });
      expect(page).toMatchObject({ hasMore: false, items: [{ first: 1, last: 3, pieces: [2, 3, 1] }] });
    });

    test("S3 a range is read in pages that meet without a gap", () => {
      for (let seq = 1; seq <= 50; seq++) {
        store.journal.append(A, E1, [toolCall(seq, `tool ${seq} `.padEnd(200, "."))]);
        if (seq % 7 === 0) store.journal.flush();
      }
      const seen: number[] = [];
      for (let after = 5; ; ) {
        const page = store.journal.read(A, E1, { after, upTo: 40, limitBytes: 1_000 });
        seen.push(...page.items.map((item) => item.first));
        after = page.items.at(-1)?.last ?? after;
        if (!page.hasMore) break;
      }
      expect(seen).toEqual(Array.from({ length: 35 }, (_, index) => index + 6));
    });

    test("S3 pages backwards end before an event and start where the limit allows", () => {
      for (let seq = 1; seq <= 20; seq++) {
        store.journal.append(A, E1, [toolCall(seq, `tool ${seq} `.padEnd(200, "."))]);
        if (seq === 13) store.journal.flush();
      }
      const near = store.journal.readBack(A, E1, 18, 1_000);
      expect(near.hasMore).toBe(true);
      expect(near.items.map((item) => item.first)).toEqual([15, 16, 17].slice(-near.items.length));
      const rest = store.journal.readBack(A, E1, near.items[0]?.first ?? 0, 1_000_000);
      expect(rest.hasMore).toBe(false);
      expect([...rest.items, ...near.items].map((item) => item.first)).toEqual(
        Array.from({ length: 17 }, (_, index) => index + 1),
      );
    });

    test("S1 epochs stand side by side in the order they began", () => {
      store.journal.append(A, E1, [chunk(1, "old")]);
      store.journal.flush();
      store.journal.append(A, E2, [chunk(1, "new "), chunk(2, "er")]);
      expect(store.journal.epochs(A).map(({ epoch, head, tail }) => [epoch, head, tail])).toEqual([
        [E1, 1, 1],
        [E2, 1, 2],
      ]);
      store.journal.flush();
      expect(textOf(readAll(A, E1))).toBe("old");
      expect(textOf(readAll(A, E2))).toBe("new er");
      expect(store.journal.epoch(B, E1)).toBeUndefined();
    });

    test("S3 missing events are owned up to: cursors before them are not exact, and the epoch is not whole", () => {
      store.journal.append(A, E1, [chunk(1, "a"), chunk(2, "b")]);
      expect(store.journal.epoch(A, E1)).toMatchObject({ exactAfter: 0, isWhole: true });
      store.journal.append(A, E1, [chunk(9, "z")]);
      expect(store.journal.epoch(A, E1)).toMatchObject({ head: 1, tail: 9, exactAfter: 8, isWhole: false });
      store.journal.flush();
      expect(store.journal.epoch(A, E1)).toMatchObject({ head: 1, tail: 9, exactAfter: 8, isWhole: false });
      store.journal.append(B, E1, [chunk(5, "late")]);
      expect(store.journal.epoch(B, E1)).toMatchObject({ head: 5, exactAfter: 4, isWhole: false });
    });

    test("C6.limits trimming without a coalescer removes the oldest and keeps the newest", () => {
      for (let seq = 1; seq <= 100; seq++) {
        store.journal.append(A, E1, [toolCall(seq, "x".repeat(1_000))]);
        store.journal.flush();
      }
      const before = store.journal.epoch(A, E1)?.bytes ?? 0;
      const freed = store.journal.trim(A, before / 4);
      const info = store.journal.epoch(A, E1);
      expect(info?.bytes).toBe(before - freed);
      expect(info?.bytes).toBeLessThanOrEqual(before / 4);
      expect(info).toMatchObject({ tail: 100, isWhole: false });
      const read = readAll();
      expect(read[0]?.first).toBe(info?.head);
      expect(info?.exactAfter).toBe((info?.head ?? 0) - 1);
      expect(read.at(-1)?.last).toBe(100);
      store.journal.append(A, E1, [chunk(101, "goes on")]);
      expect(readAll().at(-1)?.last).toBe(101);
    });

    test("C6.limits trimming coalesces the oldest first: everything is still told, cursors inside are not served", () => {
      for (let seq = 1; seq <= 400; seq++) {
        const update = {
          sessionUpdate: "tool_call_update",
          toolCallId: "t",
          status: "in_progress",
          rawOutput: "o".repeat(500),
        };
        const message = { ts: seq, method: "session/update", params: { sessionId: "s", update } };
        store.journal.append(A, E1, [{ first: seq, last: seq, message }]);
        store.journal.flush();
      }
      const before = store.journal.epoch(A, E1)?.bytes ?? 0;
      store.journal.trim(A, before / 2, coalesceItems);
      const info = store.journal.epoch(A, E1);
      expect(info).toMatchObject({ head: 1, tail: 400, isWhole: true });
      expect(info?.bytes).toBeLessThanOrEqual(before / 2);
      expect(info?.exactAfter).toBeGreaterThan(100);
      expect(info?.exactAfter).toBeLessThan(400);
      const exact = store.journal.read(A, E1, { after: info?.exactAfter ?? 0 }).items;
      expect(exact.map((item) => item.first)).toEqual(
        Array.from({ length: exact.length }, (_, index) => 401 - exact.length + index),
      );
    });

    test("a trimmed epoch that lost everything still knows its tail", () => {
      store.journal.append(A, E1, [toolCall(1, "x".repeat(100)), toolCall(2, "y".repeat(100))]);
      store.journal.trim(A, 0);
      expect(store.journal.epoch(A, E1)).toMatchObject({ head: 3, tail: 2, exactAfter: 2, isWhole: false, bytes: 0 });
      store.journal.append(A, E1, [toolCall(2, "again"), toolCall(3, "next")]);
      store.journal.flush();
      expect(textOf(readAll())).toBe("next");
      expect(store.journal.epoch(A, E1)).toMatchObject({ head: 3, tail: 3 });
    });

    test("removing a session's journal leaves the others alone", () => {
      store.journal.append(A, E1, [chunk(1, "gone")]);
      store.journal.flush();
      store.journal.append(A, E1, [chunk(2, "gone too")]);
      store.journal.append(B, E1, [chunk(1, "kept")]);
      expect(store.journal.remove(A)).toBe(true);
      store.journal.flush();
      expect(readAll()).toEqual([]);
      expect(store.journal.epochs(A)).toEqual([]);
      expect(textOf(readAll(B))).toBe("kept");
      store.journal.append(A, E1, [chunk(1, "anew")]);
      expect(textOf(readAll())).toBe("anew");
    });

    test("B7 members nobody knows survive the store", () => {
      const message = {
        ts: 1,
        method: "x/odd",
        params: { deep: [{ "a b": null, n: 1e21 }], __proto: 1 },
        future: true,
      };
      store.journal.append(A, E1, [{ first: 1, last: 1, message }]);
      store.journal.flush();
      expect(readAll()[0]?.message).toEqual(message);
    });
  });

  describe(`${name}: sessions`, () => {
    test("S2 the list is newest first, without unlisted sessions, and pages by cursor", () => {
      for (let n = 1; n <= 7; n++) store.sessions.upsert(session(keyOf(`s${n}`), { updatedAt: n * 10 }));
      store.sessions.upsert(session(keyOf("hidden"), { updatedAt: 999, isListed: false }));
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = store.sessions.list({ limit: 3, ...(cursor !== undefined && { cursor }) });
        seen.push(...page.hits.map((hit) => hit.session.sessionId));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      expect(seen).toEqual(["s7", "s6", "s5", "s4", "s3", "s2", "s1"]);
      expect(store.sessions.get(keyOf("hidden"))?.isListed).toBe(false);
    });

    test("a cursor nobody made starts over instead of failing", () => {
      store.sessions.upsert(session(A));
      for (const cursor of ["", "nonsense", "'; DROP TABLE sessions", "LTEuLTE", "x".repeat(10_000)]) {
        expect(store.sessions.list({ cursor }).hits.map((hit) => hit.session.key)).toEqual([A]);
      }
    });

    test("a record comes back as it was put, and a second put replaces it", () => {
      const full = session(A, {
        title: "Fix the parser",
        epochs: [E1, E2],
        state: "closed",
        closedAt: 5_000,
        extra: { modes: { currentModeId: "plan" }, odd: [1, null] },
      });
      store.sessions.upsert(full);
      expect(store.sessions.get(A)).toEqual(full);
      const reopened = session(A, { updatedAt: 9_000, state: "running" });
      store.sessions.upsert(reopened);
      expect(store.sessions.get(A)).toEqual(reopened);
    });

    test("the list filters by workspace and state", () => {
      store.sessions.upsert(session(keyOf("in", "/w/app"), { state: "running" }));
      store.sessions.upsert(session(keyOf("below", "/w/app/sub"), { state: "closed" }));
      store.sessions.upsert(session(keyOf("beside", "/w/apple"), { state: "waiting" }));
      const ids = (query: Parameters<typeof store.sessions.list>[0]): string[] =>
        store.sessions
          .list(query)
          .hits.map((hit) => hit.session.sessionId)
          .sort();
      expect(ids({ workspace: "/w/app" })).toEqual(["below", "in"]);
      expect(ids({ workspace: "/w/app/" })).toEqual(["below", "in"]);
      expect(ids({ state: "live" })).toEqual(["beside", "in"]);
      expect(ids({ state: "closed", workspace: "/w" })).toEqual(["below"]);
    });

    test("S9 equal ids of other agents or directories are other sessions", () => {
      store.sessions.upsert(session(keyOf("same", "/x"), { updatedAt: 1 }));
      store.sessions.upsert(session(keyOf("same", "/y"), { updatedAt: 2 }));
      expect(store.sessions.findById(sessionId("same")).map((record) => record.cwd)).toEqual(["/y", "/x"]);
    });

    test("C3.history workspaces are counted, the one used last first", () => {
      store.sessions.upsert(session(keyOf("1", "/x"), { updatedAt: 1 }));
      store.sessions.upsert(session(keyOf("2", "/x"), { updatedAt: 5 }));
      store.sessions.upsert(session(keyOf("3", "/y"), { updatedAt: 9 }));
      store.sessions.upsert(session(keyOf("4", "/z"), { updatedAt: 20, isListed: false }));
      expect(store.sessions.workspaces()).toEqual([
        { cwd: "/y", sessionCount: 1, updatedAt: 9 },
        { cwd: "/x", sessionCount: 2, updatedAt: 5 },
      ]);
    });

    test("a hub that starts closes what the last one left open", () => {
      store.sessions.upsert(session(A, { state: "running" }));
      store.sessions.upsert(session(B, { state: "closed", closedAt: 5 }));
      store.sessions.closeAll(77);
      expect(store.sessions.get(A)).toMatchObject({ state: "closed", closedAt: 77 });
      expect(store.sessions.get(B)).toMatchObject({ state: "closed", closedAt: 5 });
    });

    test("removing a session takes everything that hangs on it along", () => {
      store.sessions.upsert(session(A, { title: "treasure" }));
      store.journal.append(A, E1, [chunk(1, "treasure map")]);
      store.prompts.put(prompt(A, "p"));
      store.interactions.open(interaction(A, "i"));
      expect(store.sessions.list({ text: "treasure" }).hits).toHaveLength(1);
      expect(store.sessions.remove(A)).toBe(true);
      expect(store.sessions.get(A)).toBeUndefined();
      expect(store.journal.epochs(A)).toEqual([]);
      expect(store.prompts.get(prompt(A, "p").deviceId, A, prompt(A, "p").promptId)).toBeUndefined();
      expect(store.interactions.listOpen()).toEqual([]);
      expect(store.sessions.list({ text: "treasure" }).hits).toEqual([]);
    });

    test("C1.config retention goes by age, then by size from the oldest, and spares what is live", () => {
      const sizes = { old: 100, big: 5_000, mid: 3_000, live: 9_000, fresh: 100 };
      Object.entries(sizes).forEach(([id, size], index) => {
        store.sessions.upsert(session(keyOf(id), { updatedAt: 1_000 * (index + 1) }));
        store.journal.append(keyOf(id), E1, [toolCall(1, "x".repeat(size))]);
      });
      store.journal.flush();
      const isKept = (key: string): boolean => key === keyOf("live");
      expect(store.sessions.prune({ now: 6_000, maxAgeMs: 4_500, isKept })).toEqual([keyOf("old")]);
      expect(store.sessions.prune({ now: 6_000, maxBytes: 13_000, isKept })).toEqual([keyOf("big")]);
      expect(store.sessions.prune({ now: 6_000, maxBytes: 0, isKept })).toEqual([keyOf("mid"), keyOf("fresh")]);
      expect(store.sessions.list({}).hits.map((hit) => hit.session.sessionId)).toEqual(["live"]);
    });
  });
}
