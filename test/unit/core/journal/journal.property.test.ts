import fc from "fast-check";
import { expect, test } from "vitest";
import { coalesce } from "../../../../src/core/journal/coalesce.ts";
import { itemParams, type JournalItem } from "../../../../src/core/journal/item.ts";
import { Journal } from "../../../../src/core/journal/journal.ts";
import { epoch } from "../../../../src/protocol/ids.ts";
import { isObject, type JsonObject } from "../../../../src/protocol/json.ts";
import { Transcript } from "../../../support/world/transcript.ts";

const word = fc.string({ minLength: 0, maxLength: 6 });
const update: fc.Arbitrary<JsonObject> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record(
      {
        sessionUpdate: fc.constantFrom("agent_message_chunk", "agent_thought_chunk"),
        content: fc.record({ type: fc.constant("text"), text: word }),
        messageId: fc.constantFrom("a", "b"),
      },
      { requiredKeys: ["sessionUpdate", "content"] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      {
        sessionUpdate: fc.constantFrom("tool_call", "tool_call_update"),
        toolCallId: fc.constantFrom("t1", "t2"),
        status: fc.constantFrom("pending", "completed", null),
        rawOutput: word,
      },
      { requiredKeys: ["sessionUpdate", "toolCallId"] },
    ),
  },
  {
    weight: 2,
    arbitrary: fc.record(
      { sessionUpdate: fc.constantFrom("plan", "usage_update", "session_info_update"), title: word, used: fc.nat() },
      { requiredKeys: ["sessionUpdate"] },
    ),
  },
  { weight: 1, arbitrary: fc.record({ sessionUpdate: fc.constant("odd"), n: fc.nat() }) },
) as fc.Arbitrary<JsonObject>;

const updates = fc.array(update, { maxLength: 60 });

/** What a reader shows of these items. */
function shown(items: readonly JournalItem[]): unknown {
  const transcript = new Transcript();
  for (const item of items) {
    const body = itemParams(item)["update"];
    if (isObject(body)) transcript.apply(body, undefined);
  }
  return transcript.normal();
}

function shownUpdates(list: readonly JsonObject[]): unknown {
  const transcript = new Transcript();
  for (const each of list) transcript.apply(each, undefined);
  return transcript.normal();
}

function filled(list: readonly JsonObject[], bytes = 10_000_000): Journal {
  const journal = new Journal(epoch("e"), bytes);
  for (const each of list)
    journal.append(1, "session/update", { sessionId: "s", update: each }, JSON.stringify(each).length);
  return journal;
}

test("J1, S4 whatever was appended, a replay shows the same as reading every event", () => {
  fc.assert(
    fc.property(updates, (list) => {
      const journal = filled(list);
      expect(journal.tail).toBe(list.length);
      expect(shown(journal.replay())).toEqual(shownUpdates(list));
    }),
  );
});

test("J2, S3 any stretch between two events is given exactly, coalesced or page by page", () => {
  fc.assert(
    fc.property(updates, fc.nat(60), fc.nat(60), fc.nat(200), (list, from, upTo, pageBytes) => {
      const journal = filled(list);
      const after = Math.min(from, list.length);
      const until = Math.max(after, Math.min(upTo, list.length));
      const wanted = shownUpdates(list.slice(after, until));
      const between = journal.between(after, until);
      expect(between.ok && shown(between.items)).toEqual(wanted);
      const paged: JournalItem[] = [];
      for (let cursor = after; cursor < until; ) {
        const page = journal.pageAfter(cursor, until, pageBytes + 1);
        expect(page?.last).toBeGreaterThan(cursor);
        paged.push(...(page?.items ?? []));
        cursor = page?.last ?? until;
      }
      expect(shown(paged)).toEqual(wanted);
      const since = journal.since(after);
      expect(since.ok && shown(since.items)).toEqual(shownUpdates(list.slice(after)));
      expect(shown(journal.replayUntil(until))).toEqual(shownUpdates(list.slice(0, until)));
    }),
  );
});

test("J2 a cursor ahead of the end is told so", () => {
  expect(filled([]).since(1)).toEqual({ ok: false, reason: "ahead" });
});

