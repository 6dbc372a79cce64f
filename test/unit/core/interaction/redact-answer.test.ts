import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redactAnswer } from "../../../../src/core/interaction/redact-answer.ts";

const options = [{ optionId: "allow", name: "Allow", kind: "allow_once" }];

describe("answers on record", () => {
  test("X13 a permission keeps its option id, and one that was never offered only its length", () => {
    expect(redactAnswer({ options }, { outcome: { outcome: "selected", optionId: "allow" } })).toEqual({
      outcome: "selected",
      optionId: "allow",
    });
    expect(redactAnswer({ options }, { outcome: { outcome: "selected", optionId: "hunter2" } })).toEqual({
      outcome: "selected",
      optionId: { length: 7 },
    });
    expect(redactAnswer({ options }, { outcome: { outcome: "cancelled" } })).toEqual({ outcome: "cancelled" });
  });

  test("X13 a form keeps enum values and booleans, and of free text and numbers the length", () => {
    const requestedSchema = {
      type: "object",
      properties: {
        colour: { type: "string", enum: ["red", "blue"] },
        size: { type: "string", oneOf: [{ const: "s", title: "Small" }] },
        tags: { type: "array", items: { type: "string", enum: ["x"] } },
        sure: { type: "boolean" },
        password: { type: "string" },
        pin: { type: "integer" },
      },
    };
    const content = {
      colour: "red",
      size: "s",
      tags: ["x", "free"],
      sure: true,
      password: "hunter2",
      pin: 1234,
      extra: "?",
    };
    expect(redactAnswer({ requestedSchema }, { action: "accept", content })).toEqual({
      action: "accept",
      content: {
        colour: "red",
        size: "s",
        tags: ["x", { length: 4 }],
        sure: true,
        password: { length: 7 },
        pin: { length: 4 },
      },
    });
  });

  test("X13 no answer of any shape leaks a text that no request listed", () => {
    const secret = "s3cret-s3cret";
    const leaf = fc.oneof(fc.constant(secret), fc.boolean(), fc.constant(null), fc.integer());
    const value = fc.letrec((tie) => ({
      any: fc.oneof(
        { maxDepth: 4 },
        leaf,
        fc.array(tie("any"), { maxLength: 3 }),
        fc.dictionary(fc.constantFrom("a", "outcome", "optionId", "content", "action", secret), tie("any")),
      ),
    })).any;
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom("outcome", "action", "content", "_meta"), value), (answer) => {
        const request = {
          options,
          requestedSchema: { properties: { a: { type: "string" }, content: { type: "object" } } },
        };
        expect(JSON.stringify(redactAnswer(request, answer as never))).not.toContain(secret);
      }),
    );
  });
});
