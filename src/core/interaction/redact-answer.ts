/**
 * An answer as the record keeps it (X13): option ids, enum values and booleans as they are, free text and numbers as
 * their length. A password typed into a form must not outlive the form.
 */
import { arrayAt, isObject, type Json, type JsonObject, objectAt, put, stringAt } from "../../protocol/json.ts";

const ACTIONS: ReadonlySet<string> = new Set(["accept", "decline", "cancel"]);

/** The values a schema allows, wherever it lists them: `enum`, `const`, or titled alternatives. */
function allowedValues(schema: JsonObject | undefined): readonly Json[] {
  if (schema === undefined) return [];
  const listed = [...(arrayAt(schema, "enum") ?? []), ...("const" in schema ? [schema["const"] ?? null] : [])];
  const nested = [...(arrayAt(schema, "oneOf") ?? []), ...(arrayAt(schema, "anyOf") ?? [])].filter(isObject);
  return [...listed, ...nested.flatMap(allowedValues)];
}

function redactValue(value: Json, schema: JsonObject | undefined): Json {
  if (typeof value === "boolean" || value === null) return value;
  if (Array.isArray(value)) return value.map((item) => redactValue(item, objectAt(schema, "items")));
  if (isObject(value)) return redactObject(value, objectAt(schema, "properties"));
  return allowedValues(schema).includes(value) ? value : { length: String(value).length };
}

function redactObject(value: JsonObject, properties: JsonObject | undefined): JsonObject {
  const redacted: JsonObject = {};
  for (const [key, member] of Object.entries(value)) {
    // A name that no schema gave is text of the answer's own.
    const isAsked = properties !== undefined && Object.hasOwn(properties, key);
    if (member !== undefined && isAsked) put(redacted, key, redactValue(member, objectAt(properties, key)));
  }
  return redacted;
}

/** The id when it is one of the options that were offered; its length otherwise. */
function redactOption(request: JsonObject, optionId: string): Json {
  const offered = (arrayAt(request, "options") ?? []).filter(isObject).map((option) => option["optionId"]);
  return offered.includes(optionId) ? optionId : { length: optionId.length };
}

/**
 * `request` is the params of the interaction, `answer` the result that went to the agent. Members that are no part of
 * either kind of answer are left out.
 */
export function redactAnswer(request: JsonObject, answer: JsonObject): JsonObject {
  const outcome = objectAt(answer, "outcome");
  if (outcome !== undefined) {
    const optionId = stringAt(outcome, "optionId");
    const kind = stringAt(outcome, "outcome") === "selected" ? "selected" : "cancelled";
    return { outcome: kind, ...(optionId !== undefined && { optionId: redactOption(request, optionId) }) };
  }
  const content = objectAt(answer, "content");
  const properties = objectAt(objectAt(request, "requestedSchema"), "properties");
  const action = stringAt(answer, "action") ?? "";
  return {
    action: ACTIONS.has(action) ? action : { length: action.length },
    ...(content !== undefined && { content: redactObject(content, properties) }),
  };
}
