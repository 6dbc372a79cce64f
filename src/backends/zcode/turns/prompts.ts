/** A prompt's way: place in the lane, session alive, lock free, sent, streamed, finished, answered. */

import { invalidParams } from "../../../protocol/errors.ts";
import { arrayAt, type JsonObject } from "../../../protocol/json.ts";
import { AcpFailure } from "../acp/link.ts";
import { pause, within } from "../clock.ts";
import { neutralised } from "../commands.ts";
import type { Host } from "../host.ts";
import type { Lifecycle } from "../sessions/lifecycle.ts";
import type { Session } from "../sessions/session.ts";
import { TIMING } from "../timing.ts";
import { type PromptContent, promptContent, titleOf } from "../translate/content.ts";
import type { Update } from "../translate/event.ts";
import { readMessages } from "../translate/messages.ts";
import { RETRY_DELAYS_MS } from "../translate/outcome.ts";
import type { Finisher } from "./finish.ts";
import { noteUpdate, type Router } from "./router.ts";
import { PromptRun, type RunEnd } from "./run.ts";
import { orCancelled, RunCancelled, type Sender } from "./send.ts";
import { StallWatch } from "./stall-watch.ts";
import { stopBackend } from "./stop.ts";
import { dyingTurn } from "./turn-table.ts";

const ANCHOR_MS = 2_000;
const CANCELLED: JsonObject = { stopReason: "cancelled" };

export interface PromptParts {
  readonly lifecycle: Lifecycle;
  readonly router: Router;
  readonly sender: Sender;
  readonly finisher: Finisher;
}

export class Prompts {
  readonly #host: Host;
  readonly #parts: PromptParts;

  constructor(host: Host, parts: PromptParts) {
    this.#host = host;
    this.#parts = parts;
  }

