/**
 * Turns nobody prompted end by their own events, and those can be lost. While one is open the session is looked at now
 * and then: twice idle means it is over. Otherwise its cards, and the "running" told about it, would stay for ever.
 */
import { pause } from "../clock.ts";
import type { Host } from "../host.ts";
import type { Lifecycle } from "../sessions/lifecycle.ts";
import type { Session } from "../sessions/session.ts";
import { TIMING } from "../timing.ts";
import { isIdle } from "./idle.ts";
import type { Turn } from "./turn-table.ts";

const isForeign = (turn: Turn): boolean => turn.kind !== "own" || turn.isDead;

export class ForeignWatch {
  readonly #host: Host;
  readonly #lifecycle: Lifecycle;
  readonly #watched = new Set<Session>();

  constructor(host: Host, lifecycle: Lifecycle) {
    this.#host = host;
    this.#lifecycle = lifecycle;
  }

  /** Starts looking, unless it is looking already. `close` ends a turn. */
  watch(session: Session, close: (turn: Turn) => void): void {
    if (this.#watched.has(session)) return;
    this.#watched.add(session);
    this.#loop(session, close)
      .catch(() => this.#host.log("debug", "watch of a foreign turn ended"))
      .finally(() => this.#watched.delete(session));
  }

  async #loop(session: Session, close: (turn: Turn) => void): Promise<void> {
    const { clock } = this.#host;
    for (;;) {
      await pause(clock, TIMING.stallMs);
      if (session.isClosed || session.generation === undefined) return;
      const open = [...session.turns.live].filter(isForeign);
      if (open.length === 0) return;
      const silent = open.filter((turn) => clock.now() - turn.lastEventAt >= TIMING.stallMs);
      if (silent.length === 0 || this.#host.asks.openCount(session) > 0) continue;
      if (!(await this.#isOver(session))) continue;
      await pause(clock, TIMING.idleTwiceMs);
      if (!(await this.#isOver(session))) continue;
      for (const turn of silent) {
        if (session.turns.get(turn.key) === turn && clock.now() - turn.lastEventAt >= TIMING.stallMs) close(turn);
      }
    }
  }

  #isOver(session: Session): Promise<boolean> {
    return isIdle(this.#lifecycle, session, "not-found", "dead");
  }
}