test("J3, S3 a journal over its bound gives every cursor it still serves exactly, and says no to the others", () => {
  fc.assert(
    fc.property(
      fc.array(update, { minLength: 20, maxLength: 150 }),
      fc.integer({ min: 1500, max: 6000 }),
      (list, bytes) => {
        const journal = filled(list, bytes);
        expect(journal.tail).toBe(list.length);
        for (let cursor = 0; cursor <= list.length; cursor += 1) {
          const since = journal.since(cursor);
          if (cursor >= journal.exactAfter)
            expect(since.ok && shown(since.items)).toEqual(shownUpdates(list.slice(cursor)));
          else expect(since.ok).toBe(false);
        }
        if (journal.isWhole) expect(shown(journal.replay())).toEqual(shownUpdates(list));
        expect(journal.bytes).toBeLessThan(bytes + 1000);
      },
    ),
  );
});

test("J5 a reader without another source finds every event after its cursor, however it lags, within four bounds", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(update, fc.nat(3)), { minLength: 20, maxLength: 150 }),
      fc.integer({ min: 1500, max: 6000 }),
      (steps, bytes) => {
        let at = 0;
        const journal: Journal = new Journal(epoch("e"), bytes, true, () => at);
        const list = steps.map(([each]) => each);
        for (const [index, [each, read]] of steps.entries()) {
          journal.append(1, "session/update", { sessionId: "s", update: each }, JSON.stringify(each).length);
          if (journal.bytes <= 3 * bytes) expect(journal.exactAfter).toBeLessThanOrEqual(Math.max(at, 0));
          if (journal.exactAfter > at) at = journal.exactAfter;
          const since = journal.since(at);
          expect(since.ok && shown(since.items)).toEqual(shownUpdates(list.slice(at, index + 1)));
          at = Math.min(index + 1, at + read);
        }
      },
    ),
  );
});

test("J3 shrinking costs a constant per event: a long stream at the bound stays at the bound", () => {
  const journal = new Journal(epoch("e"), 200_000);
  let shrinks = 0;
  let before = 0;
  for (let count = 0; count < 20_000; count += 1) {
    journal.append(1, "session/update", { sessionId: "s", update: { sessionUpdate: "odd", count } }, 60);
    if (journal.exactAfter !== before) shrinks += 1;
    before = journal.exactAfter;
  }
  expect(journal.isWhole).toBe(false);
  // Each time a quarter of the bound is freed: 220 bytes an event make one shrink per 227 events or so.
  expect(shrinks).toBeLessThan(120);
});

test("J4 a copy made item by item is as exact as the original, wherever it begins", () => {
  fc.assert(
    fc.property(updates, fc.nat(60), fc.nat(60), (list, split, cursor) => {
      const journal = filled(list);
      const at = Math.min(split, list.length);
      const copy = filled(list.slice(0, at));
      const rest = journal.itemsAfter(at);
      if (rest.ok) for (const item of rest.items) copy.put(item, 100);
      expect(copy.tail).toBe(journal.tail);
      expect(copy.exactAfter).toBe(0);
      const from = Math.min(cursor, list.length);
      const since = copy.since(from);
      expect(since.ok && shown(since.items)).toEqual(shownUpdates(list.slice(from)));
    }),
  );
});

test("J4 a copy of a journal that has shrunk never serves a cursor inside what was joined", () => {
  fc.assert(
    fc.property(
      fc.array(update, { minLength: 20, maxLength: 120 }),
      fc.array(update, { maxLength: 20 }),
      (list, more) => {
        const journal = filled(list, 2500);
        const copy = new Journal(epoch("e"), 10_000_000);
        for (const item of journal.everything()) copy.put(item, 100);
        // What the root says of itself: a merged item does not show from where on it is exact.
        copy.limitExactness(journal.exactAfter, journal.isWhole);
        for (const each of more) {
          const seq = journal.append(2, "session/update", { sessionId: "s", update: each }, 80);
          const exact = journal.itemsAfter(seq - 1);
          if (exact.ok) for (const item of exact.items) copy.put(item, 100);
        }
        const whole = [...list, ...more];
        for (let cursor = copy.exactAfter; cursor <= whole.length; cursor += 1) {
          const since = copy.since(cursor);
          expect(since.ok && shown(since.items)).toEqual(shownUpdates(whole.slice(cursor)));
        }
        expect(copy.tail).toBe(whole.length);
      },
    ),
  );
});

test("S4 coalescing twice changes nothing more", () => {
  fc.assert(
    fc.property(updates, (list) => {
      const once = filled(list).replay();
      expect(shown(coalesce(once))).toEqual(shown(once));
      expect(coalesce(once)).toHaveLength(once.length);
    }),
  );
});
