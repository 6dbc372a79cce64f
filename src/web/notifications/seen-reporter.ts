/**
 * Tells the hub which session is on this screen, so that nobody's pocket buzzes for what is being looked at. A page in the
 * background looks at nothing, though its socket may stay for a while.
 */
import type { HubClient, PushApi } from "../../client/index.ts";
import type { Router } from "../app/router.ts";

export class SeenReporter {
  readonly #api: PushApi;
  readonly #client: HubClient;
  readonly #router: Router;
  #told: string | undefined;

  constructor(api: PushApi, client: HubClient, router: Router) {
    this.#api = api;
    this.#client = client;
    this.#router = router;
  }

  start(): void {
    this.#router.route.subscribe(() => this.#tell());
    document.addEventListener("visibilitychange", () => this.#tell());
    this.#client.connection.state.subscribe(() => {
      // A hub that was started again remembers no screens.
      if (this.#client.connection.state.value.kind !== "ready") this.#told = undefined;
      else this.#tell();
    });
  }

  #tell(): void {
    const seen = this.#seen();
    if (seen === this.#told) return;
    this.#told = seen;
    // Not heard: one push too many, or the hub's own wait for an answer. Never one too few.
    this.#api.tellSeen(seen).catch(() => undefined);
  }

  #seen(): string | undefined {
    const route = this.#router.route.value;
    const isSeen = document.visibilityState === "visible" && this.#client.connection.state.value.kind === "ready";
    return isSeen && route.screen === "session" ? route.sessionId : undefined;
  }
}
