import fc from "fast-check";
import { expect, test } from "vitest";
import { readAnswer } from "../../../../src/core/interaction/answer.ts";
import { DowngradeRun, downgradeSteps } from "../../../../src/core/interaction/downgrade.ts";
import type { JsonObject } from "../../../../src/protocol/json.ts";

const choice = fc.constantFrom("red", "green", "blue", "__skip__");
const small = fc.nat({ max: 4 });
const field: fc.Arbitrary<JsonObject> = fc.oneof(
  fc.record({ type: fc.constant("boolean"), title: fc.string() }, { requiredKeys: ["type"] }),
  fc.record(
    { type: fc.constant("string"), enum: fc.uniqueArray(choice), enumNames: fc.array(fc.string()) },
    { requiredKeys: ["type", "enum"] },
  ),
  fc.record({ type: fc.constant("string"), oneOf: fc.array(fc.record({ const: choice, title: fc.string() })) }),
  fc.record(
    {
      type: fc.constant("array"),
      items: fc.record({ enum: fc.uniqueArray(choice) }),
      minItems: small,
      maxItems: small,
    },
    { requiredKeys: ["type", "items"] },
  ),
  fc.record(
    { type: fc.constantFrom("string", "number", "integer", "array", "object"), minLength: small, minimum: small },
    { requiredKeys: ["type"] },
  ),
  fc.record({ enum: fc.array(fc.constantFrom<unknown>(null, 1, {}, [], "x")) }),
) as fc.Arbitrary<JsonObject>;

const form: fc.Arbitrary<JsonObject> = fc
  .dictionary(fc.constantFrom("a", "b", "c", "__proto__", "constructor"), field, { maxKeys: 4 })
  .chain((properties) =>
    fc.subarray(Object.keys(properties)).map((required) => ({
      sessionId: "s",
      mode: "form",
      message: "m",
      requestedSchema: { type: "object", properties, required },
    })),
  ) as fc.Arbitrary<JsonObject>;

test("X8 every way through the popups of every form ends in a valid answer, and declining always does", () => {
  fc.assert(
    fc.property(form, fc.infiniteStream(fc.nat(9)), (params, choices) => {
      const run = new DowngradeRun(params);
      for (let count = 0; count < 200; count += 1) {
        const { step, index, of } = run.current;
        expect(index).toBeLessThan(of);
        expect(new Set(step.options.map((option) => option.optionId)).size).toBe(step.options.length);
        const pick = choices.next().value ?? 0;
        // A person who is asked in circles gives up at some time.
        const option = count < 150 ? step.options[pick % step.options.length] : step.options.at(-1);
        const move = run.choose(option?.optionId ?? "");
        expect(move.kind).not.toBe("unknown-option");
        if (move.kind !== "done") continue;
        expect(readAnswer("elicitation/create", params, move.body)).toMatchObject({ kind: "answer" });
        return;
      }
      throw new Error("the popups never end");
    }),
    { numRuns: 500 },
  );
});

test("X8 a recipe that is no recipe is not followed, whatever it is", () => {
  fc.assert(
    fc.property(form, fc.jsonValue(), (params, downgrade) => {
      const steps = downgradeSteps({ ...params, _meta: { "acp-hub": { downgrade: downgrade as never } } });
      expect(steps.length).toBeGreaterThan(0);
      for (const step of steps) expect(step.options.length).toBeGreaterThan(0);
    }),
  );
});

test("X8 fewer than the schema wants is asked again instead of sent", () => {
  const run = new DowngradeRun({
    requestedSchema: {
      properties: { tags: { type: "array", minItems: 1, items: { enum: ["a", "b"] } } },
      required: ["tags"],
    },
  });
  expect(run.choose("acp-hub:0:1")).toEqual({ kind: "next" });
  expect(run.choose("acp-hub:0:3")).toEqual({ kind: "next" });
  expect(run.current.index).toBe(0);
  run.choose("acp-hub:0:0");
  expect(run.choose("acp-hub:0:3")).toEqual({
    kind: "done",
    body: { result: { action: "accept", content: { tags: ["a"] } } },
  });
});
