/**
 * Sends every event of a session to the turn it belongs to. Invariants, cited where they are kept:
 *  T1 an event shows in one place at most: its own turn
 *  T2 nothing of a turn that was cancelled or has ended is shown
 *  T3 only its own end, or the backend's, ends a prompt's turn
 */
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../../protocol/json.ts";
import { type Host, reportBackendQueue, reportBackendTasks, reportBackendTurn } from "../host.ts";
import type { Session } from "../sessions/session.ts";
import { TIMING } from "../timing.ts";
import { isSettingsPatch, settingsUpdates, withPatch } from "../translate/config-options.ts";
import { textContent, type Update, type ZEvent } from "../translate/event.ts";
import { completedOutcome, failedOutcome, type TurnOutcome, terminalOutcome } from "../translate/outcome.ts";
import { TurnText } from "../translate/stream.ts";
import { usageOfEvent } from "../translate/usage.ts";
import type { FollowUps } from "./follow-ups.ts";
import type { ForeignWatch } from "./foreign-watch.ts";
import type { RunEnd } from "./run.ts";
import { foreignKind, type Turn, type TurnKind } from "./turn-table.ts";

export class Router {
  readonly #host: Host;
  readonly #followUps: FollowUps;
  readonly #foreignWatch: ForeignWatch;

  constructor(host: Host, followUps: FollowUps, foreignWatch: ForeignWatch) {
    this.#host = host;
    this.#followUps = followUps;
    this.#foreignWatch = foreignWatch;
  }

