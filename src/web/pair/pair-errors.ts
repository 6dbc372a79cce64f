/** What a person is told when a pairing code does not work. Pure. */
import { ApiError } from "../../client/index.ts";

const WORDS = new Map<string, string>([
  ["code-used", "This code was used already. A code works once: make a new one on the computer."],
  ["code-expired", "This code has expired. A code lives for five minutes: make a new one on the computer."],
  ["too-many-requests", "Too many wrong tries. Wait a quarter of an hour, then make a new code."],
]);

const UNKNOWN = "This code does not work. It may be mistyped, used already or older than five minutes.";

export function pairErrorText(error: unknown): string {
  if (!(error instanceof ApiError)) return "Something went wrong here. Load the page again.";
  const known = error.code === undefined ? undefined : WORDS.get(error.code);
  if (known !== undefined) return known;
  if (error.status === 0) return "The hub cannot be reached. Is this device in the same network?";
  if (error.status === 429) return WORDS.get("too-many-requests") ?? UNKNOWN;
  if (error.status >= 500) return `The hub has a problem (${error.status}). Its log tells more.`;
  return UNKNOWN;
}
