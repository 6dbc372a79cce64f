/** Instances, their sessions and the open questions, kept fresh by the hub's event stream. */
import {
  ApiError,
  type ClientStorage,
  type Clock,
  type HubApi,
  type HubClient,
  type Instance,
  Observable,
} from "../../client/index.ts";

export interface HomeState {
  readonly instances: readonly Instance[];
  /** When the hub last told, epoch milliseconds; undefined before the first time. */
  readonly freshAt: number | undefined;
  readonly error: string | undefined;
}

const SAVED = "home";

/** Several events in a row are one refresh. */
const SETTLE_MS = 120;

export class HomeStore {
  readonly state: Observable<HomeState> = new Observable<HomeState>({
    instances: [],
    freshAt: undefined,
    error: undefined,
  });
  readonly #api: HubApi;
  readonly #client: HubClient;
  readonly #storage: ClientStorage;
  readonly #clock: Clock;
  readonly #onUnauthorized: () => void;
  #cancelRefresh: (() => void) | undefined;
  #sequence = 0;

  constructor(options: {
    readonly api: HubApi;
    readonly client: HubClient;
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
    const saved = await this.#storage.get(SAVED);
    if (this.state.value.freshAt === undefined && isSaved(saved)) this.state.set({ ...saved, error: undefined });
  }

  refreshSoon(): void {
    this.#cancelRefresh ??= this.#clock.after(SETTLE_MS, () => void this.refresh());
  }

  async refresh(): Promise<void> {
    this.#cancelRefresh?.();
    this.#cancelRefresh = undefined;
    const sequence = ++this.#sequence;
    try {
      const [instances, interactions] = await Promise.all([this.#api.instances(), this.#api.interactions()]);
      // An older answer never overwrites a newer one.
      if (sequence !== this.#sequence) return;
      this.#client.setListed(interactions);
      const state: HomeState = { instances, freshAt: this.#clock.now(), error: undefined };
      this.state.set(state);
      await this.#storage.set(SAVED, state).catch(() => undefined);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 401) this.#onUnauthorized();
      else if (sequence === this.#sequence) this.state.set({ ...this.state.value, error: error.message });
    }
  }
}

function isSaved(value: unknown): value is HomeState {
  return typeof value === "object" && value !== null && "instances" in value && Array.isArray(value.instances);
}

/** The instance that has this session live. */
export function instanceOf(state: HomeState, sessionId: string): Instance | undefined {
  return state.instances.find((instance) => instance.sessions.some((session) => session.sessionId === sessionId));
}
