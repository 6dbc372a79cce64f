/**
 * What a failed call means. One code carries several meanings here (-32004 is both "gone" and "asleep", 1308 was "busy"
 * and is a quota code now), so every test reads the code *and* the text.
 */
import type { Json } from "../../../protocol/json.ts";
import type { ZError } from "./frames.ts";

/**
 * `busy` a turn holds the session; `not-active` the session exists but is not resident (resume heals it); `not-found`
 * the store has no such session; `no-method` removed or unknown; `invalid` refused parameters; `timeout` no answer in
 * time; `dead` the process is gone; `too-old` the build cannot be used at all; `other` anything else.
 */
export type ZcodeErrorKind =
  | "busy"
  | "not-active"
  | "not-found"
  | "no-method"
  | "invalid"
  | "timeout"
  | "dead"
  | "too-old"
  | "other";

export class ZcodeError extends Error {
  readonly kind: ZcodeErrorKind;
  /** The backend's own number; 0 where the failure is ours. */
  readonly code: number;
  readonly data: Json | undefined;

  constructor(kind: ZcodeErrorKind, message: string, code = 0, data?: Json, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "ZcodeError";
    this.kind = kind;
    this.code = code;
    this.data = data;
  }
}

const BUSY_TEXT = /already running|prompt is running|while a prompt is running/i;
const NOT_ACTIVE_TEXT = /not active|not resident/i;
const NOT_FOUND_TEXT = /not found|不存在|does not exist|unknown session/i;

/** Sorts an error answer into its kind. */
export function classify(error: ZError): ZcodeErrorKind {
  const { code, message } = error;
  if (code === -32010 || code === 1308) return BUSY_TEXT.test(message) ? "busy" : "other";
  if (code === -32601) return "no-method";
  if (code === -32602 || /unrecognized key/i.test(message)) return "invalid";
  if (code === -32004 || (code !== -32031 && /session/i.test(message))) {
    if (NOT_ACTIVE_TEXT.test(message)) return "not-active";
    if (NOT_FOUND_TEXT.test(message)) return "not-found";
  }
  return "other";
}

export const fromAnswer = (error: ZError): ZcodeError =>
  new ZcodeError(classify(error), error.message, error.code, error.data);

/** True when `error` is one of ours with this kind. */
export function isKind(error: unknown, ...kinds: ZcodeErrorKind[]): error is ZcodeError {
  return error instanceof ZcodeError && kinds.includes(error.kind);
}

export const needsReasoningLevel = (error: unknown): boolean =>
  error instanceof ZcodeError && /reasoning level is required|thoughtLevel is required/i.test(error.message);
