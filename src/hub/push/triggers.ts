/**
 * When a push is due: a question that is new, a turn that has ended, in a session nobody has on a screen. Live transitions only,
 * never replays. A question that is on a screen and still open after a while is told all the same: nobody sits there.
 */
import { isFor, type Person } from "../../core/interaction/url-owner.ts";
import type { OpenAskView } from "../../core/mirror/ask.ts";
import type { MirrorObservation } from "../../core/mirror/ports.ts";
import type { Instance } from "../instance.ts";
import type { Pusher } from "./pusher.ts";
import type { SeenSessions } from "./seen.ts";

/** How long a question may stand on a screen before the pockets hear of it. */
const UNNOTICED_MS = 60_000;

/** Lock screens have little room, and push services take 4 kB. */
const TITLE_CHARS_MAX = 120;

export interface PushTriggersOptions {
  readonly pusher: Pick<Pusher, "tell">;
  readonly seen: Pick<SeenSessions, "has">;
  /** Whose a device is now; undefined when it is nobody's any more. */
  personOf(deviceId: string): Person | undefined;
  readonly unnoticedMs?: number;
}

export class PushTriggers {
  readonly #options: PushTriggersOptions;
  /** Questions known already, per instance: a hub that restarts does not tell of old ones. */
  readonly #known = new WeakMap<Instance, ReadonlySet<string>>();
  readonly #running = new WeakMap<Instance, ReadonlySet<string>>();
  /** Of questions that stand on a screen. Bounded by the questions that are open. */
  readonly #timers = new Map<string, NodeJS.Timeout>();
  readonly #startedAt = Date.now();

  constructor(options: PushTriggersOptions) {
    this.#options = options;
  }

  onObservation(instance: Instance, observation: MirrorObservation): void {
    if (observation.kind === "interactions-changed") this.#onInteractions(instance);
    if (observation.kind === "sessions-changed") this.#onSessions(instance);
  }

  stop(): void {
    for (const timer of this.#timers.values()) clearTimeout(timer);
    this.#timers.clear();
  }

  #onInteractions(instance: Instance): void {
    const before = this.#known.get(instance);
    const open = new Set<string>();
    for (const ask of instance.mirror.openInteractions()) {
      open.add(ask.interactionId);
      if (before?.has(ask.interactionId) !== true && ask.openedAt >= this.#startedAt) this.#onNew(instance, ask);
    }
    for (const id of before ?? []) if (!open.has(id)) this.#cancelTimer(id);
    this.#known.set(instance, open);
  }

  #onNew(instance: Instance, ask: OpenAskView): void {
    const { interactionId, sessionId, owner } = ask;
    const mayKnow = (deviceId: string): boolean => {
      const person = this.#options.personOf(deviceId);
      return person !== undefined && isFor(owner, person);
    };
    if (!this.#isSeen(instance, sessionId, mayKnow)) return this.#tellQuestion(instance, ask, mayKnow);
    const tell = (): void => {
      this.#timers.delete(interactionId);
      if (isOpen(instance, interactionId)) this.#tellQuestion(instance, ask, mayKnow);
    };
    this.#timers.set(interactionId, setTimeout(tell, this.#options.unnoticedMs ?? UNNOTICED_MS).unref());
    return undefined;
  }

  #cancelTimer(interactionId: string): void {
    clearTimeout(this.#timers.get(interactionId));
    this.#timers.delete(interactionId);
  }

  #tellQuestion(
    instance: Instance,
    { interactionId, sessionId }: OpenAskView,
    mayKnow: (deviceId: string) => boolean,
  ): void {
    const url = sessionId === undefined ? "#/" : `#/session/${encodeURIComponent(sessionId)}`;
    const body = `${titleOf(instance, sessionId)} waits for your answer`;
    void this.#options.pusher.tell(
      { kind: "needs-you", title: "Needs you", body, tag: `ask-${interactionId}`, url },
      { kind: "needs-you", sessionId, isFor: mayKnow, isDue: () => isOpen(instance, interactionId) },
    );
  }

  #onSessions(instance: Instance): void {
    const before = this.#running.get(instance);
    const now = new Set<string>();
    for (const session of instance.mirror.sessions) {
      if (session.info.turn !== "idle") now.add(session.id);
      else if (before?.has(session.id) === true && !this.#isSeen(instance, session.id, () => true))
        this.#tellEnd(instance, session.id);
    }
    this.#running.set(instance, now);
  }

  #tellEnd(instance: Instance, sessionId: string): void {
    const body = `${titleOf(instance, sessionId)} has finished its turn`;
    const url = `#/session/${encodeURIComponent(sessionId)}`;
    void this.#options.pusher.tell(
      { kind: "turn-ended", title: "Finished", body, tag: `turn-${sessionId}`, url },
      {
        kind: "turn-ended",
        sessionId,
        isFor: () => true,
        isDue: () => this.#running.get(instance)?.has(sessionId) !== true,
      },
    );
  }

  /** Somebody it is for has it on a screen: their app says so, and is still attached. */
  #isSeen(instance: Instance, sessionId: string | undefined, mayKnow: (deviceId: string) => boolean): boolean {
    for (const session of instance.mirror.sessions) {
      if (session.id !== sessionId) continue;
      for (const { device } of session.attached)
        if (this.#options.seen.has(device, session.id) && mayKnow(device)) return true;
    }
    return false;
  }
}

const isOpen = (instance: Instance, interactionId: string): boolean =>
  instance.mirror.openInteractions().some((open) => open.interactionId === interactionId);

function titleOf(instance: Instance, sessionId: string | undefined): string {
  const session = [...instance.mirror.sessions].find((each) => each.id === sessionId);
  const title = session?.info.title ?? instance.hello.name;
  return title.length > TITLE_CHARS_MAX ? `${title.slice(0, TITLE_CHARS_MAX)}…` : title;
}
