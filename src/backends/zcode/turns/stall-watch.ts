/**
 * Finds the end of a turn whose terminal event was lost, and never invents one: a turn that waits for a person, whose
 * projection moves or whose tool runs goes on for as long as it takes.
 */
import { type JsonObject, numberAt, objectAt, stringAt } from "../../../protocol/json.ts";
import type { Host } from "../host.ts";
import { isKind } from "../rpc/errors.ts";
import type { Lifecycle } from "../sessions/lifecycle.ts";
import type { Session } from "../sessions/session.ts";
import { TIMING } from "../timing.ts";
import { usageOfProjection, usageUpdate } from "../translate/usage.ts";
import type { PromptRun, RunEnd } from "./run.ts";

/** A look this much later than it was due says that the computer slept, and that nothing could move meanwhile. */
const SLEPT_MS = 60_000;
const BUSY = new Set(["running", "waiting"]);

/** What moves in a projection while a turn is alive. */
function watermark(projection: JsonObject | undefined): string {
  const keys = ["contextUsed", "totalTokenCount", "turnCount"] as const;
  return [...keys.map((key) => numberAt(projection, key)), stringAt(projection, "currentTurnId")].join("/");
}

export class StallWatch {
  readonly #host: Host;
  readonly #lifecycle: Lifecycle;
  readonly #session: Session;
  readonly #run: PromptRun;
  readonly #onEnd: (end: RunEnd) => void;
  #cancelTimer: () => void = () => {};
  #isStopped = false;
  #sawIdle = false;
  #watermark: string | undefined;
  /** When anything last moved: an event, or the projection. */
  #movedAt: number;
  #toldAt = 0;
  #dueAt = 0;

  constructor(host: Host, lifecycle: Lifecycle, session: Session, run: PromptRun, onEnd: (end: RunEnd) => void) {
    this.#host = host;
    this.#lifecycle = lifecycle;
    this.#session = session;
    this.#run = run;
    this.#onEnd = onEnd;
    this.#movedAt = host.clock.now();
    this.#arm(TIMING.stallMs);
  }

  /** The backend said that a prompt completed: look soon. */
  hint(): void {
    this.#arm(TIMING.completedGraceMs);
  }

  stop(): void {
    this.#isStopped = true;
    this.#cancelTimer();
  }

  #arm(ms: number): void {
    this.#cancelTimer();
    if (this.#isStopped) return;
    this.#dueAt = this.#host.clock.now() + ms;
    this.#cancelTimer = this.#host.clock.setTimeout(() => void this.#fire(), ms);
  }

  async #fire(): Promise<void> {
    const run = this.#run;
    const now = this.#host.clock.now();
    if (now - this.#dueAt >= SLEPT_MS) this.#movedAt = now;
    if (this.#host.asks.openCount(this.#session) > 0) {
      this.#movedAt = now;
      return this.#arm(TIMING.stallMs);
    }
    const silence = now - run.lastEventAt;
    const wanted = this.#sawIdle ? TIMING.idleTwiceMs : run.sawCompleted ? TIMING.completedGraceMs : TIMING.stallMs;
    if (silence < wanted) {
      this.#sawIdle = false;
      return this.#arm(wanted - silence);
    }
    this.#movedAt = Math.max(this.#movedAt, run.lastEventAt);
    if (run.sawCompleted && run.turn !== undefined && silence >= TIMING.stallMs) return this.#end({ kind: "idle" });
    await this.#look(run.lastEventAt);
  }

  async #look(eventsBefore: number): Promise<void> {
    const askedAt = this.#host.clock.now();
    let projection: JsonObject | undefined;
    let status: string | undefined;
    try {
      const snapshot = await this.#lifecycle.call(this.#session, "session/read", { messageLimit: 1 });
      projection = objectAt(snapshot, "projection");
      status = stringAt(projection, "status");
    } catch (error) {
      // A session whose runtime is gone runs no turn.
      if (isKind(error, "not-active", "not-found")) status = "idle";
    }
    if (this.#isStopped) return;
    if (this.#host.clock.now() - askedAt >= SLEPT_MS) this.#movedAt = this.#host.clock.now();
    // What came meanwhile wins over what was read.
    if (this.#run.lastEventAt !== eventsBefore) {
      this.#sawIdle = false;
      return this.#arm(TIMING.stallMs);
    }
    if (status !== undefined && !BUSY.has(status)) return this.#idle();
    this.#sawIdle = false;
    this.#busy(projection);
    if (this.#isStopped) return;
    this.#lifecycle.refill(this.#session).catch(() => {});
    this.#arm(TIMING.stallMs);
  }

  #idle(): void {
    if (this.#sawIdle) return this.#end({ kind: "idle" });
    this.#sawIdle = true;
    this.#arm(TIMING.idleTwiceMs);
  }

  /** It runs, or cannot be looked into, which moves nothing. */
  #busy(projection: JsonObject | undefined): void {
    const now = this.#host.clock.now();
    const mark = projection === undefined ? this.#watermark : watermark(projection);
    const hasMoved = this.#watermark !== undefined && mark !== this.#watermark;
    this.#watermark = mark;
    if (hasMoved) {
      this.#movedAt = now;
      if (this.#mayTell(now)) this.#session.emit(this.#lifeSign(projection));
      return;
    }
    const key = this.#run.turn?.key;
    const open = key === undefined ? [] : this.#session.cards.openOf(key);
    if (open.length > 0) {
      this.#movedAt = now;
      if (this.#mayTell(now)) {
        this.#session.emit(
          open.map((card) => ({ sessionUpdate: "tool_call_update", toolCallId: card.id, status: "in_progress" })),
        );
      }
      return;
    }
    if (now - this.#movedAt >= TIMING.freezeMs) this.#end({ kind: "frozen" });
  }

  #lifeSign(projection: JsonObject | undefined): JsonObject[] {
    const usage =
      usageOfProjection(projection, this.#session.contextWindow) ??
      usageUpdate(numberAt(projection, "contextUsed"), undefined);
    return usage === undefined ? [] : [usage];
  }

  /** Whoever waits for us may have an idle deadline, so life is passed on; but never as a flood. */
  #mayTell(now: number): boolean {
    if (now - this.#toldAt < TIMING.progressEveryMs) return false;
    this.#toldAt = now;
    return true;
  }

  #end(end: RunEnd): void {
    this.stop();
    this.#onEnd(end);
  }
}
