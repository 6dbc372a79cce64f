/**
 * Has an older hub replaced by one of this bridge's program (ADR 7). The hub says in its welcome whether it would make room; the new
 * hub asks it itself, on the hub's own socket. A bridge that is older than its hub does nothing.
 */
import { LINK_FEATURE } from "../protocol/link.ts";
import type { HubLauncher } from "./hub-launcher.ts";
import type { HubWelcome } from "./link-dialer.ts";
import type { BridgeLog } from "./log.ts";

/** A new hub that did not come up is tried again, ever less often, as long as the old one serves. */
const FIRST_RETRY_MS = 10_000;
const MAX_RETRY_MS = 600_000;

export class HubUpgrade {
  readonly #launcher: HubLauncher;
  readonly #log: BridgeLog;
  #timer: NodeJS.Timeout | undefined;

  constructor(launcher: HubLauncher, log: BridgeLog) {
    this.#launcher = launcher;
    this.#log = log;
  }

  /** The link is up, to this hub. */
  onUp(hub: HubWelcome): void {
    this.stop();
    if (!hub.features.includes(LINK_FEATURE.makesRoom)) return;
    this.#log.info("the hub is older: starting a newer one", { hubVersion: hub.version });
    this.#try(FIRST_RETRY_MS);
  }

  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #try(retryMs: number): void {
    void this.#launcher.launch();
    this.#timer = setTimeout(() => this.#try(Math.min(MAX_RETRY_MS, retryMs * 2)), retryMs);
    this.#timer.unref();
  }
}
