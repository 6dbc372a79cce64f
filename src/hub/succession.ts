/**
 * Who comes after this hub (ADR 7). A newer acp-hub takes over from an older one, never the other way round, and a hub that a person
 * runs in a terminal is that person's to end. No program is ever named over a socket: a successor is a process that runs already and
 * asks on the local socket, which only this user can open; a service starts again from where it was installed.
 *
 * Su1 what takes over is newer; only a supervisor's hub may be as new.
 * Su2 one successor: once room is being made, nobody else is accepted.
 * Su3 a supervisor's hub ends only when its supervisor would start a newer one.
 */
import { LINK_FEATURE } from "../protocol/link.ts";
import { isNewerVersion } from "../protocol/version-order.ts";

/** Who started a hub: a bridge that found none, a person in a terminal, systemd or launchd. */
export type StartedBy = "bridge" | "person" | "supervisor";

export interface Successor {
  readonly version: string;
  readonly pid: number;
  readonly startedBy: "bridge" | "supervisor";
}

/** `successor`: that process holds the home next. `restart`: the supervisor starts what is installed now. */
export type HandOver = { readonly kind: "successor"; readonly pid: number } | { readonly kind: "restart" };

export type SuccessionRefusal = "not-newer" | "making-room" | "by-hand" | "supervised";

export interface SuccessionOptions {
  readonly version: string;
  readonly startedBy: StartedBy;
  /** The version of the program a supervisor would start now, as that program says it. Undefined: it says nothing. */
  installedVersion(): Promise<string | undefined>;
  /** A bridge is newer than this hub, and nothing will be done about it. Told once per version. */
  onStuck(bridgeVersion: string, why: "by-hand" | "supervised"): void;
}

export class Succession {
  /** Resolves when this hub has to go. */
  readonly due: Promise<HandOver>;
  readonly #options: SuccessionOptions;
  #resolve: (handOver: HandOver) => void = () => undefined;
  #isMakingRoom = false;
  #isLooking = false;
  #newest: string | undefined;

  constructor(options: SuccessionOptions) {
    this.#options = options;
    this.due = new Promise((resolve) => {
      this.#resolve = resolve;
    });
  }

  get startedBy(): StartedBy {
    return this.#options.startedBy;
  }

  get isMakingRoom(): boolean {
    return this.#isMakingRoom;
  }

  /** The newest version a bridge has shown, where it is newer than this hub. */
  get newestBridge(): string | undefined {
    return this.#newest;
  }

  /** A bridge says hello: the features of its welcome. */
  onBridge(bridgeVersion: string): readonly string[] {
    const { version, startedBy, onStuck } = this.#options;
    if (!isNewerVersion(bridgeVersion, version)) return [];
    const isNews = this.#newest === undefined || isNewerVersion(bridgeVersion, this.#newest);
    if (isNews) this.#newest = bridgeVersion;
    if (startedBy === "bridge") return [LINK_FEATURE.makesRoom];
    if (startedBy === "supervisor") void this.#restartIfUpdated(bridgeVersion, isNews);
    else if (isNews) onStuck(bridgeVersion, "by-hand");
    return [];
  }

  /** Su1, Su2: accepts or refuses. What was accepted begins with `begin`, when the answer is out. */
  ask(successor: Successor): HandOver | SuccessionRefusal {
    const { version, startedBy } = this.#options;
    if (this.#isMakingRoom) return "making-room";
    if (startedBy === "person") return "by-hand";
    if (startedBy === "supervisor") return "supervised";
    const isNewer = isNewerVersion(successor.version, version);
    const isAsNew = successor.startedBy === "supervisor" && !isNewerVersion(version, successor.version);
    if (!isNewer && !isAsNew) return "not-newer";
    this.#isMakingRoom = true;
    return { kind: "successor", pid: successor.pid };
  }

  begin(handOver: HandOver): void {
    this.#resolve(handOver);
  }

  /** Su3: the program is asked for its version, because an update may be half done, and files beside it may say anything. */
  async #restartIfUpdated(bridgeVersion: string, isNews: boolean): Promise<void> {
    if (this.#isLooking || this.#isMakingRoom) return;
    this.#isLooking = true;
    const installed = await this.#options.installedVersion().catch(() => undefined);
    this.#isLooking = false;
    if (installed !== undefined && isNewerVersion(installed, this.#options.version)) {
      this.#isMakingRoom = true;
      this.begin({ kind: "restart" });
    } else if (isNews) this.#options.onStuck(bridgeVersion, "supervised");
  }
}
