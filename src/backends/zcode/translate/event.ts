/** A `session/event` notification, read once. */
import { type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";

export interface ZEvent {
  readonly sessionId: string;
  readonly type: string;
  readonly payload: JsonObject;
  /** Per session, increasing. Absent on builds that do not number. */
  readonly seq?: number;
  /** From the envelope; older builds put it into the payload. */
  readonly turnId?: string;
}

/** One `update` of a `session/update` notification. */
export type Update = JsonObject;

const NOTHING: JsonObject = {};

/** Reads the params of a `session/event`; undefined when session or type is missing. */
export function readEvent(params: JsonObject): ZEvent | undefined {
  const sessionId = stringAt(params, "sessionId");
  const type = stringAt(params, "type");
  if (sessionId === undefined || type === undefined) return undefined;
  const payload = objectAt(params, "payload") ?? NOTHING;
  const seq = numberAt(params, "seq");
  const turnId = stringAt(params, "turnId") ?? stringAt(payload, "turnId");
  return {
    sessionId,
    type,
    payload,
    ...(seq === undefined ? {} : { seq }),
    ...(turnId === undefined ? {} : { turnId }),
  };
}

export const textContent = (text: string): JsonObject => ({ type: "text", text });

/** Content of a tool card holding one text. */
export const textBlock = (text: string): JsonObject => ({ type: "content", content: textContent(text) });

/** `text` in a fence longer than any run of backticks inside it. */
export function fenced(text: string, language = ""): string {
  let longest = 2;
  for (const run of text.match(/`+/g) ?? []) longest = Math.max(longest, run.length);
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${text}${text.endsWith("\n") ? "" : "\n"}${fence}`;
}
