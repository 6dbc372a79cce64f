import { describe, expect, it } from "vitest";
import { checkForm, initialValues, readForm } from "../../../src/client/elicitation-form.ts";
import type { JsonObject } from "../../../src/protocol/json.ts";

const schema: JsonObject = {
  type: "object",
  required: ["name", "level", "tags"],
  properties: {
    name: { type: "string", title: "Name", minLength: 2, maxLength: 5 },
    mail: { type: "string", format: "email" },
    when: { type: "string", format: "date-time" },
    level: {
      type: "string",
      oneOf: [
        { const: "a", title: "Alpha", description: "first" },
        { const: "b", title: "Beta" },
      ],
    },
    port: { type: "integer", minimum: 1, maximum: 10, default: 3 },
    ratio: { type: "number" },
    isLoud: { type: "boolean", default: true },
    tags: { type: "array", minItems: 1, maxItems: 2, items: { type: "string", enum: ["x", "y", "z"] } },
    code: { type: "string", pattern: "^[A-Z]+$" },
  },
};

const fields = readForm(schema);
const values = { ...initialValues(fields), name: "Ann", level: "b", tags: ["x"] };
const errorOf = (change: Record<string, string | boolean | string[]>, name: string): string | undefined => {
  const result = checkForm(fields, { ...values, ...change });
  return result.ok ? undefined : result.errors[name];
};

describe("elicitation form", () => {
  it("keeps the schema's order and reads every primitive type, enums and defaults", () => {
    expect(fields.map((field) => [field.name, field.kind])).toEqual([
      ["name", "text"],
      ["mail", "text"],
      ["when", "text"],
      ["level", "choice"],
      ["port", "number"],
      ["ratio", "number"],
      ["isLoud", "boolean"],
      ["tags", "choices"],
      ["code", "text"],
    ]);
    expect(initialValues(fields)).toMatchObject({ port: "3", isLoud: true, level: "", tags: [] });
  });

  it("gives typed content and leaves empty optional fields out", () => {
    expect(checkForm(fields, values)).toEqual({
      ok: true,
      content: { name: "Ann", level: "b", port: 3, isLoud: true, tags: ["x"] },
    });
  });

  it.each([
    ["name", { name: "" }, "Fill this in"],
    ["name", { name: "A" }, "At least 2 characters"],
    ["name", { name: "Annabel" }, "At most 5 characters"],
    ["mail", { mail: "nobody" }, "Enter an email address"],
    ["when", { when: "soon" }, "Enter a date and time"],
    ["level", { level: "" }, "Choose one"],
    ["level", { level: "c" }, "Choose one of the list"],
    ["port", { port: "1.5" }, "Enter a whole number"],
    ["port", { port: "11" }, "At most 10"],
    ["ratio", { ratio: "much" }, "Enter a number"],
    ["tags", { tags: [] }, "Choose at least 1"],
    ["tags", { tags: ["x", "y", "z"] }, "Choose at most 2"],
    ["code", { code: "abc" }, "Does not have the expected form"],
  ])("names what is wrong with %s", (name, change, message) => {
    expect(errorOf(change, name)).toBe(message);
  });

  it("does not hold a broken pattern against the person", () => {
    const broken = readForm({ properties: { a: { type: "string", pattern: "(" } } });
    expect(checkForm(broken, { a: "x" })).toEqual({ ok: true, content: { a: "x" } });
  });

  it("gives a local date and time its zone", () => {
    const result = checkForm(fields, { ...values, when: "2026-01-02T03:04" });
    expect(result.ok && result.content["when"]).toMatch(/^2026-01-0\dT\d{2}:04:00\.000Z$/);
  });
});