  onEvent(session: Session, event: ZEvent): void {
    if (event.seq !== undefined && !session.seqs.accept(event.seq)) return;
    const { payload } = event;
    switch (event.type) {
      case "model.streaming":
        return this.#streaming(session, event);
      case "tool.updated":
        return this.#tool(session, event);
      case "turn.started":
        return this.#started(session, event);
      case "turn.completed":
        return this.#ended(session, event, completedOutcome(payload));
      case "turn.failed":
        return this.#ended(session, event, failedOutcome(payload));
      case "turn.terminal":
        return this.#terminal(session, event);
      case "turn.steerQueued":
        return this.#steerQueued(session, payload);
      case "turn.steerDrained":
        return this.#steerDrained(session, payload);
      case "session.updated":
        return this.#updated(session, event);
      case "session.titleUpdated":
        return this.#titled(session, payload);
      case "session.closed":
      case "session.resident_deactivated":
        session.generation = undefined;
        return;
      case "permission.resolved":
      case "userInput.resolved":
        return this.#host.asks.drop(session, {
          requestId: stringAt(payload, "requestId"),
          toolCallId: stringAt(payload, "toolCallId"),
        });
      default:
        return;
    }
  }

  /** A `state.updated` notification about this session. */
  onState(session: Session, params: JsonObject): void {
    const reason = stringAt(params, "reason") ?? "";
    const patch = objectAt(params, "patch");
    if (isSettingsPatch(patch)) this.#patchSettings(session, patch);
    if (reason === "prompt_completed" || reason === "prompt_failed") this.#lockFree(session);
    else if (reason === "compact_started") session.compaction.begin();
    else if (reason === "session_compacted") session.compaction.end("compacted");
    else if (reason === "session_compact_cancelled") session.compaction.end("cancelled");
    else if (reason === "session_compact_failed") session.compaction.end("failed");
  }

  /** A question names its turn: enough to know that the turn runs, when its start was lost. */
  onQuestion(session: Session, turnId: string | undefined): void {
    if (turnId !== undefined) this.#turnOf(session, { sessionId: "", type: "question", payload: {}, turnId });
  }

  /** Ends a turn by other means than its own event: found idle, given up, drained. */
  close(session: Session, turn: Turn, end: RunEnd): void {
    session.turns.end(turn.key);
    this.#host.asks.dropTurn(session, turn.key);
    const run = session.run;
    if (turn.kind === "own") {
      if (run?.turn === turn && !turn.isDead) return run.endTurn(end);
    } else if (run?.steeredInto === turn.key) run.endTurn(end);
    const updates: Update[] = [];
    session.cards.closeTurn(turn.key, undefined, updates);
    session.emit(updates);
    this.#report(session, turn, false);
  }

  #report(session: Session, turn: Turn, running: boolean): void {
    if (turn.kind === "own") return;
    const kind = reportedKind(turn);
    // Told by kind: the last of its kind to end says so.
    if (!running && [...session.turns.live].some((other) => other.kind !== "own" && reportedKind(other) === kind))
      return;
    reportBackendTurn(this.#host, session, running, kind);
  }

  #begin(session: Session, key: string, kind: TurnKind, payload: JsonObject = {}): Turn {
    const voice = kind === "background" ? "notification" : kind === "compact" ? "silent" : "shown";
    const fallbackId = kind === "background" ? `bg_msg_${this.#host.newId()}` : this.#host.newId();
    const turn: Turn = {
      key,
      kind,
      text: new TurnText(voice, fallbackId, session.delivered),
      foregroundExecutionId: stringAt(payload, "foregroundExecutionId"),
      isDead: false,
      lastEventAt: this.#host.clock.now(),
      cancelGrace: undefined,
    };
    session.turns.add(turn);
    this.#report(session, turn, true);
    if (kind !== "own") this.#foreignWatch.watch(session, (over) => this.close(session, over, { kind: "idle" }));
    return turn;
  }

  #beginOwn(session: Session, key: string, payload?: JsonObject): Turn {
    const turn = this.#begin(session, key, "own", payload);
    const run = session.run;
    if (run !== undefined) {
      run.turn = turn;
      run.phase = "running";
      run.lastEventAt = this.#host.clock.now();
      run.onStarted?.();
    }
    return turn;
  }

  #started(session: Session, event: ZEvent): void {
    const { turns } = session;
    const key = event.turnId ?? turns.newKey();
    if (turns.get(key) !== undefined || turns.hasEnded(key)) return;
    const run = session.run;
    const isAwaited =
      run !== undefined && run.turn === undefined && (run.phase === "sending" || run.phase === "waiting");
    const foreign = foreignKind(event.payload);
    const isOurs =
      foreign === undefined || (isAwaited && foreign === "background" && stringAt(event.payload, "input") === run.text);
    if (!isOurs) return void this.#begin(session, key, foreign, event.payload);
    const { dying } = turns;
    const isDyingStart = dying !== undefined && !dying.isEnded && dying.key === undefined && run?.phase !== "waiting";
    if (isDyingStart) {
      dying.key = key;
      this.#begin(session, key, "own", event.payload).isDead = true;
    } else if (isAwaited) this.#beginOwn(session, key, event.payload);
    else if (session.compaction.isRunning) this.#begin(session, key, "compact", event.payload);
    else {
      this.#begin(session, key, "other", event.payload);
      this.#showInput(session, event.payload);
    }
  }

  /** What started a turn that is none of our prompts: a queued instruction, or another program on the same session. */
  #showInput(session: Session, payload: JsonObject): void {
    const input = stringAt(payload, "input");
    if (input === undefined || input === "" || stringAt(payload, "inputVisibility") === "model-only") return;
    const messageId = stringAt(payload, "messageId") ?? `input_${this.#host.newId()}`;
    session.emit([{ sessionUpdate: "user_message_chunk", content: textContent(input), messageId }]);
  }

  /** The turn of an event (T1), or undefined when nothing of it is to be shown (T2). */
  #turnOf(session: Session, event: ZEvent): Turn | undefined {
    const { turns } = session;
    const key = event.turnId;
    const turn = key === undefined ? turns.active : turns.get(key);
    if (turn !== undefined) return turn;
    if (key !== undefined && turns.hasEnded(key)) return undefined;
    return this.#startless(session, key);
  }

  /** Output of a turn whose start was never seen. */
  #startless(session: Session, key: string | undefined): Turn | undefined {
    const { turns } = session;
    const run = session.run;
    if (turns.dying !== undefined && !turns.dying.isEnded && turns.dying.key === undefined) {
      if (key !== undefined) {
        turns.dying.key = key;
        this.#begin(session, key, "own").isDead = true;
      }
      return undefined;
    }
    if (run?.phase === "waiting" && run.turn === undefined) return this.#beginOwn(session, key ?? turns.newKey());
    if (key === undefined) {
      if (run?.turn !== undefined && run.phase === "running") return run.turn;
      return turns.joinedRunning ? this.#begin(session, turns.newKey(), "other") : undefined;
    }
    return this.#begin(session, key, run?.phase === "running" ? "background" : "other");
  }

  #streaming(session: Session, event: ZEvent): void {
    const turn = this.#turnOf(session, event);
    if (turn === undefined) return;
    this.#touch(session, turn);
    if (turn.isDead) return;
    if (event.payload["kind"] === "tool_call") return session.cards.hint(event.payload, turn.key);
    const out: Update[] = [];
    if (!turn.text.apply(event.payload, out)) return;
    this.#shown(session, turn);
    session.emit(out);
  }

  #tool(session: Session, event: ZEvent): void {
    if (isDetachedWork(event.payload)) return this.#detachedTool(session, event.payload);
    const turn = this.#parentTurn(session, event.payload) ?? this.#turnOf(session, event);
    if (turn === undefined) return;
    this.#touch(session, turn);
    if (turn.isDead || turn.kind === "compact") return;
    const out: Update[] = [];
    const followUp = session.cards.apply(event.payload, turn.key, out);
    if (out.length > 0) this.#shown(session, turn);
    session.emit(out);
    const kind = stringAt(event.payload, "kind");
    if (kind === "result" || kind === "error") {
      this.#host.asks.drop(session, { toolCallId: stringAt(event.payload, "toolCallId") });
    }
    if (followUp.ended !== undefined || followUp.wantsDiff !== undefined) this.#followUps.afterTool(session, followUp);
  }

  /** A sub-agent's call may name the sub-agent's own turn; it belongs where the sub-agent was called. */
  #parentTurn(session: Session, payload: JsonObject): Turn | undefined {
    const parent = session.cards.get(stringAt(payload, "parentToolCallId") ?? "");
    return parent?.turn === undefined ? undefined : session.turns.get(parent.turn);
  }

  /** A call inside a background sub-agent: its task has a card, so only one that was asked about is shown. */
  #detachedTool(session: Session, payload: JsonObject): void {
    const id = stringAt(payload, "toolCallId");
    if (id === undefined) return;
    const kind = stringAt(payload, "kind");
    if (kind === "result" || kind === "error") this.#host.asks.drop(session, { toolCallId: id });
    const out: Update[] = [];
    if (session.cards.get(id)?.isAnnounced === true) session.cards.apply(payload, "loose", out);
    session.emit(out);
  }

  #touch(session: Session, turn: Turn): void {
    turn.lastEventAt = this.#host.clock.now();
    const run = session.run;
    if (run === undefined || (run.turn !== turn && run.steeredInto !== turn.key)) return;
    run.lastEventAt = this.#host.clock.now();
    run.sawCompleted = false;
  }

  #shown(session: Session, turn: Turn): void {
    const run = session.run;
    if (run !== undefined && (run.turn === turn || run.steeredInto === turn.key)) run.hasOutput = true;
  }

  #ended(session: Session, event: ZEvent, outcome: TurnOutcome): void {
    // An end alone tells nothing about whose turn it was: with its start lost, looking at the session is safer.
    const turn = event.turnId === undefined ? session.turns.active : session.turns.get(event.turnId);
    if (turn === undefined) {
      // The end of a cancelled turn that never showed its start.
      if (event.turnId !== undefined) session.turns.end(event.turnId);
      else if (session.run === undefined || session.run.phase !== "running") session.turns.dying?.end();
      return;
    }
    const { payload } = event;
    const response = stringAt(payload, "response");
    this.close(session, turn, { kind: "outcome", outcome, response, usage: objectAt(payload, "usage") });
  }

  #terminal(session: Session, event: ZEvent): void {
    const turn = this.#turnOf(session, event);
    if (turn === undefined || turn.cancelGrace !== undefined) return;
    const end: RunEnd = {
      kind: "outcome",
      outcome: terminalOutcome(event.payload),
      response: undefined,
      usage: event.payload,
    };
    turn.cancelGrace = this.#host.clock.setTimeout(() => this.close(session, turn, end), TIMING.terminalGraceMs);
  }

  #steerQueued(session: Session, payload: JsonObject): void {
    const id = stringAt(payload, "pendingInputId");
    const input = stringAt(payload, "input") ?? stringAt(payload, "inputPreview") ?? "";
    const run = session.run;
    // This build took our prompt into the running turn: its reply comes inside that turn.
    if (run !== undefined && run.turn === undefined && run.phase !== "running" && input === run.text) {
      run.steeredInto = stringAt(payload, "targetTurnId") ?? session.turns.active?.key;
    }
    if (id === undefined) return;
    session.queue.set(id, (stringAt(payload, "inputPreview") ?? input).slice(0, 120));
    this.#reportQueue(session);
  }

  #steerDrained(session: Session, payload: JsonObject): void {
    for (const id of arrayAt(payload, "pendingInputIds") ?? []) if (typeof id === "string") session.queue.delete(id);
    this.#reportQueue(session);
  }

  #reportQueue(session: Session): void {
    reportBackendQueue(
      this.#host,
      session,
      [...session.queue].map(([id, title]) => ({ id, title })),
    );
  }

  #updated(session: Session, event: ZEvent): void {
    const out: Update[] = [];
    if (stringAt(event.payload, "taskId") !== undefined) {
      session.tasks.apply(event.payload, out);
      reportBackendTasks(this.#host, session);
      return session.emit(out);
    }
    const turn = event.turnId === undefined ? session.turns.active : session.turns.get(event.turnId);
    if (turn?.isDead === true) return;
    if (turn !== undefined) this.#touch(session, turn);
    session.emit(session.usageChange(usageOfEvent(event.payload, session.contextWindow)));
  }

  #titled(session: Session, payload: JsonObject): void {
    const title = stringAt(payload, "title");
    const source = stringAt(payload, "source") ?? "generated";
    if (title === undefined || title === "" || title === session.title) return;
    if (source === "custom") session.isTitlePinned = true;
    else if (session.isTitlePinned || (source !== "generated" && session.title !== undefined)) return;
    session.title = title;
    const updatedAt = new Date(this.#host.clock.now()).toISOString();
    session.emit([{ sessionUpdate: "session_info_update", title, updatedAt }]);
  }

  #patchSettings(session: Session, patch: JsonObject): void {
    const before = session.settings;
    const after = withPatch(before, patch);
    if (JSON.stringify(after) === JSON.stringify(before)) return;
    session.settings = after;
    session.emit(settingsUpdates(before, after));
  }

  #lockFree(session: Session): void {
    const run = session.run;
    const isOn = run?.phase === "running" || run?.phase === "waiting";
    if (run !== undefined && isOn && !session.turns.hasBackground) {
      // Before its own start it may be the end of another; and one that goes on after it was not its own either.
      run.sawCompleted = run.phase === "running";
      run.onCompletedHint?.();
    } else if (session.turns.dying !== undefined && run?.phase !== "running") session.turns.dying.end();
    for (const wake of [...session.onLockFree]) wake();
  }
}

const isDetachedWork = (payload: JsonObject): boolean =>
  payload["background"] === true && stringAt(payload, "source") === "subagent";

const reportedKind = (turn: Turn): "goal" | "background" | "compact" =>
  turn.kind === "goal" || turn.kind === "compact" ? turn.kind : "background";

/** Reads a list of events as the window of a subscribe gives them, oldest first. */
export function sortedEvents(values: readonly unknown[]): JsonObject[] {
  const events = values.filter(isObject);
  return events.sort((a, b) => Number(a["seq"] ?? 0) - Number(b["seq"] ?? 0));
}

/** A hint that belongs to no message: tagged, so that a client can leave it out of the transcript. */
export const noteUpdate = (text: string, note: string, messageId: string): Update => ({
  sessionUpdate: "agent_thought_chunk",
  content: textContent(text),
  messageId,
  _meta: { zcode: { note } },
});
