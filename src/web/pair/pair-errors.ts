/** What a person is told when a pairing code does not work. Pure. */
import { ApiError } from "../../client/index.ts";

const WORDS = new Map<string, string>([
  [
    "pairing-refused",
    "This code does not work any more. A code works once and for a few minutes: it was used, has expired, or is mistyped. Make a new one.",
  ],
  ["rate-limited", "Too many wrong tries. Wait a quarter of an hour, then make a new code."],
]);

const UNKNOWN = "This code does not work. Make a new one.";

export function pairErrorText(error: unknown): string {
  if (!(error instanceof ApiError)) return "Something went wrong here. Load the page again.";
  const known = error.code === undefined ? undefined : WORDS.get(error.code);
  if (known !== undefined) return known;
  if (error.status === 0) return "The hub cannot be reached. Is this device in the same network?";
  if (error.status >= 500) return `The hub has a problem (${error.status}). Its log tells more.`;
  return UNKNOWN;
}
