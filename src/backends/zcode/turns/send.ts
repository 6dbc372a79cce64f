/** Getting a prompt accepted: waiting for a dying turn to let go, and for the lock whatever the build calls it. */
import type { JsonObject } from "../../../protocol/json.ts";
import { pause } from "../clock.ts";
import type { Host } from "../host.ts";
import { isKind, ZcodeError } from "../rpc/errors.ts";
import type { Lifecycle } from "../sessions/lifecycle.ts";
import type { Session } from "../sessions/session.ts";
import { TIMING } from "../timing.ts";
import { isIdle } from "./idle.ts";
import type { PromptRun } from "./run.ts";
import type { DyingTurn } from "./turn-table.ts";

/** Thrown inside a run that was cancelled; never leaves the prompt's own code. */
export class RunCancelled extends Error {}

/** `work`, or RunCancelled the moment the run is cancelled. */
export function orCancelled<T>(run: PromptRun, work: Promise<T>): Promise<T> {
  const { signal } = run;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(new RunCancelled());
    if (signal.aborted) return onAbort();
    signal.addEventListener("abort", onAbort);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

export class Sender {
  readonly #host: Host;
  readonly #lifecycle: Lifecycle;

  constructor(host: Host, lifecycle: Lifecycle) {
    this.#host = host;
    this.#lifecycle = lifecycle;
  }

  /**
   * Waits until a cancelled turn has let go of the session. A build that ignores the stop, and takes sends into the
   * running turn to drop them, is closed and resumed; one seen to refuse such sends can simply be asked again.
   */
  async drain(session: Session, run: PromptRun): Promise<void> {
    const { clock } = this.#host;
    const { dying } = session.turns;
    if (dying === undefined) return;
    run.followsCancel = true;
    const started = clock.now();
    while (!dying.isEnded) {
      await orCancelled(run, Promise.race([dying.ended, pause(clock, TIMING.drainStepMs, run.signal)]));
      if (dying.isEnded) break;
      if (await orCancelled(run, isIdle(this.#lifecycle, session))) break;
      const waited = clock.now() - started;
      if (waited >= TIMING.drainLimitMs) break;
      if (waited < TIMING.drainGraceMs) continue;
      if (session.rejectsMidTurn) break;
      this.#host.log("warn", "a stopped turn did not end, session restarted");
      await orCancelled(run, this.#lifecycle.restart(session));
      break;
    }
    settle(session, dying);
  }

  /** Waits for a compaction to end: its turn would take the prompt and give its summary as the reply. */
  async compacted(session: Session, run: PromptRun): Promise<void> {
    const { clock } = this.#host;
    const until = clock.now() + TIMING.compactLimitMs;
    while (session.compaction.isRunning && clock.now() < until) {
      const step = pause(clock, TIMING.compactLookMs, run.signal);
      await orCancelled(run, Promise.race([session.compaction.outcome().then(() => {}), step]));
      // Its outcome can be lost like any other event.
      if (session.compaction.isRunning && (await orCancelled(run, isIdle(this.#lifecycle, session))))
        session.compaction.end("failed");
    }
  }

  /** Sends until the backend accepts. Rejects when it stays busy for too long, and at once for anything but busy. */
  async send(session: Session, run: PromptRun, params: JsonObject): Promise<void> {
    const { clock } = this.#host;
    const started = clock.now();
    run.phase = "sending";
    run.lastEventAt = started;
    for (;;) {
      try {
        run.wasSent = true;
        await orCancelled(run, this.#lifecycle.call(session, "session/send", params));
        break;
      } catch (error) {
        // The answer was lost on the way, the turn was not.
        if (isKind(error, "timeout") && run.turn !== undefined) break;
        if (!isKind(error, "busy")) throw error;
        run.wasSent = false;
        session.rejectsMidTurn = true;
        const limit = session.turns.hasBackground ? TIMING.busyBackgroundLimitMs : TIMING.busyLimitMs;
        const waited = clock.now() - started;
        if (waited >= limit) {
          throw new ZcodeError(
            "busy",
            `ZCode was still busy with another turn after ${Math.round(waited / 1000)} s`,
            error.code,
            undefined,
            error,
          );
        }
        await orCancelled(run, this.#lockFreeOr(session, TIMING.busyStepMs));
      }
    }
    run.lastEventAt = clock.now();
    // Its turn may have started, or even ended, before the acceptance was read.
    if (run.phase === "sending") run.phase = "waiting";
  }

  #lockFreeOr(session: Session, ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        cancel();
        session.onLockFree.delete(done);
        resolve();
      };
      const cancel = this.#host.clock.setTimeout(done, ms);
      session.onLockFree.add(done);
    });
  }
}

function settle(session: Session, dying: DyingTurn): void {
  if (dying.key !== undefined) session.turns.end(dying.key);
  dying.end();
  if (session.turns.dying === dying) session.turns.dying = undefined;
}
