/**
 * Interactions at the root: the judge of the race (R2, R3). One evaluator: every answer, withdrawal and cancel ends in `#settle`.
 *
 * A1 An interaction is settled at most once, and the agent gets exactly one answer (X2).
 * A2 While no other client holds an open copy, the primary's answer in its own session goes through as it came (X3).
 * A3 With nobody left, the interaction stays open; nobody's leaving is an answer (X5).
 * A4 What the primary says instead of an answer counts only once the hub has said whether others hold a copy, where somebody there
 *    may answer (X3). A valid answer never waits.
 * A5 For a dying turn every interaction is answered cancelled, shown or not (X7).
 */

import { type Frame, idKey, paramsOf, type RpcId } from "../../protocol/envelope.ts";
import { RPC } from "../../protocol/errors.ts";
import { HUB, type SettledNotice, type SettledOutcome } from "../../protocol/hub-methods.ts";
import { type InteractionId, interactionId } from "../../protocol/ids.ts";
import { asJson, isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { LINK, type LinkInteraction } from "../../protocol/link.ts";
import { type By, readBy, withHubMeta } from "../../protocol/meta.ts";
import { type AnswerBody, cancelledAnswer, readAnswer } from "../interaction/answer.ts";
import { SettledLog } from "../interaction/settled-log.ts";
import { isUrlElicitation } from "../interaction/url-owner.ts";
import { type Ask, describe, pickDowngrade, SYSTEM } from "./ask.ts";
import { audienceOf, callersIdOf, isForLink, isHopeless } from "./ask-audience.ts";
import { dropDeadline, expiredAnswer, isDeadline, startDeadline } from "./ask-deadline.ts";
import { bodyText } from "./calls.ts";
import type { RootContext } from "./context.ts";
import { PrimaryAnswers } from "./primary-answers.ts";
import { PrimaryCopy } from "./primary-copy.ts";
import { PrimaryReasks } from "./primary-reasks.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";
import { noteSettledCard } from "./settled-cards.ts";
import { UrlElicitations } from "./url-elicitations.ts";

type Asked = Frame & { readonly kind: "request" };

const NO_ANSWER: AnswerBody = { error: { code: RPC.internalError, message: "no answer" } };

export class Asks {
  readonly #context: RootContext;
  readonly #publisher: Publisher;
  readonly #open = new Map<InteractionId, Ask>();
  readonly #byAgentId = new Map<string, Ask>();
  readonly #settled = new SettledLog();
  readonly urls: UrlElicitations;
  readonly #primary: PrimaryAnswers;
  readonly #reasks: PrimaryReasks;

  constructor(context: RootContext, publisher: Publisher) {
    this.#context = context;
    this.#publisher = publisher;
    this.urls = new UrlElicitations(context);
    this.#primary = new PrimaryAnswers(context, this.urls, {
      isOpen: (ask) => this.#open.has(ask.interactionId),
      settle: (ask, body, outcome, by, now) => this.#settle(ask, body, outcome, by, now),
    });
    this.#reasks = new PrimaryReasks(context, {
      openIn: (session) => this.#of(session),
      again: (ask) => this.#primary.again(ask),
    });
  }

  get openCount(): number {
    return this.#open.size;
  }

  /** The agent asks. */
  open({ msg: message, text }: Asked, session: RootSession | undefined, now: number): void {
    const params = paramsOf(message) ?? {};
    if (this.#byAgentId.has(idKey(message.id))) return this.#context.ports.observe({ kind: "duplicate-agent-id" });
    if (session?.isDying === true) return this.#toAgent(message.id, cancelledAnswer(message.method));
    const target = audienceOf(this.#context, params);
    const isUrl = target === "all" && isUrlElicitation(message.method, params);
    const owner = isUrl ? this.urls.ownerOf(params, session) : undefined;
    // X12: whose request it is about is gone, or nobody can be shown it safely.
    if (target === "gone" || (isUrl && owner === undefined))
      return this.#toAgent(message.id, cancelledAnswer(message.method));
    const id = this.#context.ports.mint.interactionId();
    const stamped = withHubMeta(params, { ...pickDowngrade(params), interactionId: id, openedAt: now });
    const ask: Ask = {
      interactionId: id,
      agentId: message.id,
      method: message.method,
      params: stamped,
      session,
      openedAt: now,
      toolCallId: stringAt(objectAt(params, "toolCall"), "toolCallId") ?? stringAt(params, "toolCallId"),
      isForPrimary: target === "primary",
      isShared: text.length <= this.#context.limits.agentLineBytes,
      owner,
      copy: new PrimaryCopy(this.#context, message.method, stamped),
      linkCopies: 0,
      isReported: false,
      held: undefined,
      onlyConnection: target === "primary" || target === "all" ? undefined : target.connectionId,
    };
    this.#open.set(id, ask);
    this.#byAgentId.set(idKey(message.id), ask);
    session?.openAsks.add(id);
    this.#context.ports.observe({ kind: "interaction-opened", interactionId: id, method: message.method });
    if (target === "primary" || target === "all") this.#primary.offer(ask);
    if (isUrlElicitation(ask.method, params)) this.urls.noteOffer(params, ask.copy.isOpen);
    if (isForLink(this.#context, ask)) this.#offerLink(ask);
    if (session !== undefined) this.#publisher.turnIfChanged(session, now);
    if (isHopeless(this.#context, ask))
      this.#settle(ask, cancelledAnswer(ask.method), { action: "ended" }, SYSTEM, now);
    else startDeadline(this.#context, ask, now);
    return undefined;
  }

  /** A proposal from the hub (R3). Idempotent: of a settled interaction the verdict is sent once more. */
  propose(params: JsonObject, now: number): void {
    const id = interactionId(stringAt(params, "interactionId") ?? "");
    const by = readBy(params["by"]);
    const ask = this.#open.get(id);
    if (by === undefined) return this.#context.ports.observe({ kind: "bad-link-message", method: LINK.propose });
    if (ask === undefined) {
      const verdict = this.#settled.get(id);
      this.#context.ports.observe({ kind: "late-answer", interactionId: id });
      if (verdict !== undefined) this.#context.link.notify(HUB.interactionSettled, asJson(verdict));
      return;
    }
    const body: AnswerBody = isObject(params["error"]) ? NO_ANSWER : { result: params["result"] ?? null };
    const read = readAnswer(ask.method, ask.params, body);
    if (read.kind === "answer") this.#settle(ask, read.body, read.outcome, by, now);
    else if (read.kind === "cancelled" && !ask.copy.isOpen) this.#settle(ask, read.body, read.outcome, by, now);
    else this.#reject(ask, by, read.kind === "invalid" ? read.reason : "abstained");
  }

  /** The hub says how many of its clients hold an open copy. */
  onCopies(params: JsonObject, now: number): void {
    const ask = this.#open.get(interactionId(stringAt(params, "interactionId") ?? ""));
    const open = params["open"];
    if (ask === undefined || typeof open !== "number") return;
    ask.isReported = true;
    this.#primary.setCopies(ask, open, now);
  }

  /** A new link: what its hub holds of each is not known yet. */
  onLinkUp(now: number): void {
    for (const ask of this.#open.values()) {
      ask.isReported = false;
      startDeadline(this.#context, ask, now);
    }
  }

  /** The link is down: its clients are no racers until it is back and says so. */
  onLinkDown(now: number): void {
    this.onCallerGone(() => true, now);
    for (const ask of [...this.#open.values()]) this.#primary.setCopies(ask, 0, now);
  }

  /** X6: the editor has its answer to a load (`hasHistory`) or a resume of a live session. */
  onPrimaryLoaded(session: RootSession, hasHistory: boolean): void {
    this.#reasks.after(session, hasHistory);
  }

  onTimer(name: string, now: number): void {
    this.#reasks.onTimer(name);
    for (const ask of [...this.#open.values()]) {
      if (!isDeadline(ask, name)) this.#primary.onTimer(ask, name, now);
      else {
        const { body, outcome } = expiredAnswer(ask);
        this.#settle(ask, body, outcome, SYSTEM, now);
      }
    }
  }

  /** X12: the one connection a question was for is gone, and with it the request it was about. */
  onCallerGone(isGone: (connection: string) => boolean, now: number): void {
    for (const ask of [...this.#open.values()]) {
      if (ask.onlyConnection === undefined || !isGone(ask.onlyConnection)) continue;
      this.#settle(ask, cancelledAnswer(ask.method), { action: "ended" }, SYSTEM, now);
    }
  }

  /** The agent takes its question back (X9). True when the id was an interaction's. */
  withdraw(agentId: RpcId, now: number): boolean {
    const ask = this.#byAgentId.get(idKey(agentId));
    if (ask === undefined) return false;
    const error = { code: RPC.requestCancelled, message: "Request cancelled" };
    this.#settle(ask, { error }, { action: "withdrawn" }, SYSTEM, now);
    return true;
  }

  /** The turn is cancelled: every open question of the session is answered so (X7). */
  cancelAll(session: RootSession, by: By, now: number): void {
    for (const ask of this.#of(session))
      this.#settle(ask, cancelledAnswer(ask.method), { action: "cancelled" }, by, now);
  }

  /** The session closes: nobody can answer any more. */
  endAll(session: RootSession, now: number): void {
    for (const ask of this.#of(session))
      this.#settle(ask, cancelledAnswer(ask.method), { action: "ended" }, SYSTEM, now);
  }

  /** The agent is gone: dialogs close everywhere, nothing is answered (S8). */
  abandonAll(now: number): void {
    for (const ask of [...this.#open.values()]) this.#close(ask, { action: "ended" }, SYSTEM, now);
  }

  /** The primary has gone: its copies are abstentions. */
  onPrimaryGone(now: number): void {
    for (const ask of [...this.#open.values()]) {
      this.#primary.drop(ask);
      ask.copy.drop();
      if (ask.isForPrimary) this.#settle(ask, cancelledAnswer(ask.method), { action: "ended" }, SYSTEM, now);
    }
  }

  /** For the snapshot of a new link (R4). */
  describeOpen(): LinkInteraction[] {
    return [...this.#open.values()]
      .filter((ask) => ask.onlyConnection === undefined && isForLink(this.#context, ask))
      .map(describe);
  }

  describeSettled(): readonly SettledNotice[] {
    return this.#settled.all;
  }

  #of(session: RootSession): Ask[] {
    return [...session.openAsks].flatMap((id) => this.#open.get(id) ?? []);
  }

  #offerLink(ask: Ask): void {
    const requestId = callersIdOf(this.#context, ask);
    const described =
      requestId === undefined ? describe(ask) : { ...describe(ask), params: { ...ask.params, requestId } };
    const only = ask.onlyConnection === undefined ? {} : { onlyConnection: ask.onlyConnection };
    this.#context.link.notify(LINK.interaction, asJson({ ...described, ...only }), ask.session);
  }

  #reject(ask: Ask, by: By, reason: string): void {
    const rejected = { interactionId: ask.interactionId, connectionId: by.connectionId, reason };
    this.#context.link.notify(LINK.rejected, rejected, ask.session);
  }

  /** The one step that ends an interaction (A1). */
  #settle(ask: Ask, body: AnswerBody, outcome: SettledOutcome, by: By, now: number): void {
    if (!this.#open.has(ask.interactionId)) return;
    if (ask.owner !== undefined && outcome.elicitation === "accept") this.urls.pin(ask.params, by.device);
    this.#toAgent(ask.agentId, body);
    this.#close(ask, outcome, by, now);
  }

  #close(ask: Ask, outcome: SettledOutcome, by: By, now: number): void {
    this.#open.delete(ask.interactionId);
    this.#byAgentId.delete(idKey(ask.agentId));
    ask.session?.openAsks.delete(ask.interactionId);
    this.#primary.drop(ask);
    dropDeadline(this.#context, ask);
    ask.copy.withdraw();
    const notice: SettledNotice = {
      interactionId: ask.interactionId,
      outcome,
      by,
      at: now,
      ...(ask.session !== undefined && { sessionId: ask.session.id }),
      ...(ask.toolCallId !== undefined && { toolCallId: ask.toolCallId }),
    };
    this.#settled.add(notice);
    if (ask.session !== undefined && ask.toolCallId !== undefined) {
      const isByRemote = by !== SYSTEM && by.connectionId !== this.#context.primary?.caller.by.connectionId;
      noteSettledCard(ask.session, ask.toolCallId, outcome, isByRemote);
    }
    const { action } = outcome;
    this.#context.ports.observe({
      kind: "interaction-settled",
      interactionId: ask.interactionId,
      action,
      openMs: now - ask.openedAt,
    });
    if (ask.session === undefined) this.#context.link.notify(HUB.interactionSettled, asJson(notice));
    else {
      this.#publisher.settled(ask.session, notice, now);
      this.#publisher.turnIfChanged(ask.session, now);
    }
  }

  #toAgent(id: RpcId, body: AnswerBody): void {
    this.#context.ports.toAgent(bodyText(id, body));
  }
}
