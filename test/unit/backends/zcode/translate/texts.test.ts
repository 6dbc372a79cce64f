/** Shown text in constant memory, and cumulative tails turned into what is new. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { LiveText, LiveTexts } from "../../../../../src/backends/zcode/translate/live-text.ts";
import { overlap, TailDiff } from "../../../../../src/backends/zcode/translate/tail-diff.ts";

test("the remainder is what the full text has beyond the deltas, whatever they were", () => {
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), (deltas, rest) => {
      const text = new LiveText();
      for (const delta of deltas) text.append(delta);
      expect(text.remainder(deltas.join("") + rest)).toBe(rest);
    }),
  );
});

test("a text that does not begin with what was shown has no remainder", () => {
  const text = new LiveText();
  text.append("hello");
  expect(text.remainder("help")).toBeUndefined();
  expect(text.remainder("jello world")).toBeUndefined();
});

test("only the newest message keeps its text, and none keeps a long one", () => {
  const texts = new LiveTexts(3);
  texts.append("a", "first");
  expect(texts.get("a")?.kept).toBe("first");
  texts.append("b", "second");
  expect(texts.get("a")?.kept).toBeUndefined();
  texts.append("b", "x".repeat(70_000));
  expect(texts.get("b")?.kept).toBeUndefined();
  for (const id of ["c", "d", "e"]) texts.append(id, "x");
  expect(texts.get("a")).toBeUndefined();
});

test("the overlap is the longest suffix that is a prefix, as a slow search finds it", () => {
  const slow = (before: string, after: string): number => {
    for (let size = Math.min(before.length, after.length); size > 0; size--)
      if (before.endsWith(after.slice(0, size))) return size;
    return 0;
  };
  const word = fc.string({ unit: fc.constantFrom("a", "b", "\n"), maxLength: 12 });
  fc.assert(
    fc.property(word, word, (before, after) => {
      expect(overlap(before, after)).toBe(slow(before, after));
    }),
  );
});

test("row 28 a sliding window over distinct lines gives every line once", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 2, max: 8 }), (count, window) => {
      const lines = Array.from({ length: count }, (_, at) => `line ${at}\n`);
      const diff = new TailDiff();
      const said = lines.map((_, at) => diff.next(lines.slice(Math.max(0, at + 1 - window), at + 1).join(""))).join("");
      expect(said).toBe(lines.join(""));
    }),
  );
});

test("byte counters tell equal tails apart", () => {
  const diff = new TailDiff();
  expect(diff.next("a\na\n", 4)).toBe("a\na\n");
  expect(diff.next("a\na\n", 6)).toBe("a\n");
  expect(diff.next("a\na\n", 6)).toBe("");
  expect(diff.next("ü\n", 9)).toBe("ü\n");
});
