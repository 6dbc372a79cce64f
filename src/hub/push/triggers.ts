/** When a push is due: a question that is new, a turn that has ended, in a session nobody is looking at. */
import { isFor, type Person } from "../../core/interaction/url-owner.ts";
import type { MirrorObservation } from "../../core/mirror/ports.ts";
import type { Instance } from "../instance.ts";
import type { Pusher } from "./pusher.ts";

export class PushTriggers {
  readonly #pusher: Pusher;
  /** Questions told of already, per instance: a hub that restarts does not tell of old ones. */
  readonly #told = new Map<Instance, Set<string>>();
  readonly #running = new Map<Instance, Set<string>>();
  readonly #startedAt = Date.now();
  readonly #personOf: (deviceId: string) => Person | undefined;

  /** `personOf`: whose a device is now; undefined when it is nobody's any more. */
  constructor(pusher: Pusher, personOf: (deviceId: string) => Person | undefined) {
    this.#pusher = pusher;
    this.#personOf = personOf;
  }

  onObservation(instance: Instance, observation: MirrorObservation): void {
    if (observation.kind === "interactions-changed") this.#onInteractions(instance);
    if (observation.kind === "sessions-changed") this.#onSessions(instance);
  }

  onInstanceGone(instance: Instance): void {
    this.#told.delete(instance);
    this.#running.delete(instance);
  }

  #onInteractions(instance: Instance): void {
    const known = this.#told.get(instance) ?? new Set<string>();
    const open = new Set<string>();
    for (const { interactionId, sessionId, openedAt, owner } of instance.mirror.openInteractions()) {
      open.add(interactionId);
      const isOld = known.has(interactionId) || openedAt < this.#startedAt;
      if (isOld || this.#isWatched(instance, sessionId)) continue;
      const url = sessionId === undefined ? "#/" : `#/session/${encodeURIComponent(sessionId)}`;
      const body = `${titleOf(instance, sessionId)} waits for your answer`;
      const message = { kind: "needs-you", title: "Needs you", body, tag: `ask-${interactionId}`, url } as const;
      void this.#pusher.tell(message, (deviceId) => {
        const person = this.#personOf(deviceId);
        return person !== undefined && isFor(owner, person);
      });
    }
    this.#told.set(instance, open);
  }

  #onSessions(instance: Instance): void {
    const before = this.#running.get(instance) ?? new Set<string>();
    const now = new Set<string>();
    for (const session of instance.mirror.sessions) {
      if (session.info.turn !== "idle") now.add(session.id);
      else if (before.has(session.id) && !this.#isWatched(instance, session.id)) {
        const body = `${titleOf(instance, session.id)} has finished its turn`;
        const url = `#/session/${encodeURIComponent(session.id)}`;
        void this.#pusher.tell({ kind: "turn-ended", title: "Finished", body, tag: `turn-${session.id}`, url });
      }
    }
    this.#running.set(instance, now);
  }

  /** Somebody has it on a screen: the app attaches only what it shows. */
  #isWatched(instance: Instance, sessionId: string | undefined): boolean {
    return [...instance.mirror.sessions].some((session) => session.id === sessionId && session.attached.size > 0);
  }
}

function titleOf(instance: Instance, sessionId: string | undefined): string {
  const session = [...instance.mirror.sessions].find((each) => each.id === sessionId);
  return session?.info.title ?? instance.hello.name;
}
