import fc from "fast-check";
import { expect, test } from "vitest";
import { DEPTH_MAX, isTooDeep } from "../../../src/protocol/depth.ts";
import { parseFrame } from "../../../src/protocol/envelope.ts";

const nested = (levels: number, inner = ""): string => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;

test("T1 as deep as is allowed is read, one level more is not", () => {
  expect(isTooDeep(nested(DEPTH_MAX))).toBe(false);
  expect(isTooDeep(nested(DEPTH_MAX + 1))).toBe(true);
  expect(isTooDeep(`${'{"a":'.repeat(DEPTH_MAX + 1)}1${"}".repeat(DEPTH_MAX + 1)}`)).toBe(true);
});

test("T1 brackets in strings and side by side are no depth", () => {
  expect(isTooDeep(JSON.stringify({ text: "[".repeat(100_000) }))).toBe(false);
  expect(isTooDeep(JSON.stringify({ text: `\\"${"{".repeat(5000)}\\\\` }))).toBe(false);
  expect(isTooDeep(JSON.stringify(Array.from({ length: 5000 }, () => [{}])))).toBe(false);
  expect(isTooDeep(`["${"\\\\".repeat(600)}",${nested(DEPTH_MAX)}]`)).toBe(true);
});

const depthOf = (value: unknown): number =>
  typeof value !== "object" || value === null ? 0 : 1 + Math.max(0, ...Object.values(value).map(depthOf));

test("T1 of any JSON it says what walking it says", () => {
  const strings = fc.string({ unit: fc.constantFrom("[", "{", '"', "\\", "]", "}", "x") });
  const parts = fc.array(fc.tuple(fc.integer({ min: 0, max: DEPTH_MAX + 20 }), strings), {
    minLength: 1,
    maxLength: 4,
  });
  fc.assert(
    fc.property(parts, (list) => {
      const text = `[${list.map(([levels, inner]) => nested(levels, JSON.stringify(inner))).join(",")}]`;
      expect(isTooDeep(text)).toBe(depthOf(JSON.parse(text)) > DEPTH_MAX);
    }),
    { numRuns: 300 },
  );
});

test("T1 a message nested too deeply is refused with a word that says so", () => {
  const refused = parseFrame(`{"jsonrpc":"2.0","id":1,"method":"x","params":${nested(100_000)}}`);
  expect(refused).toMatchObject({ ok: false, reply: { id: null, error: { code: -32600 } } });
  expect(!refused.ok && refused.reply.error.message).toContain("nested deeper than 512 levels");
});
