/** What a device wants to be pushed, and when: the hub decides by it, the app shows it. Pure. */
import { arrayAt, type JsonObject } from "./json.ts";
import { isQuietAt, type QuietHours, readQuietHours } from "./quiet-hours.ts";

/** An agent asks for something; an agent's turn has ended. */
export type PushKind = "needs-you" | "turn-ended";

export interface PushPreferences {
  readonly quietHours: QuietHours | undefined;
  /** Sessions this device is told nothing of, the latest last. */
  readonly mutedSessions: readonly string[];
}

/** Why somebody is not told. */
export type Hush = "muted" | "quiet-hours";

export const NO_PREFERENCES: PushPreferences = { quietHours: undefined, mutedSessions: [] };

/** Undefined: tell it. A muted session is silent even for questions; quiet hours let those through where wanted. */
export function hushOf(
  { quietHours, mutedSessions }: PushPreferences,
  kind: PushKind,
  sessionId: string | undefined,
  now: number,
): Hush | undefined {
  if (sessionId !== undefined && mutedSessions.includes(sessionId)) return "muted";
  if (quietHours === undefined || (kind === "needs-you" && quietHours.letsQuestionsThrough)) return undefined;
  return isQuietAt(quietHours, now) ? "quiet-hours" : undefined;
}

/** What cannot be read is left out: nobody is kept from being told by a broken entry. */
export function readPreferences(entry: JsonObject): PushPreferences {
  const quietHours = readQuietHours(entry["quietHours"]);
  const muted = arrayAt(entry, "mutedSessions") ?? [];
  return {
    quietHours: typeof quietHours === "string" ? undefined : quietHours,
    mutedSessions: muted.filter((id): id is string => typeof id === "string"),
  };
}
