/** The end of a prompt's turn: what the store has and the stream did not show, then the answer. */

import { RPC } from "../../../protocol/errors.ts";
import { arrayAt, type JsonObject } from "../../../protocol/json.ts";
import { AcpFailure } from "../acp/link.ts";
import { pause, within } from "../clock.ts";
import type { Host } from "../host.ts";
import type { Lifecycle } from "../sessions/lifecycle.ts";
import type { Session } from "../sessions/session.ts";
import { TIMING } from "../timing.ts";
import type { Update } from "../translate/event.ts";
import { readMessages, type ZMessage } from "../translate/messages.ts";
import { answersTo, pushUndelivered, type TurnShown } from "../translate/snapshot-diff.ts";
import { TurnText } from "../translate/stream.ts";
import { promptUsage } from "../translate/usage.ts";
import type { FollowUps } from "./follow-ups.ts";
import type { PromptRun, RunEnd } from "./run.ts";
import { orCancelled } from "./send.ts";

const LOOKBACK = 50;
const SYNC_MS = 8_000;

interface Rest {
  readonly anchor: string | undefined;
  /** The text the turn's end carried. */
  readonly response: string;
  /** A reply may still be on its way into the store. */
  readonly mayLag: boolean;
}

export class Finisher {
  readonly #host: Host;
  readonly #lifecycle: Lifecycle;
  readonly #followUps: FollowUps;

  constructor(host: Host, lifecycle: Lifecycle, followUps: FollowUps) {
    this.#host = host;
    this.#lifecycle = lifecycle;
    this.#followUps = followUps;
  }

  /** Shows the rest of the turn and gives the prompt's result. Rejects for a turn that failed. */
  async finish(session: Session, run: PromptRun, end: RunEnd, anchor: string | undefined): Promise<JsonObject> {
    if (end.kind === "down") throw end.error;
    const text = run.turn?.text ?? new TurnText("shown", this.#host.newId(), session.delivered);
    const shown: TurnShown = { text, delivered: session.delivered, cards: session.cards, patches: session.patches };
    const response = end.kind === "outcome" ? (end.response ?? "") : "";
    const reading = this.#followUps
      .sync(session, true, SYNC_MS)
      .catch(() => this.#host.log("debug", "state not read at turn end"));
    const mayLag = end.kind !== "outcome" || end.outcome.kind === "stopped";
    await orCancelled(run, this.#showRest(session, run, shown, { anchor, response, mayLag }));
    await orCancelled(run, within(this.#host.clock, SYNC_MS, reading, undefined));
    session.trim();
    return resultOf(run, end, text);
  }

  async #showRest(session: Session, run: PromptRun, shown: TurnShown, rest: Rest): Promise<void> {
    const { anchor, response, mayLag } = rest;
    for (let attempt = 0; attempt < TIMING.replyTries; attempt++) {
      if (attempt > 0) await pause(this.#host.clock, TIMING.replyStepMs, run.signal);
      const messages = await this.#messages(session, anchor);
      if (run.isCancelled) return;
      const answers = messages === undefined ? undefined : answersTo(messages, run.text, run.followsCancel);
      const out: Update[] = [];
      const hasText = answers !== undefined && pushUndelivered(answers, shown, out);
      this.#emit(session, run, out);
      // The store may lag behind the end of the turn. The end itself usually carries the text.
      if (hasText || !mayLag || response !== "" || shown.text.all.length > 0) break;
    }
    const out: Update[] = [];
    pushResponse(response, shown, out);
    this.#emit(session, run, out);
  }

  #emit(session: Session, run: PromptRun, out: readonly Update[]): void {
    if (out.length > 0) run.hasOutput = true;
    session.emit(out);
  }

  async #messages(session: Session, anchor: string | undefined): Promise<ZMessage[] | undefined> {
    const params = anchor === undefined ? { limit: LOOKBACK } : { afterMessageId: anchor };
    try {
      const result = await this.#lifecycle.call(session, "session/messages", params, { timeoutMs: SYNC_MS });
      return readMessages(arrayAt(result, "messages") ?? []);
    } catch {
      this.#host.log("debug", "messages not read at turn end");
      return undefined;
    }
  }
}

/** The final text a turn's end carries, as far as it was not shown. */
function pushResponse(response: string, shown: TurnShown, out: Update[]): void {
  if (response === "") return;
  const { text } = shown;
  if (text.all.length === 0) return void text.text(response, undefined, out);
  // Only a text that begins with all that was shown can be continued; anything else could repeat what is there.
  const rest = text.all.remainder(response);
  if (rest !== undefined && rest !== "") text.text(rest, text.lastMessageId, out);
}

function resultOf(run: PromptRun, end: RunEnd, text: TurnText): JsonObject {
  if (end.kind === "frozen") return { stopReason: "max_turn_requests" };
  if (end.kind === "idle") {
    if (!run.hasOutput && text.all.length === 0) throw new AcpFailure(noOutput());
    return { stopReason: "end_turn" };
  }
  if (end.kind !== "outcome") return { stopReason: "end_turn" };
  const { outcome } = end;
  if (outcome.kind === "failed") {
    const data = { zcode: { code: outcome.code ?? "", transient: outcome.isTransient } };
    throw new AcpFailure({ code: RPC.internalError, message: outcome.message, data });
  }
  const usage = promptUsage(end.usage);
  return { stopReason: outcome.reason, ...(usage === undefined ? {} : { usage }) };
}

const noOutput = (): { code: number; message: string } => ({
  code: RPC.internalError,
  message: "ZCode ended the turn without any output",
});
