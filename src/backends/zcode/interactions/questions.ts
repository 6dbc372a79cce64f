/** The model's questions to the person: one form, or one popup after the other, and back to the answers the tool wants. */
import { arrayAt, isObject, type Json, type JsonObject, objectAt, put, stringAt } from "../../../protocol/json.ts";

export const SKIP = "__skip__";
const OTHER_SINGLE = "↳    or type a custom value (overrides the selection)";
const OTHER_MULTI = "↳    or type a custom value (added to the selection)";

export interface QuestionOption {
  readonly label: string;
  /** What the tool is given when this is picked. */
  readonly value: string;
  readonly description: string | undefined;
}

export interface Question {
  /** Its place among the questions as asked; the form counts the same way. */
  readonly index: number;
  readonly text: string;
  readonly isMulti: boolean;
  readonly options: readonly QuestionOption[];
}

function readOption(value: Json): QuestionOption[] {
  const label = isObject(value) ? stringAt(value, "label") : undefined;
  if (!isObject(value) || label === undefined) return [];
  return [{ label, value: stringAt(value, "value") ?? label, description: stringAt(value, "description") }];
}

/** The questions of a request. */
export function readQuestions(params: JsonObject): Question[] {
  const list = arrayAt(params, "questions") ?? arrayAt(objectAt(params, "input"), "questions") ?? [];
  return list.flatMap((value, index) => {
    const text = isObject(value) ? (stringAt(value, "question") ?? stringAt(value, "header")) : undefined;
    if (!isObject(value) || text === undefined) return [];
    const options = (arrayAt(value, "options") ?? []).flatMap(readOption);
    return [{ index, text, isMulti: value["multiSelect"] === true, options }];
  });
}

function choiceField(question: Question): JsonObject {
  const choices: JsonObject[] = question.options.map((option) => ({ const: option.label, title: option.label }));
  if (question.isMulti) return { type: "array", title: question.text, items: { anyOf: choices } };
  return { type: "string", title: question.text, oneOf: [...choices, { const: SKIP, title: "Skip this question" }] };
}

/** The form, without the session it belongs to. The message is neutral: the questions are the fields' titles. */
export function questionForm(questions: readonly Question[]): JsonObject {
  const properties: JsonObject = {};
  for (const question of questions) {
    const key = `q_${question.index}`;
    const hasOptions = question.options.length > 0;
    if (hasOptions) properties[key] = choiceField(question);
    const title = !hasOptions ? question.text : question.isMulti ? OTHER_MULTI : OTHER_SINGLE;
    properties[`${key}_other`] = { type: "string", title };
  }
  const count = questions.length;
  return {
    mode: "form",
    message: `Please answer ${count} question${count === 1 ? "" : "s"}.`,
    requestedSchema: { type: "object", properties, required: [] },
  };
}

/** Answers by question; a question that is missing was skipped. */
export type Picks = ReadonlyMap<Question, readonly string[]>;

const toolValue = (question: Question, label: string): string =>
  question.options.find((option) => option.label === label)?.value ?? label;

function picksOf(question: Question, content: JsonObject): string[] {
  const key = `q_${question.index}`;
  const other = (stringAt(content, `${key}_other`) ?? "").trim();
  const chosen = content[key];
  if (question.isMulti) {
    const labels = (Array.isArray(chosen) ? chosen : []).filter(
      (label): label is string => typeof label === "string" && label !== SKIP,
    );
    return [...new Set([...labels.map((label) => toolValue(question, label)), ...(other === "" ? [] : [other])])];
  }
  if (other !== "") return [other];
  return typeof chosen === "string" && chosen !== "" && chosen !== SKIP ? [toolValue(question, chosen)] : [];
}

/** The backend's answer for what was picked. Questions with the same text cannot share a key, so later ones go by index. */
export function answersResult(picks: Picks): JsonObject {
  const answers: JsonObject = {};
  const byIndex: JsonObject = {};
  for (const [question, values] of picks) {
    if (values.length === 0) continue;
    if (Object.hasOwn(answers, question.text)) byIndex[`answer_${question.index}`] = values.join(", ");
    else put(answers, question.text, values.join(", "));
  }
  return { action: "accept", content: { answers, ...byIndex } };
}

/** The backend's answer for a submitted form. */
export function formVerdict(questions: readonly Question[], answer: Json): JsonObject {
  const action = isObject(answer) ? answer["action"] : undefined;
  if (!isObject(answer) || action !== "accept") return { action: action === "decline" ? "decline" : "cancel" };
  const content = objectAt(answer, "content") ?? {};
  return answersResult(new Map(questions.map((question) => [question, picksOf(question, content)])));
}

/** One popup of the rendering without forms. Option ids are made up: a label may look like anything. */
export interface Popup {
  readonly id: string;
  readonly title: string;
  readonly options: readonly JsonObject[];
  /** What choosing an option id adds to the answer; undefined adds nothing. */
  value(optionId: string): string | undefined;
}

const DECLINE: JsonObject = { optionId: "decline", kind: "reject_once", name: "Decline" };

/** The popups of one question, in order. */
export function popupsOf(question: Question): Popup[] {
  if (question.isMulti) {
    return question.options.map((option, at) => ({
      id: `${question.index}_${at}`,
      title: `${question.text} — ${option.label}?`,
      options: [
        { optionId: "yes", kind: "allow_once", name: "Yes" },
        { optionId: "no", kind: "reject_once", name: "No" },
        DECLINE,
      ],
      value: (optionId) => (optionId === "yes" ? option.value : undefined),
    }));
  }
  const choices = question.options.map((option, at) => ({
    optionId: `o_${at}`,
    kind: "allow_once",
    name: option.label,
  }));
  return [
    {
      id: String(question.index),
      title: question.text,
      options: [...choices, { optionId: SKIP, kind: "reject_once", name: "Skip this question" }, DECLINE],
      value: (optionId) => question.options[Number(/^o_(\d+)$/.exec(optionId)?.[1] ?? -1)]?.value,
    },
  ];
}