  /** Runs one prompt. A prompt that comes while another of this session runs takes its place (that one is cancelled). */
  async prompt(session: Session, params: JsonObject, signal: AbortSignal): Promise<JsonObject> {
    const content = promptContent(arrayAt(params, "prompt") ?? []);
    if (content.text.trim() === "" && content.attachments.length === 0) {
      throw new AcpFailure(invalidParams("prompt", "must hold text or an image"));
    }
    for (const other of [...session.runs]) this.cancelRun(session, other);
    const run = new PromptRun(content.text);
    session.runs.add(run);
    const onAbort = (): void => this.cancelRun(session, run);
    signal.addEventListener("abort", onAbort);
    const work = session.lane.then(() => this.#execute(session, run, content));
    session.lane = work.then(
      () => {},
      () => {},
    );
    try {
      return await orCancelled(run, work);
    } catch (error) {
      if (error instanceof RunCancelled || run.isCancelled) return CANCELLED;
      throw error;
    } finally {
      signal.removeEventListener("abort", onAbort);
      this.#over(session, run);
    }
  }

  /** The client's cancel: every prompt of the session, and whatever turn the backend runs by itself. */
  cancelSession(session: Session): void {
    for (const run of [...session.runs]) this.cancelRun(session, run);
    const foreign = [...session.turns.live].filter((turn) => turn.kind !== "own" && !turn.isDead);
    if (foreign.length === 0 && !session.compaction.isRunning) return;
    for (const turn of foreign) {
      turn.isDead = true;
      const out: Update[] = [];
      session.cards.closeTurn(turn.key, undefined, out);
      session.emit(out);
    }
    if (foreign.length > 0) session.turns.dying ??= dyingTurn(foreign[0]?.key, this.#host.clock.now());
    stopBackend(this.#host, session);
    this.#host.asks.cancel(session, "The turn was cancelled");
  }

  /** Cancels one prompt: its answer is immediate, and nothing more of its turn is shown. */
  cancelRun(session: Session, run: PromptRun): void {
    if (run.isOver) return;
    run.cancel();
    if (!run.wasSent) return;
    const { turn } = run;
    const isStillRunning = !run.isTurnOver;
    if (turn !== undefined) turn.isDead = true;
    if (isStillRunning) {
      session.turns.dying = dyingTurn(turn?.key ?? run.steeredInto, this.#host.clock.now());
      stopBackend(this.#host, session, turn?.foregroundExecutionId);
    }
    this.#host.asks.cancel(session, "The turn was cancelled");
    this.#closeCards(session, run);
  }

  #over(session: Session, run: PromptRun): void {
    this.#closeCards(session, run);
    if (!run.isCancelled) run.phase = "over";
    session.runs.delete(run);
  }

  #closeCards(session: Session, run: PromptRun): void {
    if (run.turn === undefined) return;
    const out: Update[] = [];
    session.cards.closeTurn(run.turn.key, undefined, out);
    session.emit(out);
  }

  async #execute(session: Session, run: PromptRun, content: PromptContent): Promise<JsonObject> {
    const { lifecycle, sender, finisher } = this.#parts;
    if (run.isCancelled) throw new RunCancelled();
    await orCancelled(run, lifecycle.ensureLive(session));
    await sender.compacted(session, run);
    await sender.drain(session, run);
    run.text = neutralised(content.text, session.slashCommands);
    this.#title(session, content.text);
    const anchor = await orCancelled(run, this.#anchor(session));
    const params: JsonObject = {
      content: run.text,
      ...(content.attachments.length === 0 ? {} : { attachments: [...content.attachments] }),
    };
    const end = await this.#attempts(session, run, params);
    if (end.kind === "frozen") stopBackend(this.#host, session, run.turn?.foregroundExecutionId);
    return finisher.finish(session, run, end, anchor);
  }

  /** Sends, and sends again after a failure of the network kind, as long as nothing of a reply was shown. */
  async #attempts(session: Session, run: PromptRun, params: JsonObject): Promise<RunEnd> {
    for (let attempt = 0; ; attempt++) {
      if (attempt > 0) run.beginAttempt();
      const end = await this.#attempt(session, run, params);
      const delay = RETRY_DELAYS_MS[attempt];
      const isTransient = end.kind === "outcome" && end.outcome.kind === "failed" && end.outcome.isTransient;
      if (!isTransient || run.hasOutput || delay === undefined) return end;
      const note = `The model could not be reached; trying again in ${delay / 1000} s.`;
      session.emit([noteUpdate(note, "retry", `retry_${this.#host.newId()}`)]);
      await orCancelled(run, pause(this.#host.clock, delay, run.signal));
    }
  }

  async #attempt(session: Session, run: PromptRun, params: JsonObject): Promise<RunEnd> {
    const { lifecycle, router, sender } = this.#parts;
    const { clock, config, newId } = this.#host;
    let stopHint = (): void => {};
    run.onStarted = () => {
      if (!config.showsThinkingHint) return;
      stopHint = clock.setTimeout(() => {
        if (!run.hasOutput && !run.isOver) session.emit([noteUpdate("Thinking…", "thinking", `thinking_${newId()}`)]);
      }, TIMING.thinkingHintMs);
    };
    const watch: { current?: StallWatch } = {};
    run.onCompletedHint = () => watch.current?.hint();
    try {
      await sender.send(session, run, params);
      watch.current = new StallWatch(this.#host, lifecycle, session, run, (end) => {
        if (run.turn !== undefined) router.close(session, run.turn, end);
        else run.endTurn(end);
      });
      return await orCancelled(run, run.ended);
    } finally {
      stopHint();
      watch.current?.stop();
      run.onStarted = undefined;
      run.onCompletedHint = undefined;
    }
  }

  /** The last stored message before the prompt: everything after it is news. */
  async #anchor(session: Session): Promise<string | undefined> {
    const read = this.#parts.lifecycle.call(session, "session/messages", { limit: 1 });
    const result = await within(this.#host.clock, ANCHOR_MS, read, {});
    return readMessages(arrayAt(result, "messages") ?? []).at(-1)?.id;
  }

  /** Named once, from the first prompt, the moment it is sent. */
  #title(session: Session, text: string): void {
    if (!session.isBornHere || session.title !== undefined) return;
    const title = titleOf(text);
    if (title === undefined) return;
    session.title = title;
    const updatedAt = new Date(this.#host.clock.now()).toISOString();
    session.emit([{ sessionUpdate: "session_info_update", title, updatedAt }]);
  }
}
