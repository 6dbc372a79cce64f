import fc from "fast-check";
import { expect, test } from "vitest";
import { type Encoder, Feed } from "../../../../src/core/fanout/feed.ts";
import { type CatchUpSource, Outbox } from "../../../../src/core/fanout/outbox.ts";
import { connectionId } from "../../../../src/protocol/ids.ts";

type Batch = readonly string[];
const encoder: Encoder<Batch> = {
  encode: (texts) => ({ encoded: [...texts], bytes: texts.reduce((sum, text) => sum + text.length, 0) }),
};

/** A record that gives what was published after a cursor, one text per number. */
function sourceOf(record: readonly string[]): CatchUpSource {
  return {
    tail: () => record.length,
    isMidway: false,
    historyUpTo: 0,
    gapNotice: () => undefined,
    read(cursor, upTo, maxBytes) {
      const texts: string[] = [];
      let bytes = 0;
      let last = cursor;
      while (last < upTo && (bytes < maxBytes || texts.length === 0)) {
        const text = record[last] ?? "";
        texts.push(text);
        bytes += text.length;
        last += 1;
      }
      return { texts, last };
    },
  };
}

type Move =
  | { readonly do: "publish" | "private"; readonly size: number }
  | { readonly do: "flush" | "stall" | "drain" | "join" | "withdraw" };

const move: fc.Arbitrary<Move> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("publish" as const), size: fc.integer({ min: 1, max: 400 }) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("private" as const), size: fc.integer({ min: 1, max: 50 }) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constantFrom("flush", "stall", "drain", "join", "withdraw") }) },
) as fc.Arbitrary<Move>;

interface Reader {
  readonly outbox: Outbox<Batch>;
  readonly got: string[];
  /** What it is to have seen at the end, in order: a naive queue. */
  readonly due: string[];
  stalled: boolean;
  unread: number;
}

function makeReader(n: number): Reader {
  const reader: Reader = {
    got: [],
    due: [],
    stalled: false,
    unread: 0,
    outbox: new Outbox<Batch>(
      connectionId(`r${n}`),
      {
        write: (batch, bytes) => {
          reader.got.push(...batch);
          reader.unread += reader.stalled ? bytes : 0;
        },
        buffered: () => reader.unread,
      },
      encoder,
      { pauseBytes: 300, hardBytes: 1e9 },
      () => undefined,
    ),
  };
  return reader;
}

test("B5, B6 whatever stalls and joins, every reader gets every frame once and every private message in its place", () => {
  fc.assert(
    fc.property(fc.array(move, { maxLength: 120 }), fc.integer({ min: 200, max: 3000 }), (moves, tailBytes) => {
      const feed = new Feed<Batch>(encoder, tailBytes);
      const record: string[] = [];
      const readers: Reader[] = [];
      const last = (): Reader | undefined => readers.at(-1);
      let privates = 0;
      for (const each of moves) {
        if (each.do === "publish") {
          const text = `${record.length + 1}:${"x".repeat(each.size)}`;
          record.push(text);
          feed.publish({ seq: record.length, text, audience: "all" });
          for (const reader of readers) reader.due.push(text);
        } else if (each.do === "private") {
          const reader = readers[each.size % Math.max(1, readers.length)];
          const text = `p${privates++}`;
          reader?.due.push(text);
          reader?.outbox.send(text, feed, text);
        } else if (each.do === "flush") feed.flush();
        else if (each.do === "join" && readers.length < 5) {
          const reader = makeReader(readers.length);
          readers.push(reader);
          reader.outbox.subscribe(feed, sourceOf(record), record.length);
        } else if (each.do === "stall") {
          const reader = last();
          if (reader !== undefined) reader.stalled = true;
        } else if (each.do === "drain") {
          for (const reader of readers) drain(reader);
        } else if (each.do === "withdraw") {
          const reader = last();
          const tag = `p${privates - 1}`;
          if (reader?.outbox.withdraw(tag) === true) reader.due.splice(reader.due.indexOf(tag), 1);
        }
      }
      feed.flush();
      for (const reader of readers) drain(reader);
      for (const reader of readers) {
        expect(reader.got).toEqual(reader.due);
        expect(reader.outbox.isBehind).toBe(false);
      }
    }),
    { numRuns: 300 },
  );
});

/** The socket takes everything, as often as the outbox fills it again. */
function drain(reader: Reader): void {
  reader.stalled = false;
  reader.unread = 0;
  reader.outbox.onDrain();
}

test("B5 a stalled reader holds no more than its pause mark and one page", () => {
  const feed = new Feed<Batch>(encoder, 1000);
  const record: string[] = [];
  const reader = makeReader(0);
  reader.outbox.subscribe(feed, sourceOf(record), 0);
  reader.stalled = true;
  for (let count = 0; count < 1000; count += 1) {
    record.push(`${count}:${"x".repeat(100)}`);
    feed.publish({ seq: record.length, text: record.at(-1) ?? "", audience: "all" });
    feed.flush();
  }
  expect(reader.unread).toBeLessThan(600);
  drain(reader);
  expect(reader.got).toEqual(record);
});
