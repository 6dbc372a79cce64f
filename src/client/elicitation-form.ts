/** Reads an elicitation schema into fields a form can show, and checks what a person filled in. Pure. */
import { arrayAt, isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../protocol/json.ts";

export interface Choice {
  readonly value: string;
  readonly title: string;
  readonly description: string | undefined;
}

interface FieldBase {
  readonly name: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly isRequired: boolean;
}

export type FormField = FieldBase &
  (
    | {
        readonly kind: "text";
        readonly format: string | undefined;
        readonly minLength: number | undefined;
        readonly maxLength: number | undefined;
        readonly pattern: string | undefined;
        readonly initial: string;
      }
    | {
        readonly kind: "number";
        readonly isInteger: boolean;
        readonly minimum: number | undefined;
        readonly maximum: number | undefined;
        readonly initial: string;
      }
    | { readonly kind: "boolean"; readonly initial: boolean }
    | { readonly kind: "choice"; readonly choices: readonly Choice[]; readonly initial: string }
    | {
        readonly kind: "choices";
        readonly choices: readonly Choice[];
        readonly minItems: number | undefined;
        readonly maxItems: number | undefined;
        readonly initial: readonly string[];
      }
  );

/** What a form holds per field: text and numbers as typed, a choice by value. */
export type FormValue = string | boolean | readonly string[];
export type FormValues = Readonly<Record<string, FormValue>>;

export type FormResult =
  | { readonly ok: true; readonly content: JsonObject }
  | { readonly ok: false; readonly errors: Readonly<Record<string, string>> };

/** Fields in schema order. Unknown types become text: the agent's own check has the last word. */
export function readForm(schema: JsonObject | undefined): readonly FormField[] {
  const properties = objectAt(schema, "properties") ?? {};
  const required = new Set((arrayAt(schema, "required") ?? []).filter((name) => typeof name === "string"));
  return Object.entries(properties).map(([name, value]) =>
    readField(name, isObject(value) ? value : {}, required.has(name)),
  );
}

export function initialValues(fields: readonly FormField[]): FormValues {
  return Object.fromEntries(fields.map((field) => [field.name, field.initial]));
}

/** Checks every field. Optional fields left empty are left out of the content. */
export function checkForm(fields: readonly FormField[], values: FormValues): FormResult {
  const content: JsonObject = {};
  const errors: Record<string, string> = {};
  for (const field of fields) {
    const checked = checkField(field, values[field.name] ?? field.initial);
    if ("error" in checked) errors[field.name] = checked.error;
    else if (checked.value !== undefined) content[field.name] = checked.value;
  }
  return Object.keys(errors).length > 0 ? { ok: false, errors } : { ok: true, content };
}

function readField(name: string, schema: JsonObject, isRequired: boolean): FormField {
  const base = {
    name,
    title: stringAt(schema, "title") ?? name,
    description: stringAt(schema, "description"),
    isRequired,
  };
  const initial = schema["default"];
  switch (schema["type"]) {
    case "boolean":
      return { ...base, kind: "boolean", initial: initial === true };
    case "number":
    case "integer": {
      const range = { minimum: numberAt(schema, "minimum"), maximum: numberAt(schema, "maximum") };
      const typed = typeof initial === "number" ? String(initial) : "";
      return { ...base, kind: "number", isInteger: schema["type"] === "integer", ...range, initial: typed };
    }
    case "array": {
      const range = { minItems: numberAt(schema, "minItems"), maxItems: numberAt(schema, "maxItems") };
      const chosen = Array.isArray(initial)
        ? initial.filter((value): value is string => typeof value === "string")
        : [];
      return { ...base, kind: "choices", choices: readChoices(objectAt(schema, "items")), ...range, initial: chosen };
    }
    default:
      return readStringField(base, schema, typeof initial === "string" ? initial : "");
  }
}

function readStringField(base: FieldBase, schema: JsonObject, initial: string): FormField {
  const choices = readChoices(schema);
  if (choices.length > 0) return { ...base, kind: "choice", choices, initial };
  return {
    ...base,
    kind: "text",
    format: stringAt(schema, "format"),
    minLength: numberAt(schema, "minLength"),
    maxLength: numberAt(schema, "maxLength"),
    pattern: stringAt(schema, "pattern"),
    initial,
  };
}

/** `enum` (with the older `enumNames`), `oneOf` or `anyOf` of {const, title}. */
function readChoices(schema: JsonObject | undefined): readonly Choice[] {
  const titled = arrayAt(schema, "oneOf") ?? arrayAt(schema, "anyOf");
  if (titled !== undefined) {
    return titled.filter(isObject).flatMap((entry) => {
      const value = stringAt(entry, "const");
      if (value === undefined) return [];
      return [{ value, title: stringAt(entry, "title") ?? value, description: stringAt(entry, "description") }];
    });
  }
  const names = arrayAt(schema, "enumNames");
  return (arrayAt(schema, "enum") ?? []).flatMap((value, index) => {
    if (typeof value !== "string") return [];
    const name = names?.[index];
    return [{ value, title: typeof name === "string" ? name : value, description: undefined }];
  });
}

type Checked = { readonly value: Json | undefined } | { readonly error: string };

function checkField(field: FormField, value: FormValue): Checked {
  switch (field.kind) {
    case "boolean":
      return { value: value === true };
    case "choice":
      return checkChoice(field, typeof value === "string" ? value : "");
    case "choices":
      return checkChoices(field, Array.isArray(value) ? value : []);
    case "number":
      return checkNumber(field, typeof value === "string" ? value.trim() : "");
    case "text":
      return checkText(field, typeof value === "string" ? value : "");
  }
}

function checkChoice(field: Extract<FormField, { kind: "choice" }>, value: string): Checked {
  if (value === "") return field.isRequired ? { error: "Choose one" } : { value: undefined };
  return field.choices.some((choice) => choice.value === value) ? { value } : { error: "Choose one of the list" };
}

function checkChoices(field: Extract<FormField, { kind: "choices" }>, values: readonly string[]): Checked {
  const least = Math.max(field.minItems ?? 0, field.isRequired ? 1 : 0);
  if (values.length === 0 && !field.isRequired) return { value: undefined };
  if (values.length < least) return { error: `Choose at least ${least}` };
  if (field.maxItems !== undefined && values.length > field.maxItems)
    return { error: `Choose at most ${field.maxItems}` };
  return { value: [...values] };
}

function checkNumber(field: Extract<FormField, { kind: "number" }>, typed: string): Checked {
  if (typed === "") return field.isRequired ? { error: "Enter a number" } : { value: undefined };
  const value = Number(typed.replace(",", "."));
  if (!Number.isFinite(value)) return { error: "Enter a number" };
  if (field.isInteger && !Number.isInteger(value)) return { error: "Enter a whole number" };
  if (field.minimum !== undefined && value < field.minimum) return { error: `At least ${field.minimum}` };
  if (field.maximum !== undefined && value > field.maximum) return { error: `At most ${field.maximum}` };
  return { value };
}

function checkText(field: Extract<FormField, { kind: "text" }>, value: string): Checked {
  if (value === "") return field.isRequired ? { error: "Fill this in" } : { value: undefined };
  const length = [...value].length;
  if (field.minLength !== undefined && length < field.minLength)
    return { error: `At least ${field.minLength} characters` };
  if (field.maxLength !== undefined && length > field.maxLength)
    return { error: `At most ${field.maxLength} characters` };
  if (field.pattern !== undefined && !matches(field.pattern, value))
    return { error: "Does not have the expected form" };
  if (field.format === "date-time") return checkInstant(value);
  return formatError(field.format, value) ?? { value };
}

/** A native input gives local time without a zone; the schema's format wants one. */
function checkInstant(value: string): Checked {
  const ms = Date.parse(value);
  if (Number.isNaN(ms)) return { error: "Enter a date and time" };
  return { value: /(?:z|[+-]\d{2}:?\d{2})$/i.test(value) ? value : new Date(ms).toISOString() };
}

function formatError(format: string | undefined, value: string): Checked | undefined {
  if (format === "email" && !/^[^\s@]+@[^\s@]+$/.test(value)) return { error: "Enter an email address" };
  if (format === "uri" && !/^[a-z][a-z0-9+.-]*:/i.test(value)) return { error: "Enter a full address, with https://" };
  if (format === "date" && !/^\d{4}-\d{2}-\d{2}$/.test(value)) return { error: "Enter a date" };
  return undefined;
}

/** A pattern that is no valid expression cannot be held against the person: the agent checks. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}
