import fc from "fast-check";
import { expect, test } from "vitest";
import { type HistoryItem, pageBefore } from "../../../src/hub/history-page.ts";
import { epoch } from "../../../src/protocol/ids.ts";

const item = (name: string, seq: number): HistoryItem => ({
  epoch: epoch(name),
  item: { first: seq, last: seq, ts: seq, method: "session/update", params: {} },
});

const nameOf = ({ epoch: name, item: { first } }: HistoryItem): string => `${name}/${first}`;

test("S1 whatever epochs a record has, pages taken one after another give all of it, in order, nothing twice", () => {
  fc.assert(
    fc.property(
      fc.array(fc.nat({ max: 12 }), { maxLength: 4 }),
      fc.integer({ min: 1, max: 7 }),
      fc.nat({ max: 8 }),
      (lengths, limit, first) => {
        const all = lengths.flatMap((length, at) => Array.from({ length }, (_, seq) => item(`e${at}`, seq + 1)));
        let page = pageBefore(all, (all.at(-1)?.item.last ?? 0) + 1, first);
        const taken = page.items.map(nameOf);
        for (let round = 0; page.hasMore && round < 100; round += 1) {
          page = pageBefore(all, page.before, limit);
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
  expect(pageBefore(all, -99, 5)).toEqual({ items: [], before: -99, hasMore: false });
  expect(pageBefore(all, 99, 5).items).toEqual(all);
  expect(pageBefore([], 1, 5)).toEqual({ items: [], before: 1, hasMore: false });
});
