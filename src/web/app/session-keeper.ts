/**
 * Which sessions are attached, and what the device keeps of them. A session is attached while a screen shows it or a prompt
 * for it is on its way; the connection is up while any is, and goes a little later, so that a step back is free.
 */
import {
  type AttachState,
  type ClientStorage,
  type Clock,
  type HubClient,
  type SavedSession,
  type SessionClient,
  textOf,
  type Unsubscribe,
} from "../../client/index.ts";
import { stringAt } from "../../protocol/json.ts";
import { SESSION_PREFIX, sessionKey } from "../platform/stored-names.ts";

/** Sessions kept for reading offline. */
const SESSIONS_MAX = 20;

/** Items kept per session: what a person scrolls through on a train. */
const ITEMS_MAX = 400;

const SAVE_MS = 1500;
const LINGER_MS = 20_000;

/** Longer than the screens take to come over a slow network. */
const WARM_MS = 30_000;

/** A session in one of these may have its text in a moment. */
const WAITING: ReadonlySet<AttachState["kind"]> = new Set(["detached", "attaching"]);

/** A session that can be read without a hub. */
export interface KeptSession {
  readonly sessionId: string;
  readonly title: string | undefined;
  /** By this device's clock. */
  readonly savedAt: number;
}

interface Hold {
  count: number;
  /** Where it is read; undefined: wherever the hub has it. */
  instanceId: string | undefined;
  ready: Promise<SessionClient>;
  session: SessionClient | undefined;
  unsubscribe: Unsubscribe | undefined;
}

export class SessionKeeper {
  readonly #client: HubClient;
  readonly #storage: ClientStorage;
  readonly #clock: Clock;
  readonly #holds = new Map<string, Hold>();
  readonly #cancelSaves = new Map<string, () => void>();
  readonly #promptHolds = new Map<string, Unsubscribe>();
  #cancelLinger: (() => void) | undefined;
  /** What was let go of just now: a screen that changes its instance lets go of the one before it takes the other. */
  #last: { readonly sessionId: string; readonly instanceId: string | undefined } | undefined;

