/**
 * Prompts, turns and their cancellation (P1–P4, X7, B3, B4): acts on what the lane decides.
 *
 * U1 Every prompt request gets exactly one response (P2).
 * U2 The end of a turn is announced before the prompt's response (B4).
 * U3 A cancel goes to the agent once per turn, and only when there is something to cancel (X7).
 */
import { ACP } from "../../protocol/acp.ts";
import { notification, type RpcId } from "../../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import type { TurnNotice } from "../../protocol/hub-methods.ts";
import { arrayAt, isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { hubMeta, withHubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { ownerOf } from "../interaction/url-owner.ts";
import type { Asks } from "./asks.ts";
import type { Call, Caller } from "./calls.ts";
import type { RootContext } from "./context.ts";
import { makePrompt, type Prompt, promptTitle } from "./lane.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";
import { finishCards } from "./settled-cards.ts";

const CANCELLED: AnswerBody = { result: { stopReason: "cancelled" } };
const REQUEST_CANCELLED: AnswerBody = { error: { code: RPC.requestCancelled, message: "Request cancelled" } };

const isPreempt = (call: Call): boolean => stringAt(hubMeta(call.params), "delivery") === "preempt";

export class Turns {
  readonly #context: RootContext;
  readonly #publisher: Publisher;
  readonly #asks: Asks;

  constructor(context: RootContext, publisher: Publisher, asks: Asks) {
    this.#context = context;
    this.#publisher = publisher;
    this.#asks = asks;
  }

  /** `session/prompt` from any client. */
  prompt(call: Call, session: RootSession, now: number): void {
    if (arrayAt(call.params, "prompt") === undefined)
      return call.answer({ error: invalidParams("prompt", "must be a list of content blocks") });
    const ours = hubMeta(call.params);
    const promptId = stringAt(ours, "promptId");
    const prompt = makePrompt(call, withHubMeta(call.params, undefined), promptId, now);
    if (promptId !== undefined && this.#joinsRetry(session, prompt, call, promptId, now)) return;
    const isPreempting = isPreempt(call) && session.lane.isRunning;
    const decision = session.lane.admit(call.caller, isPreempting);
    if (decision === "full") return call.answer({ error: laneFull(this.#context.limits.lanePromptsMax) });
    if (decision === "start") return this.#start(session, prompt, now);
    prompt.queueId ??= this.#context.ports.mint.promptId();
    session.lane.enqueue(prompt, isPreempting ? "next" : "last");
    if (isPreempting) this.#cancelTurn(session, call.caller, now);
    this.#publisher.turn(session, now);
  }

  /** `session/cancel` from a client entitled to it (X7). */
  cancel(session: RootSession, caller: Caller, now: number): void {
    const own = session.lane.removeWaiting((prompt) => isOf(prompt, caller.key));
    this.#cancelTurn(session, caller, now);
    for (const prompt of own) this.#answerAll(prompt, CANCELLED, session);
    if (own.length > 0) this.#publisher.turn(session, now);
  }

  /** `$/cancel_request` for a prompt (P4). True when the id was a prompt's of that caller. */
  cancelRequest(session: RootSession, caller: Caller, id: RpcId, now: number): boolean {
    const matches = (call: Call): boolean => call.caller.key === caller.key && call.id === id;
    for (const prompt of [...session.lane.inFlight, ...session.lane.waiting]) {
      const call = [...prompt.calls].find(matches);
      if (call === undefined) continue;
      if (prompt.calls.size > 1) {
        prompt.calls.delete(call);
        call.answer(REQUEST_CANCELLED);
      } else if (prompt.agentId === undefined) {
        session.lane.removeWaiting((other) => other === prompt);
        this.#answerAll(prompt, REQUEST_CANCELLED, session);
        this.#publisher.turn(session, now);
      } else {
        this.#cancelTurn(session, caller, now);
        this.#context.agent.cancel(prompt.agentId);
      }
      return true;
    }
    return false;
  }

  /** A connection is gone: its waiting prompts without a promptId of their own go with it (P1). Running ones go on (P2). */
  onCallerGone(session: RootSession, isGone: (caller: Caller) => boolean, now: number): void {
    const { lane } = session;
    const gone = lane.removeWaiting((prompt) => prompt.promptId === undefined && isGone(prompt.caller));
    // Nobody waits for these answers any more: a retry that joins is alone (P4).
    for (const prompt of [...lane.inFlight, ...lane.waiting])
      for (const call of prompt.calls) if (isGone(call.caller)) prompt.calls.delete(call);
    for (const prompt of gone) this.#answerAll(prompt, CANCELLED, session);
    if (gone.length > 0) this.#publisher.turn(session, now);
  }

  /** The queue methods: removes a waiting prompt of any client. False when it does not wait. */
  removeQueued(session: RootSession, promptId: string, now: number): boolean {
    const removed = session.lane.removeWaiting((prompt) => prompt.queueId === promptId);
    // Who gave it no name may know nothing of queues: an error nobody asked for would be shown as one.
    for (const prompt of removed)
      this.#answerAll(prompt, prompt.promptId === undefined ? CANCELLED : REQUEST_CANCELLED, session);
    if (removed.length > 0) this.#publisher.turn(session, now);
    return removed.length > 0;
  }

  moveQueued(session: RootSession, promptId: string, index: number, now: number): boolean {
    const moved = session.lane.move(promptId, index);
    if (moved) this.#publisher.turn(session, now);
    return moved;
  }

  /** The agent is gone: what waits is answered, what runs has its answer from the agent's end. */
  endWaiting(session: RootSession, body: AnswerBody): void {
    for (const prompt of session.lane.removeWaiting(() => true)) this.#answerAll(prompt, body, session);
  }

  /** The session is over: whatever the agent still answers to its prompts, they are answered now (P2). */
  endAll(session: RootSession, body: AnswerBody, now: number): void {
    this.endWaiting(session, body);
    const running = [...session.lane.inFlight];
    session.lane.inFlight.clear();
    session.dying.clear();
    if (running.length > 0)
      this.#publisher.turn(session, now, {
        stopReason: "cancelled",
        ...(session.turnBy !== undefined && { by: session.turnBy }),
      });
    for (const prompt of running) this.#answerAll(prompt, body, session);
  }

  /** True when the update repeats the running prompt: clients have it already (B3). */
  repeatsPrompt(session: RootSession, update: JsonObject): boolean {
    if (update["sessionUpdate"] !== "user_message_chunk" || !session.lane.isRunning) return false;
    const content = update["content"];
    const text = isObject(content) && content["type"] === "text" ? stringAt(content, "text") : undefined;
    if (text === undefined) {
      const at = session.pendingBlocks.indexOf(JSON.stringify(content));
      if (at < 0) return false;
      session.pendingBlocks.splice(at, 1);
    } else {
      if (text === "" || !session.pendingEcho.startsWith(text)) return false;
      session.pendingEcho = session.pendingEcho.slice(text.length);
    }
    this.#context.ports.observe({ kind: "echo-dropped", sessionId: session.id });
    return true;
  }

  #joinsRetry(session: RootSession, prompt: Prompt, call: Call, promptId: string, now: number): boolean {
    const found = session.lane.findRetry(call.caller.by.device, promptId);
    if (found === undefined) return false;
    const known = "prompt" in found ? found.prompt.fingerprint : found.outcome.fingerprint;
    if (known !== prompt.fingerprint) {
      call.answer({
        error: hubError(RPC.invalidParams, "prompt-mismatch", "This promptId was used for another prompt", {
          promptId,
        }),
      });
    } else if ("prompt" in found) {
      found.prompt.calls.add(call);
      if (isPreempt(call)) this.#preemptFor(session, found.prompt, call.caller, now);
    } else call.answer(found.outcome.body);
    return true;
  }

  /** The same prompt again, now to preempt: where it waits it goes first, and the running turn ends for it (P1). */
  #preemptFor(session: RootSession, prompt: Prompt, caller: Caller, now: number): void {
    const [waiting] = session.lane.removeWaiting((other) => other === prompt);
    if (waiting === undefined) return;
    session.lane.enqueue(waiting, "next");
    this.#cancelTurn(session, caller, now);
    this.#publisher.turn(session, now);
  }

  #start(session: RootSession, prompt: Prompt, now: number): void {
    session.lane.inFlight.add(prompt);
    const isFirst = !session.isListed || session.fallbackTitle === undefined;
    session.isListed = true;
    session.fallbackTitle ??= promptTitle(prompt.params) || undefined;
    session.turnBy = prompt.caller.by;
    session.author = ownerOf({ device: prompt.caller.by.device, isOwner: prompt.caller.isOwner });
    session.turnPromptId = prompt.promptId;
    session.pendingEcho = promptText(prompt.params);
    session.pendingBlocks = otherBlocks(prompt.params);
    const [call] = prompt.calls;
    prompt.agentId = this.#context.agent.request(
      ACP.sessionPrompt,
      prompt.params,
      (body, at) => this.#onEnd(session, prompt, body, at),
      call,
    );
    this.#publisher.turn(session, now);
    this.#echo(session, prompt, now);
    if (isFirst) this.#context.link.announce(session);
  }

  /** B3: all content blocks to everyone but the author, under one messageId that every replay repeats. */
  #echo(session: RootSession, prompt: Prompt, now: number): void {
    const { by, key } = prompt.caller;
    const messageId = this.#context.ports.mint.messageId();
    for (const content of arrayAt(prompt.params, "prompt") ?? []) {
      if (!isObject(content)) continue;
      const update: JsonObject = { sessionUpdate: "user_message_chunk", content, messageId };
      const promptId = prompt.promptId === undefined ? {} : { promptId: prompt.promptId };
      this.#publisher.event(session, ACP.sessionUpdate, { sessionId: session.id, update }, now, {
        by,
        except: key,
        ...promptId,
      });
    }
  }

  #onEnd(session: RootSession, prompt: Prompt, body: AnswerBody, now: number): void {
    // The session was closed meanwhile: everybody has their answer.
    if (!session.lane.inFlight.delete(prompt)) return;
    session.dying.delete(prompt);
    if (!session.lane.isRunning) {
      session.hasContentSinceTurn = false;
      session.pendingEcho = "";
      session.pendingBlocks = [];
      finishCards(
        this.#publisher,
        session,
        "result" in body && stopReasonOf(body.result).stopReason === "end_turn",
        now,
      );
    }
    const end: Partial<TurnNotice> = {
      by: prompt.caller.by,
      ...(prompt.promptId !== undefined && { promptId: prompt.promptId }),
      ...("error" in body
        ? { error: { code: body.error.code, message: body.error.message } }
        : stopReasonOf(body.result)),
    };
    this.#publisher.turn(session, now, end);
    this.#answerAll(prompt, body, session);
    this.#startNext(session, now);
  }

  #startNext(session: RootSession, now: number): void {
    const next = session.lane.takeNext();
    if (next !== undefined) this.#start(session, next, now);
    else if (!session.lane.isRunning) {
      session.turnBy = undefined;
      session.turnPromptId = undefined;
    }
  }

  #answerAll(prompt: Prompt, body: AnswerBody, session: RootSession): void {
    session.lane.keepOutcome(prompt, body);
    for (const call of prompt.calls) call.answer(body);
    prompt.calls.clear();
  }

  #cancelTurn(session: RootSession, caller: Caller, now: number): void {
    const isForwarded = session.isDying ? this.#hasNewTurn(session) : this.#hasSomethingToCancel(session);
    if (!isForwarded) {
      this.#context.ports.observe({ kind: "cancel-ignored", sessionId: session.id });
      return;
    }
    for (const prompt of session.lane.inFlight) session.dying.add(prompt);
    session.hasContentSinceTurn = false;
    this.#context.agent.send(notification(ACP.sessionCancel, { sessionId: session.id }));
    this.#asks.cancelAll(session, caller.by, now);
  }

  /** While a turn is dying a second cancel adds nothing, unless a prompt went in since. */
  #hasNewTurn(session: RootSession): boolean {
    return [...session.lane.inFlight].some((prompt) => !session.dying.has(prompt));
  }

  #hasSomethingToCancel(session: RootSession): boolean {
    return (
      session.lane.isRunning ||
      session.openAsks.size > 0 ||
      session.backendTurns.size > 0 ||
      session.hasContentSinceTurn
    );
  }
}

/** The prompt is this connection's: it sent it, or joined it as a retry. */
const isOf = (prompt: Prompt, key: string): boolean =>
  prompt.caller.key === key || [...prompt.calls].some((call) => call.caller.key === key);

const laneFull = (max: number) =>
  hubError(RPC.internalError, "lane-full", `${max} prompts wait already: try again when one has run`, { max });

function stopReasonOf(result: unknown): { stopReason: string } {
  return { stopReason: (isObject(result) ? stringAt(result, "stopReason") : undefined) ?? "end_turn" };
}

function promptText(params: JsonObject): string {
  return (arrayAt(params, "prompt") ?? [])
    .map((block) => (isObject(block) ? (stringAt(block, "text") ?? "") : ""))
    .join("");
}

/** The blocks an agent may echo besides text, written out. */
function otherBlocks(params: JsonObject): string[] {
  return (arrayAt(params, "prompt") ?? [])
    .filter((block) => isObject(block) && block["type"] !== "text")
    .map((block) => JSON.stringify(block));
}
