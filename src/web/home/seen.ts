/** Which sessions have something a person has not seen on this device. */
import { Observable } from "../../client/index.ts";

const NAME = "acp-hub-seen";
const ENTRIES_MAX = 200;

/** A stream marks many times a second; the disk hears of it seldom. */
const WRITE_MS = 2000;

let timer: ReturnType<typeof setTimeout> | undefined;

export const seen: Observable<Readonly<Record<string, number>>> = new Observable(read());

/** `at`: epoch milliseconds of the latest thing that was on screen. */
export function markSeen(sessionId: string, at: number | undefined): void {
  if (at === undefined || at <= (seen.value[sessionId] ?? 0)) return;
  pending.set(sessionId, at);
  timer ??= setTimeout(flushSeen, WRITE_MS);
}

const pending = new Map<string, number>();

/** Tells everyone what was seen, and writes it. */
export function flushSeen(): void {
  clearTimeout(timer);
  timer = undefined;
  if (pending.size === 0) return;
  const entries = Object.entries({ ...seen.value, ...Object.fromEntries(pending) }).sort((a, b) => b[1] - a[1]);
  pending.clear();
  seen.set(Object.fromEntries(entries.slice(0, ENTRIES_MAX)));
  try {
    localStorage.setItem(NAME, JSON.stringify(seen.value));
  } catch {
    // Without storage everything is new after a reload: harmless.
  }
}

function read(): Readonly<Record<string, number>> {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(NAME) ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, number>) : {};
  } catch {
    return {};
  }
}