  constructor(client: HubClient, storage: ClientStorage, clock: Clock) {
    this.#client = client;
    this.#storage = storage;
    this.#clock = clock;
    client.outbox.entries.subscribe(() => this.#holdForPrompts());
  }

  /** Keeps a session attached until the answer is called. */
  hold(
    sessionId: string,
    instanceId?: string,
  ): { readonly ready: Promise<SessionClient>; readonly release: Unsubscribe } {
    const hold = this.#holds.get(sessionId) ?? this.#open(sessionId, instanceId);
    if (instanceId !== undefined && isElsewhere(hold, instanceId)) this.#move(sessionId, hold, instanceId);
    hold.count += 1;
    this.#cancelLinger?.();
    this.#client.start();
    let isReleased = false;
    const release = (): void => {
      if (isReleased) return;
      isReleased = true;
      hold.count -= 1;
      if (hold.count === 0) this.#release(sessionId, hold);
    };
    return { ready: hold.ready, release };
  }

  /** The session, where it is held and ready. */
  held(sessionId: string): SessionClient | undefined {
    return this.#holds.get(sessionId)?.session;
  }

  /** Loads a session that a screen will hold in a moment. Resolves when it has something to show, or never will. */
  async warm(sessionId: string, instanceId?: string): Promise<void> {
    const { ready, release } = this.hold(sessionId, instanceId);
    this.#clock.after(WARM_MS, release);
    const { view } = await ready;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        const { attach, transcript } = view.value;
        if (transcript.items.length === 0 && WAITING.has(attach.kind)) return;
        unsubscribe();
        resolve();
      };
      const unsubscribe = view.subscribe(look);
      look();
    });
  }

  /** What can be read without a hub, newest first. */
  async kept(): Promise<readonly KeptSession[]> {
    const keys = await this.#storage.keys(SESSION_PREFIX).catch(() => []);
    const found = await Promise.all(
      keys.map(async (key) => ({ key, value: await this.#storage.get(key).catch(() => undefined) })),
    );
    return found
      .flatMap(({ key, value }) =>
        isSaved(value)
          ? [{ sessionId: key.slice(SESSION_PREFIX.length), title: titleOf(value), savedAt: value.savedAt }]
          : [],
      )
      .sort((a, b) => b.savedAt - a.savedAt);
  }

  /** Writes what is not yet written: the page may not come back. */
  saveAll(): void {
    for (const sessionId of [...this.#cancelSaves.keys()]) this.#save(sessionId);
  }

  #open(sessionId: string, instanceId: string | undefined): Hold {
    const last = this.#last;
    const isMoved = last?.sessionId === sessionId && instanceId !== undefined && last.instanceId !== instanceId;
    const hold: Hold = {
      count: 0,
      instanceId,
      ready: this.#attach(sessionId, instanceId, isMoved),
      session: undefined,
      unsubscribe: undefined,
    };
    this.#holds.set(sessionId, hold);
    this.#watch(sessionId, hold);
    return hold;
  }

  /** Reads it at another instance from now on (S9): whoever holds it goes along. */
  #move(sessionId: string, hold: Hold, instanceId: string): void {
    if (this.#cancelSaves.has(sessionId)) this.#save(sessionId);
    hold.unsubscribe?.();
    this.#client.close(sessionId);
    hold.instanceId = instanceId;
    hold.session = undefined;
    hold.ready = this.#attach(sessionId, instanceId, true);
    this.#watch(sessionId, hold);
  }

  /** `isMoved`: what the device keeps is of the instance it was read at before, whose history is numbered otherwise. */
  #attach(sessionId: string, instanceId: string | undefined, isMoved: boolean): Promise<SessionClient> {
    const options = instanceId === undefined ? {} : { instance: instanceId };
    return this.#client.open(sessionId, options, isMoved ? undefined : (session) => this.#restore(session));
  }

  #watch(sessionId: string, hold: Hold): void {
    const { ready } = hold;
    void ready.then((session) => {
      if (this.#holds.get(sessionId) !== hold || hold.ready !== ready) return;
      hold.session = session;
      hold.unsubscribe = session.view.subscribe(() => this.#saveSoon(sessionId));
    });
  }

  #release(sessionId: string, hold: Hold): void {
    if (this.#cancelSaves.has(sessionId)) this.#save(sessionId);
    const last = { sessionId, instanceId: whereOf(hold) };
    this.#last = last;
    queueMicrotask(() => {
      if (this.#last === last) this.#last = undefined;
    });
    this.#holds.delete(sessionId);
    hold.unsubscribe?.();
    this.#client.close(sessionId);
    if (this.#holds.size > 0) return;
    this.#cancelLinger = this.#clock.after(LINGER_MS, () => {
      if (this.#holds.size === 0) this.#client.connection.stop();
    });
  }

  #holdForPrompts(): void {
    const waiting = new Set<string>();
    for (const entry of this.#client.outbox.entries.value) {
      if (entry.delivery !== "done" && entry.delivery !== "failed") waiting.add(entry.sessionId);
    }
    for (const id of waiting) if (!this.#promptHolds.has(id)) this.#promptHolds.set(id, this.hold(id).release);
    for (const [id, release] of this.#promptHolds) {
      if (waiting.has(id)) continue;
      this.#promptHolds.delete(id);
      release();
    }
  }

  async #restore(session: SessionClient): Promise<void> {
    const saved = await this.#storage.get(sessionKey(session.sessionId)).catch(() => undefined);
    if (isSaved(saved)) session.restore(saved);
  }

  #saveSoon(sessionId: string): void {
    if (this.#cancelSaves.has(sessionId)) return;
    this.#cancelSaves.set(
      sessionId,
      this.#clock.after(SAVE_MS, () => this.#save(sessionId)),
    );
  }

  #save(sessionId: string): void {
    this.#cancelSaves.get(sessionId)?.();
    this.#cancelSaves.delete(sessionId);
    const session = this.#client.session(sessionId);
    if (session === undefined || session.view.value.transcript.items.length === 0) return;
    const saved = shortened(session.save());
    void this.#storage
      .set(sessionKey(sessionId), saved)
      .then(() => this.#forgetOldest())
      .catch(() => undefined);
  }

  async #forgetOldest(): Promise<void> {
    const keys = await this.#storage.keys(SESSION_PREFIX);
    if (keys.length <= SESSIONS_MAX) return;
    const saved = await Promise.all(keys.map(async (key) => ({ key, value: await this.#storage.get(key) })));
    const byAge = saved.sort((a, b) => savedAt(a.value) - savedAt(b.value));
    for (const { key } of byAge.slice(0, keys.length - SESSIONS_MAX)) await this.#storage.delete(key);
  }
}

/** As the agent calls it, else by what a person said first in it. */
function titleOf({ transcript: { info, items } }: SavedSession): string | undefined {
  const said = items.find((item) => item.kind === "user");
  return stringAt(info, "title") ?? (said?.kind === "user" ? textOf(said.blocks).trim().split("\n")[0] : undefined);
}

/** The instance it is read at: the one asked for, or where the hub had it. */
const whereOf = (hold: Hold): string | undefined =>
  hold.instanceId ?? stringAt(hold.session?.view.value.agent, "instance");

/** It is read at another instance than this one, or could not be read where the hub looked for it. */
function isElsewhere(hold: Hold, instanceId: string): boolean {
  const where = whereOf(hold);
  return where === undefined ? hold.session?.view.value.attach.kind === "failed" : where !== instanceId;
}

function shortened(saved: SavedSession): SavedSession {
  const { items } = saved.transcript;
  if (items.length <= ITEMS_MAX) return saved;
  return { ...saved, hasEarlier: true, transcript: { ...saved.transcript, items: items.slice(-ITEMS_MAX) } };
}

const savedAt = (value: unknown): number => (isSaved(value) ? value.savedAt : 0);

function isSaved(value: unknown): value is SavedSession {
  return (
    typeof value === "object" && value !== null && "version" in value && value.version === 1 && "transcript" in value
  );
}
