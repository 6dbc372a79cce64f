/**
 * What goes of the audit, and what is said of it. Each removal leaves an entry, so many go at once: a day's worth by age, a
 * hundredth by number; else a full audit would say of every entry that another one went.
 */
import type { AuditEntry, AuditRecord, AuditRetention } from "./ports.ts";

const SLACK_MS = 86_400_000;

/** An entry's place and time. */
export type AuditMark = Pick<AuditRecord, "id" | "at">;

/** The last id that goes; 0 when nothing is due. `lastBefore`: the last of those at the beginning that are all older. */
export function lastDue(
  first: AuditMark,
  lastId: number,
  { before, countMax }: AuditRetention,
  lastBefore: (time: number) => number,
): number {
  const byAge = before !== undefined && first.at < before - SLACK_MS ? lastBefore(before) : 0;
  const over = lastId - first.id + 1 - countMax;
  const byCount = over > 0 ? first.id + over + Math.floor(countMax / 100) - 1 : 0;
  return Math.max(byAge, byCount);
}

/** Who reads the audit sees that it begins late, and why. */
export const pruneEntry = (at: number, first: AuditMark, last: AuditMark): AuditEntry => ({
  at,
  actor: { deviceId: "hub", name: "the hub" },
  action: "audit.prune",
  target: `${first.id}-${last.id}`,
  detail: { count: last.id - first.id + 1, from: first.at, until: last.at },
});
