/** What a session query lets through, the same in every adapter. */
import type { SessionQuery, SessionRecord } from "./ports.ts";

export const PAGE_DEFAULT = 50;
export const PAGE_MAX = 200;

export function pageSize(query: SessionQuery): number {
  const wanted = query.limit ?? PAGE_DEFAULT;
  return Number.isSafeInteger(wanted) ? Math.min(Math.max(wanted, 1), PAGE_MAX) : PAGE_DEFAULT;
}

/** The directory without a slash at its end, so that what lies below it starts with it and a slash. */
export const workspaceOf = (query: SessionQuery): string | undefined => query.workspace?.replace(/(?<=.)[/\\]+$/, "");

function isInside(cwd: string, directory: string): boolean {
  if (cwd === directory) return true;
  return cwd.startsWith(directory) && (directory.endsWith("/") || /[/\\]/.test(cwd.charAt(directory.length)));
}

/** True for a listed session of the wanted directory and state. Words are another question. */
export function passes(record: Pick<SessionRecord, "isListed" | "cwd" | "state">, query: SessionQuery): boolean {
  if (!record.isListed) return false;
  const directory = workspaceOf(query);
  if (directory !== undefined && !isInside(record.cwd, directory)) return false;
  if (query.state === undefined) return true;
  return query.state === "live" ? record.state !== "closed" : record.state === query.state;
}
