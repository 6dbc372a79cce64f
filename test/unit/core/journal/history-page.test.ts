import fc from "fast-check";
import { expect, test } from "vitest";
import { type HistoryItem, type HistoryPage, lastOf, pageBefore } from "../../../../src/core/journal/history-page.ts";
import { epoch } from "../../../../src/protocol/ids.ts";

const item = (name: string, seq: number): HistoryItem => ({
  epoch: epoch(name),
  item: { first: seq, last: seq, ts: seq, method: "session/update", params: {} },
});

const pageOf = (all: readonly HistoryItem[], before: number, limit: number): HistoryPage =>
  pageBefore(all, { epoch: all.at(-1)?.epoch ?? "", before }, lastOf(limit));

const nameOf = ({ epoch: name, item: { first } }: HistoryItem): string => `${name}/${first}`;

test("S1 whatever epochs a record has, pages taken one after another give all of it, in order, nothing twice", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 12 }), { maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      fc.nat({ max: 8 }),
      (lengths, limit, first) => {
        const all = lengths.flatMap((length, at) => Array.from({ length }, (_, seq) => item(`e${at}`, seq + 1)));
        let page = pageOf(all, (all.at(-1)?.item.last ?? 0) + 1, first);
        const taken = page.items.map(nameOf);
        for (let round = 0; page.hasMore && round < 100; round += 1) {
          page = pageOf(all, page.before, limit);
          expect(page.items.length).toBeGreaterThan(0);
          taken.unshift(...page.items.map(nameOf));
        }
        expect(taken).toEqual(all.map(nameOf));
      },
    ),
  );
});

test("S1 a position no page gave is an empty page or the nearest one, never a fault", () => {
  const all = [item("e0", 1), item("e1", 1), item("e1", 2)];
  expect(pageOf(all, -99, 5)).toEqual({ items: [], before: -99, hasMore: false, rest: [] });
  expect(pageOf(all, 99, 5).items).toEqual(all);
  expect(pageOf([], 1, 5)).toEqual({ items: [], before: 1, hasMore: false, rest: [] });
});

test("S1 of an epoch in which nothing has happened yet, a page is of those before it", () => {
  const all = [item("e0", 1), item("e0", 2), item("e0", 3)];
  const page = pageBefore(all, { epoch: "e1", before: 1 }, lastOf(2));
  expect(page.items.map(nameOf)).toEqual(["e0/2", "e0/3"]);
  expect(pageBefore(all, { epoch: "e1", before: page.before }, lastOf(2)).items.map(nameOf)).toEqual(["e0/1"]);
});
