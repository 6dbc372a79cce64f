import fc from "fast-check";
import { parse } from "jsonc-parser";
import { describe, expect, it } from "vitest";
import { removeProperty, setProperty } from "../../../../src/cli/setup/jsonc-insert.ts";

const PATH = ["agents", "ours"] as const;
const COMMENT = fc.constantFrom("", " ", "\n", " // a note\n", "/* {,} */", "\n\n  ");

/** JSON as people leave it: comments anywhere, a comma at the end or not. */
const sloppy = (value: unknown): fc.Arbitrary<string> => {
  if (typeof value !== "object" || value === null) return fc.constant(JSON.stringify(value));
  const members = Object.entries(value).map(([key, inner]) =>
    fc.tuple(COMMENT, sloppy(inner), COMMENT).map(([a, text, b]) => `${a}${JSON.stringify(key)}:${a}${text}${b}`),
  );
  return fc
    .tuple(fc.tuple(...members), COMMENT, fc.boolean())
    .map(([texts, end, isTrailing]) => `{${texts.join(",")}${isTrailing && texts.length > 0 ? "," : ""}${end}}`);
};

/** Any but the one name that the parser which reads the result back takes for the prototype. */
const NAME = fc.string().filter((name) => name !== "__proto__");

const settings = fc
  .record({
    before: fc.option(fc.dictionary(NAME, fc.integer(), { maxKeys: 3, noNullPrototype: true }), {
      nil: undefined,
    }),
    agents: fc.option(fc.dictionary(fc.constantFrom("a", "b", "ours"), fc.boolean(), { noNullPrototype: true }), {
      nil: undefined,
    }),
    after: fc.option(fc.string(), { nil: undefined }),
  })
  .map((object) => JSON.parse(JSON.stringify(object)) as { agents?: Record<string, unknown> });

const withOurs = settings.chain((object) => fc.tuple(fc.constant(object), sloppy(object)));

describe("one property of a settings file", () => {
  it("is set in any text, and everything else still says the same", () => {
    fc.assert(
      fc.property(withOurs, ([object, text]) => {
        expect(parse(setProperty(text, PATH, { x: [1] }))).toEqual({
          ...object,
          agents: { ...object.agents, ours: { x: [1] } },
        });
      }),
    );
  });

  it("is taken out of any text again, and everything else still says the same", () => {
    fc.assert(
      fc.property(withOurs, ([object, text]) => {
        const { ours: _, ...others } = object.agents ?? {};
        const { agents: __, ...rest } = object;
        const left = Object.keys(others).length > 0 ? { ...rest, agents: others } : rest;
        expect(parse(removeProperty(setProperty(text, PATH, 1), PATH))).toEqual(left);
      }),
    );
  });

  it("set twice is set once", () => {
    fc.assert(
      fc.property(withOurs, ([, text]) => {
        const once = setProperty(text, PATH, { x: 1 });
        expect(setProperty(once, PATH, { x: 1 })).toBe(once);
      }),
    );
  });
});
