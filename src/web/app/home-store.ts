/** Instances, their sessions and the open questions, kept fresh by the hub's event stream. */
import {
  ApiError,
  type ClientStorage,
  type Clock,
  type HubApi,
  type HubClient,
  type HubEvents,
  type Instance,
  type InstanceSession,
  Observable,
} from "../../client/index.ts";
import { includesEvent } from "../../protocol/event-position.ts";
import { HOME_KEY } from "../platform/stored-names.ts";

export interface HomeState {
  readonly instances: readonly Instance[];
  /** When the hub last told, epoch milliseconds; undefined before the first time. */
  readonly freshAt: number | undefined;
  readonly error: string | undefined;
}

/** Several events in a row are one refresh. */
const SETTLE_MS = 120;

/** Signs of life and greetings: nothing changed. */
const QUIET_EVENTS: ReadonlySet<string> = new Set(["beat", "hello"]);

export class HomeStore {
  readonly state: Observable<HomeState> = new Observable<HomeState>({
    instances: [],
    freshAt: undefined,
    error: undefined,
  });
  readonly #api: HubApi;
  readonly #client: Pick<HubClient, "setListed">;
  readonly #storage: ClientStorage;
  readonly #clock: Clock;
  readonly #onUnauthorized: () => void;
  #cancelRefresh: (() => void) | undefined;
  #sequence = 0;
  #readingCount = 0;
  /** The last event that is in what is shown; undefined: the hub does not say. */
  #asOf: string | undefined;
  /** The stream begins behind this event: it tells of nothing up to it. */
  #startOfStream: string | undefined;

  constructor(options: {
    readonly api: HubApi;
    readonly client: Pick<HubClient, "setListed">;
    readonly storage: ClientStorage;
    readonly clock: Clock;
    readonly onUnauthorized: () => void;
  }) {
    this.#api = options.api;
    this.#client = options.client;
    this.#storage = options.storage;
    this.#clock = options.clock;
    this.#onUnauthorized = options.onUnauthorized;
  }

  /** Shows what the device kept, for the time until the hub answers. */
  async restore(): Promise<void> {
    const saved = await this.#storage.get(HOME_KEY);
    if (this.state.value.freshAt === undefined && isSaved(saved)) this.state.set({ ...saved, error: undefined });
  }

  /** Reads anew what the stream tells of. The list is asked for beside it, not behind it: who starts waits for one answer, not three. */
  follow(events: HubEvents): void {
    events.events.subscribe(({ name, id }) => {
      if (name === "reset") this.#onReset(id);
      else if (!QUIET_EVENTS.has(name)) this.refreshSoon();
    });
    // What could not be read while the hub was away: no event tells of that.
    events.state.subscribe(() => {
      if (events.state.value === "open" && this.state.value.error !== undefined) this.refreshSoon();
    });
  }

  refreshSoon(): void {
    this.#cancelRefresh ??= this.#clock.after(SETTLE_MS, () => void this.refresh());
  }

  async refresh(): Promise<void> {
    this.#cancelRefresh?.();
    this.#cancelRefresh = undefined;
    const sequence = ++this.#sequence;
    this.#readingCount += 1;
    try {
      const { instances, interactions, asOf } = await this.#api.overview();
      // An older answer never overwrites a newer one.
      if (sequence !== this.#sequence) return;
      this.#asOf = asOf;
      this.#client.setListed(interactions);
      const state: HomeState = { instances, freshAt: this.#clock.now(), error: undefined };
      this.state.set(state);
      await this.#storage.set(HOME_KEY, state).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) this.#onUnauthorized();
      else if (sequence === this.#sequence) this.state.set({ ...this.state.value, error: error.message });
    } finally {
      this.#readingCount -= 1;
      this.#compare();
    }
  }

  /** The stream was opened without a place to go on from, or that place is gone. */
  #onReset(id: string | undefined): void {
    if (id === undefined) return this.refreshSoon();
    this.#startOfStream = id;
    return this.#compare();
  }

  /** Reads once more only what may have been missed between the answer and the stream. */
  #compare(): void {
    const id = this.#startOfStream;
    // What is on its way may have it.
    if (id === undefined || this.#readingCount > 0) return;
    this.#startOfStream = undefined;
    if (this.#asOf === undefined || !includesEvent(this.#asOf, id)) this.refreshSoon();
  }
}

function isSaved(value: unknown): value is HomeState {
  return typeof value === "object" && value !== null && "instances" in value && Array.isArray(value.instances);
}

/** The instance that has this session live: the one named, else where it goes on. */
export function instanceOf(state: HomeState, sessionId: string, instanceId?: string): Instance | undefined {
  const holding = state.instances.filter((instance) => sessionAt(instance, sessionId) !== undefined);
  return (
    holding.find(({ id }) => id === instanceId) ??
    holding.find((instance) => sessionAt(instance, sessionId)?.isSuperseded !== true) ??
    holding[0]
  );
}

export const sessionAt = (instance: Instance | undefined, sessionId: string): InstanceSession | undefined =>
  instance?.sessions.find((session) => session.sessionId === sessionId);

/** Where a session goes on that was left at this instance (S9); undefined: it was not, or it still runs or waits here as well. */
export function successorOf(state: HomeState, instance: Instance, sessionId: string): Instance | undefined {
  const session = sessionAt(instance, sessionId);
  if (session?.isSuperseded !== true || session.status !== "idle" || session.openInteractions > 0) return undefined;
  const others = state.instances.filter((other) => other !== instance);
  const named = others.find(({ id }) => id === session.supersededBy);
  if (named !== undefined) return named;
  // A hub that does not say: the same session is one in the same directory.
  return others.find((other) => {
    const twin = sessionAt(other, sessionId);
    return twin !== undefined && !twin.isSuperseded && twin.cwd === session.cwd;
  });
}

/** What a person calls the place where an instance runs. */
export const placeOf = ({ editor, name }: Instance): string => editor ?? name;
