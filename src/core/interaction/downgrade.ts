/**
 * Renders a form as permission requests for a client that has no forms (X8). Pure; the run belongs to one connection and starts
 * over with it.
 */

import { arrayAt, isObject, type Json, type JsonObject, objectAt, put, stringAt } from "../../protocol/json.ts";
import { hubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "./answer.ts";
import { checkContent } from "./schema-check.ts";

export interface DowngradeOption {
  readonly optionId: string;
  readonly name: string;
  readonly kind: string;
  /** Members this choice puts into the form's content. */
  readonly set?: JsonObject;
  /** Ends the form at once with this action. */
  readonly action?: string;
}

export interface DowngradeStep {
  readonly title: string;
  /** The field it answers, for steps made from a schema: its value is checked when the field's last step is done. */
  readonly field?: Field;
  readonly options: readonly DowngradeOption[];
}

const SKIP = "__skip__";
const DECLINE: DowngradeOption = {
  optionId: "acp-hub:decline",
  name: "Decline",
  kind: "reject_once",
  action: "decline",
};

function readRecipe(params: JsonObject): DowngradeStep[] | undefined {
  const recipe = hubMeta(params)?.["downgrade"];
  const steps = isObject(recipe) ? recipe["steps"] : recipe;
  if (!Array.isArray(steps) || steps.length === 0) return undefined;
  const read: DowngradeStep[] = [];
  for (const step of steps) {
    const options = isObject(step) ? arrayAt(step, "options") : undefined;
    const readable = (options ?? []).filter(isObject).map(readOption);
    if (!isObject(step) || readable.length === 0) return undefined;
    read.push({ title: stringAt(step, "title") ?? "", options: readable });
  }
  return read;
}

function readOption(option: JsonObject): DowngradeOption {
  const set = objectAt(option, "set");
  const action = stringAt(option, "action");
  return {
    optionId: stringAt(option, "optionId") ?? "",
    name: stringAt(option, "name") ?? "",
    kind: stringAt(option, "kind") ?? "allow_once",
    ...(set !== undefined && { set }),
    ...(action !== undefined && { action }),
  };
}

interface Choice {
  readonly value: Json;
  readonly title: string;
}

function choicesOf(schema: JsonObject): Choice[] | undefined {
  const titled = arrayAt(schema, "oneOf") ?? arrayAt(schema, "anyOf");
  if (titled !== undefined) {
    const read = titled.filter(isObject).map((entry) => ({
      value: entry["const"] ?? null,
      title: stringAt(entry, "title") ?? String(entry["const"]),
    }));
    return read.every(isChoosable) ? read : undefined;
  }
  const names = arrayAt(schema, "enumNames");
  const listed = arrayAt(schema, "enum")?.map((value, index) => {
    const name = names?.[index];
    return { value: value ?? null, title: typeof name === "string" ? name : String(value) };
  });
  return listed?.every(isChoosable) === true ? listed : undefined;
}

/** Only plain values can be told apart after a trip through JSON. */
const isChoosable = (choice: Choice): boolean => choice.value !== null && typeof choice.value !== "object";

const single = (name: string, value: Json): JsonObject => {
  const content: JsonObject = {};
  put(content, name, value);
  return content;
};

const choose = (index: number, at: number, title: string, set?: JsonObject): DowngradeOption => ({
  optionId: `acp-hub:${index}:${at}`,
  name: title,
  kind: "allow_once",
  ...(set !== undefined && { set }),
});

function enumStep(field: Field, choices: readonly Choice[]): DowngradeStep {
  const options = choices
    .filter((choice) => choice.value !== SKIP)
    .map((choice, at) => choose(field.index, at, choice.title, single(field.name, choice.value)));
  const hasSkip = choices.some((choice) => choice.value === SKIP);
  if (hasSkip) options.push(choose(field.index, options.length, "Skip", single(field.name, SKIP)));
  else if (!field.isRequired) options.push(choose(field.index, options.length, "Skip"));
  return { title: field.title, field, options: [...options, DECLINE] };
}

function booleanStep(field: Field): DowngradeStep {
  const options = [
    choose(field.index, 0, "Yes", single(field.name, true)),
    choose(field.index, 1, "No", single(field.name, false)),
  ];
  if (!field.isRequired) options.push(choose(field.index, 2, "Skip"));
  return { title: field.title, field, options: [...options, DECLINE] };
}

/** One yes/no per value; a chosen value is collected under the field's name. */
function multiSteps(field: Field, choices: readonly Choice[]): DowngradeStep[] {
  return choices
    .filter((choice) => choice.value !== SKIP)
    .map((choice, at) => ({
      title: `${field.title}: ${choice.title}?`,
      field,
      options: [
        choose(field.index, 2 * at, "Yes", single(field.name, [choice.value])),
        choose(field.index, 2 * at + 1, "No", single(field.name, [])),
        DECLINE,
      ],
    }));
}

interface Field {
  readonly name: string;
  readonly schema: JsonObject;
  readonly title: string;
  readonly index: number;
  readonly isRequired: boolean;
}

/** The steps of one field; undefined for a required field no buttons can answer; empty for one that is left out. */
function fieldSteps(field: Field, schema: JsonObject): DowngradeStep[] | undefined {
  if (schema["type"] === "boolean") return [booleanStep(field)];
  const choices = choicesOf(schema["type"] === "array" ? (objectAt(schema, "items") ?? {}) : schema);
  if (choices !== undefined && choices.length > 0) {
    const steps = schema["type"] === "array" ? multiSteps(field, choices) : [enumStep(field, choices)];
    if (steps.length > 0) return steps;
  }
  return field.isRequired ? undefined : [];
}

function generatedSteps(params: JsonObject): DowngradeStep[] {
  const message = stringAt(params, "message") ?? "The agent asks for input";
  const schema = objectAt(params, "requestedSchema");
  const required = new Set(arrayAt(schema, "required") ?? []);
  const steps: DowngradeStep[] = [];
  for (const [index, [name, field]] of Object.entries(objectAt(schema, "properties") ?? {}).entries()) {
    if (!isObject(field)) continue;
    const title = stringAt(field, "title") ?? stringAt(field, "description") ?? name;
    const made = fieldSteps({ name, schema: field, title, index, isRequired: required.has(name) }, field);
    if (made === undefined) return [{ title: message, options: [DECLINE] }];
    steps.push(...made);
  }
  if (steps.length > 0) return steps;
  return [
    {
      title: message,
      options: [{ optionId: "acp-hub:accept", name: "Accept", kind: "allow_once", action: "accept" }, DECLINE],
    },
  ];
}

/** The permission steps for a form: the backend's own recipe, or one made from the schema. Never empty. */
export function downgradeSteps(params: JsonObject): DowngradeStep[] {
  return readRecipe(params) ?? generatedSteps(params);
}

function checkField(field: Field, value: Json | undefined): string | undefined {
  return value === undefined
    ? undefined
    : checkContent({ properties: single(field.name, field.schema) }, single(field.name, value));
}

export type DowngradeMove =
  | { readonly kind: "next" }
  | { readonly kind: "done"; readonly body: AnswerBody }
  | { readonly kind: "unknown-option" };

/** One connection's way through the steps of one form. */
export class DowngradeRun {
  readonly steps: readonly DowngradeStep[];
  readonly #schema: JsonObject | undefined;
  #index = 0;
  #content: JsonObject = {};

  constructor(params: JsonObject) {
    this.steps = downgradeSteps(params);
    this.#schema = objectAt(params, "requestedSchema");
  }

  /** The step to show now, and where it stands. */
  get current(): { readonly step: DowngradeStep; readonly index: number; readonly of: number } {
    const step = this.steps[this.#index];
    if (step === undefined) throw new Error("a finished downgrade has no step");
    return { step, index: this.#index, of: this.steps.length };
  }

  /** Takes the chosen option of the current step. */
  choose(optionId: string): DowngradeMove {
    const option = this.current.step.options.find((candidate) => candidate.optionId === optionId);
    if (option === undefined) return { kind: "unknown-option" };
    for (const [name, value] of Object.entries(option.set ?? {})) this.#collect(name, value);
    if (option.action !== undefined && option.action !== "accept")
      return { kind: "done", body: { result: { action: option.action } } };
    if (option.action === undefined && this.#stepsOn()) return { kind: "next" };
    if (checkContent(this.#schema, this.#content) === undefined)
      return { kind: "done", body: { result: { action: "accept", content: this.#content } } };
    // Together the choices are no valid answer: asked once more, so that a run only ever ends in one.
    this.#index = 0;
    this.#content = {};
    return { kind: "next" };
  }

  /** Goes to the next step; false when there is none. A field whose value is not valid is asked again. */
  #stepsOn(): boolean {
    const field = this.steps[this.#index]?.field;
    this.#index += 1;
    if (field === undefined || this.steps[this.#index]?.field === field) return this.#index < this.steps.length;
    const value = Object.hasOwn(this.#content, field.name) ? this.#content[field.name] : undefined;
    // Nothing chosen of an optional list: the field is left out.
    if (Array.isArray(value) && value.length === 0 && !field.isRequired) this.#forget(field.name);
    else if (checkField(field, value) !== undefined) {
      this.#forget(field.name);
      this.#index = this.steps.findIndex((step) => step.field === field);
    }
    return this.#index < this.steps.length;
  }

  #forget(name: string): void {
    this.#content = Object.fromEntries(Object.entries(this.#content).filter(([key]) => key !== name));
  }

  #collect(name: string, value: Json | undefined): void {
    const before = Object.hasOwn(this.#content, name) ? this.#content[name] : undefined;
    put(this.#content, name, Array.isArray(before) && Array.isArray(value) ? [...before, ...value] : value);
  }
}
