/** L6: a hub that a bridge started ends after an hour with no bridge and no connection; one that was asked for never does. */
import { type IdleClock, watchIdle } from "../bridge/idle-watch.ts";

/** What of a hub tells whether anybody needs it. */
export interface Needed {
  readonly registry: { list(): readonly unknown[] };
  readonly sockets: { readonly count: number };
  /** Event streams: the app's list of sessions has no other connection. */
  readonly streams: { readonly count: number };
}

const IDLE_MS = 3_600_000;

/** Resolves when it is to end; never, unless `isOnDemand`. `stop` ends the waiting. */
export function idleEnd(
  { registry, sockets, streams }: Needed,
  isOnDemand: boolean,
  clock?: IdleClock,
): { readonly ended: Promise<"idle">; stop(): void } {
  if (!isOnDemand) return { ended: new Promise(() => undefined), stop: () => undefined };
  let stop: () => void = () => undefined;
  const watched = {
    get isBusy() {
      return registry.list().length > 0 || sockets.count > 0 || streams.count > 0;
    },
    lastSeenAt: 0,
  };
  const ended = new Promise<"idle">((resolve) => {
    stop = watchIdle(watched, IDLE_MS, () => resolve("idle"), clock);
  });
  return { ended, stop: () => stop() };
}
