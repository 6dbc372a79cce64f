/**
 * Checks the content of an accepted form against its schema: the restricted, flat JSON Schema of ACP elicitation. Lenient where
 * the schema is unknown to us: an agent's newer keyword never makes a valid answer wrong. Pure.
 */
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";

function allowedValues(schema: JsonObject): Json[] | undefined {
  const listed = arrayAt(schema, "enum");
  if (listed !== undefined) return listed as Json[];
  const titled = arrayAt(schema, "oneOf") ?? arrayAt(schema, "anyOf");
  if (titled === undefined) return undefined;
  const values = titled.map((entry) => (isObject(entry) ? entry["const"] : undefined));
  return values.every((value) => value !== undefined) ? (values as Json[]) : undefined;
}

function checkString(schema: JsonObject, value: string): string | undefined {
  const min = numberAt(schema, "minLength");
  const max = numberAt(schema, "maxLength");
  const length = [...value].length;
  if (min !== undefined && length < min) return `must have at least ${min} characters`;
  if (max !== undefined && length > max) return `must have at most ${max} characters`;
  return undefined;
}

function checkNumber(schema: JsonObject, value: number): string | undefined {
  const min = numberAt(schema, "minimum");
  const max = numberAt(schema, "maximum");
  if (schema["type"] === "integer" && !Number.isInteger(value)) return "must be a whole number";
  if (min !== undefined && value < min) return `must be at least ${min}`;
  if (max !== undefined && value > max) return `must be at most ${max}`;
  return undefined;
}

function checkArray(schema: JsonObject, value: readonly Json[]): string | undefined {
  const min = numberAt(schema, "minItems");
  const max = numberAt(schema, "maxItems");
  if (min !== undefined && value.length < min) return `needs at least ${min} choices`;
  if (max !== undefined && value.length > max) return `takes at most ${max} choices`;
  const allowed = allowedValues(objectAt(schema, "items") ?? {});
  if (allowed !== undefined && value.some((entry) => !allowed.includes(entry)))
    return "has a value that is not offered";
  return undefined;
}

const TYPE_NAMES: ReadonlyMap<string, string> = new Map([
  ["string", "text"],
  ["number", "a number"],
  ["integer", "a whole number"],
  ["boolean", "true or false"],
  ["array", "a list"],
]);

function hasType(type: string, value: Json): boolean {
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return typeof value === "number";
  return typeof value === type;
}

function checkValue(schema: JsonObject, value: Json): string | undefined {
  const type = stringAt(schema, "type");
  const name = type === undefined ? undefined : TYPE_NAMES.get(type);
  if (type !== undefined && name !== undefined && !hasType(type, value)) return `must be ${name}`;
  const allowed = Array.isArray(value) ? undefined : allowedValues(schema);
  if (allowed !== undefined && !allowed.includes(value)) return "is none of the offered values";
  if (typeof value === "string") return checkString(schema, value);
  if (typeof value === "number") return checkNumber(schema, value);
  return Array.isArray(value) ? checkArray(schema, value) : undefined;
}

/** The first thing wrong with `content`, naming the field; undefined when it is valid. The value itself is never quoted. */
export function checkContent(schema: JsonObject | undefined, content: Json | undefined): string | undefined {
  if (schema === undefined) return undefined;
  if (content !== undefined && content !== null && !isObject(content)) return '"content" must be an object';
  const fields = new Map(Object.entries(isObject(content) ? content : {}));
  for (const name of arrayAt(schema, "required") ?? []) {
    if (typeof name === "string" && fields.get(name) === undefined) return `"${name}" is required`;
  }
  for (const [name, field] of Object.entries(objectAt(schema, "properties") ?? {})) {
    const value = fields.get(name);
    if (value === undefined || !isObject(field)) continue;
    const problem = checkValue(field, value);
    if (problem !== undefined) return `"${name}" ${problem}`;
  }
  return undefined;
}
