import fc from "fast-check";
import { expect, test } from "vitest";
import { guaranteedCapabilities, mergeCapabilities } from "../../../src/core/capabilities.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";

const leaf = fc.oneof(fc.boolean(), fc.constant({}), fc.record({ x: fc.boolean() }));
const capabilities = fc.dictionary(
  fc.constantFrom("fs", "terminal", "auth", "elicitation", "plan", "session", "__proto__", "_meta"),
  fc.oneof(leaf, fc.dictionary(fc.constantFrom("form", "url", "acp-hub", "k", "__proto__"), leaf)),
) as fc.Arbitrary<JsonObject>;

/** Paths that are true or present as objects. */
function granted(value: unknown, path = ""): string[] {
  if (value === true) return [path];
  if (typeof value !== "object" || value === null) return [];
  return [path, ...Object.entries(value).flatMap(([key, member]) => granted(member, `${path}/${key}`))];
}

test("I3, I4 the merged view grants what any grants, host-bound only what the primary does, and never our own mark", () => {
  fc.assert(
    fc.property(
      fc.option(capabilities, { nil: undefined }),
      fc.array(capabilities, { maxLength: 3 }),
      (primary, remotes) => {
        const merged = mergeCapabilities(primary, remotes);
        const has = new Set(granted(merged));
        const hostBound = /^\/(fs|terminal|auth)(\/|$)/;
        const isShape = (path: string) => path !== "" && !path.startsWith("/_meta");
        const all = [primary ?? {}, ...remotes];
        for (const path of granted(primary).filter(isShape)) expect(has.has(path)).toBe(true);
        for (const path of [...has].filter(isShape)) {
          const givers = hostBound.test(path) ? [primary ?? {}] : all;
          expect(givers.some((each) => granted(each).includes(path))).toBe(true);
        }
        expect(Object.hasOwn((merged["_meta"] ?? {}) as object, "acp-hub")).toBe(false);
        expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
      },
    ),
  );
});

test("I3 _meta merges by key: the primary's value first, then the latest", () => {
  const merged = mergeCapabilities({ _meta: { a: 1 } }, [
    { _meta: { a: 2, b: 2 } },
    { _meta: { b: 3, "acp-hub": {} } },
  ]);
  expect(merged).toEqual({ _meta: { a: 1, b: 3 } });
});

test("I3 what is guaranteed is the primary's own and forms, nothing else", () => {
  expect(guaranteedCapabilities(undefined, true)).toEqual({ elicitation: { form: {} } });
  expect(guaranteedCapabilities({ elicitation: { url: {} }, plan: {} }, true)).toEqual({
    elicitation: { url: {}, form: {} },
    plan: {},
  });
  expect(guaranteedCapabilities({ plan: {} }, false)).toEqual({ plan: {} });
});
