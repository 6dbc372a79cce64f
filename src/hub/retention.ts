/** Keeps the disk from growing for ever: history by age and size, outcomes, settled interactions, ended credentials, the audit. */
import type { Config } from "../config/config.ts";
import type { Store } from "../store/ports.ts";
import { systemScheduler } from "../store/scheduler.ts";
import { AgeDoubt } from "./age-doubt.ts";
import type { HubLog } from "./log.ts";
import type { Registry } from "./registry.ts";

export type RetentionOptions = Pick<Config, "journal" | "audit">;

const DAY_MS = 86_400_000;
const EVERY_MS = 3_600_000;
/** After a start the disk has other work first. */
const FIRST_MS = 60_000;

/** Prunes by size at once, by age only while the clock can be believed; the returned function stops it. */
export function startRetention(
  store: Store,
  registry: Registry,
  { journal, audit }: RetentionOptions,
  log: HubLog,
): () => void {
  const doubt = new AgeDoubt(systemScheduler, store.sessions.list({ limit: 1 }).hits[0]?.session.updatedAt);
  const prune = (): void => {
    const now = Date.now();
    const isDoubted = doubt.stands();
    if (isDoubted) log.warn("the clock jumped ahead: nothing is removed for its age until tomorrow");
    const live = new Set(registry.list().flatMap((each) => [...(each.record?.liveKeys() ?? [])]));
    try {
      const removed = store.sessions.prune({
        now,
        ...(!isDoubted && { maxAgeMs: journal.retentionDays * DAY_MS }),
        maxBytes: journal.maxBytes,
        isKept: (key) => live.has(key),
      });
      if (!isDoubted) {
        store.prompts.prune(now);
        store.interactions.prune(now - journal.retentionDays * DAY_MS);
        store.devices.pruneCredentials(now);
      }
      if (removed.length > 0) log.info({ count: removed.length }, "old sessions removed");
      const count = store.audit.prune({
        at: now,
        ...(!isDoubted && { before: now - audit.retentionDays * DAY_MS }),
        countMax: audit.maxEntries,
      });
      if (count > 0) log.info({ count }, "old entries of the audit removed");
    } catch (error) {
      log.error({ err: error }, "pruning failed");
    }
  };
  const first = setTimeout(prune, FIRST_MS);
  const timer = setInterval(prune, EVERY_MS);
  first.unref();
  timer.unref();
  return () => {
    clearTimeout(first);
    clearInterval(timer);
  };
}
