/**
 * Open questions of the backend. Invariants, cited where they are kept:
 *  A1 a question is settled at most once, and then every id it was announced under is answered
 *  A2 the answer has the shape its method wants, declines included
 *  A3 no client failure leaves a question without an answer, except that the backend itself went away
 */
import { ACP } from "../../../protocol/acp.ts";
import { type JsonObject, stringAt } from "../../../protocol/json.ts";
import type { AcpLink } from "../acp/link.ts";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { ZcodeConnection } from "../rpc/connection.ts";
import type { ZId } from "../rpc/frames.ts";
import type { Update } from "../translate/event.ts";
import type { ToolCards } from "../translate/tool-cards.ts";
import { type AskCard, openCard } from "./ask-card.ts";
import { INTERACTIONS } from "./auto-answers.ts";
import { deny, type PermissionVerdict } from "./permission.ts";
import { isApproval } from "./plan-approval.ts";
import { type Leg, renderLeg } from "./render.ts";

/** What the questions need of the session they belong to. */
export interface AskSession {
  readonly aliases: ReadonlySet<string>;
  readonly cards: ToolCards;
  emit(updates: readonly Update[]): void;
  /** True while the turn a question belongs to was cancelled and has not ended. */
  isDying(turnId: string | undefined): boolean;
  /** The key under which cards of this turn are closed. */
  turnKey(turnId: string | undefined): string;
  /** The client ended the turn by answering "cancelled". */
  cancelTurn(turnId: string | undefined): void;
  /** A plan was approved: the mode changes soon. */
  planApproved(): void;
  /** Questions opened or closed: a turn that waits for a person makes no progress, and that is fine. */
  asksChanged(): void;
}

export interface AskDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly link: AcpLink;
  readonly timeoutMs: number | undefined;
  hasForms(): boolean;
  /** The session of a backend id, if a client has it open. */
  sessionOf(zcodeSid: string): AskSession | undefined;
}

export interface Ask {
  readonly key: string;
  readonly method: string;
  readonly params: JsonObject;
  readonly session: AskSession;
  readonly turnId: string | undefined;
  readonly card: AskCard;
}

interface OpenAsk extends Ask {
  readonly connection: ZcodeConnection;
  readonly ids: ZId[];
  readonly legs: Map<string, Leg>;
  stopTimer: () => void;
  /** Set once (A1). */
  result?: JsonObject;
  isOver: boolean;
}

const ANSWER_KEPT_MS = 30_000;

/** The answer that says no, in the shape this method wants (A2). */
export function refusal(method: string, reason: string, isCancel = false): JsonObject {
  if (method === INTERACTIONS.permission) return deny(reason);
  return { action: isCancel ? "cancel" : "decline", reason };
}

export class Asks {
  readonly #deps: AskDeps;
  readonly #asks = new Map<string, OpenAsk>();

  constructor(deps: AskDeps) {
    this.#deps = deps;
  }

  /** Open questions of a session. */
  openCount(session: AskSession): number {
    return this.#of(session).length;
  }

  /** A question as it arrives: new, announced again, or already answered. */
  receive(connection: ZcodeConnection, id: ZId, method: string, params: JsonObject): void {
    const sessionId = stringAt(params, "sessionId") ?? "";
    const key = `${sessionId}/${stringAt(params, "requestId") ?? stringAt(params, "toolCallId") ?? String(id)}`;
    const known = this.#asks.get(key);
    if (known !== undefined && known.connection === connection) {
      if (known.result !== undefined) return connection.answer(id, known.result);
      if (!known.isOver) return void (known.ids.includes(id) || known.ids.push(id));
      // It was taken down as stale and is announced again: somebody does wait for an answer.
      known.stopTimer();
      this.#asks.delete(key);
    }
    const session = this.#deps.sessionOf(sessionId);
    const turnId = stringAt(params, "turnId");
    if (session === undefined || session.aliases.size === 0) {
      this.#deps.log("info", "question of a session nobody has open declined", { method });
      return connection.answer(id, refusal(method, "No client has this session open"));
    }
    if (session.isDying(turnId)) return connection.answer(id, refusal(method, "The turn was cancelled", true));
    this.#open(connection, key, id, { method, params, session, turnId });
  }

  /** A session became reachable under one more id: it gets the session's open questions too. */
  attach(session: AskSession, alias: string): void {
    for (const ask of this.#of(session)) if (!ask.legs.has(alias)) this.#startLeg(ask, alias);
  }

  /**
   * One of its ids is closed: its dialogs go, and what is said of them is no answer. Who had left the question to it is asked
   * again (X5): else nobody could answer any more.
   */
  detach(session: AskSession, alias: string): void {
    for (const ask of this.#of(session)) {
      const leg = ask.legs.get(alias);
      if (leg !== undefined) closeLeg(leg, this.#deps.link);
      ask.legs.delete(alias);
      const isOpen = [...ask.legs.values()].some((other) => !other.isOver);
      if (!isOpen) for (const other of [...ask.legs.keys()]) this.#startLeg(ask, other);
    }
  }

  /** The turn was cancelled: everything open of it is declined, and the clients are told. */
  cancel(session: AskSession, reason: string): void {
    for (const ask of this.#of(session)) this.#settle(ask, refusal(ask.method, reason, true), "failed");
  }

  /** The backend settled a question by itself (answered elsewhere, tool gone): the dialog goes, nothing is answered. */
  drop(
    session: AskSession,
    match: { readonly requestId?: string | undefined; readonly toolCallId?: string | undefined },
  ): void {
    for (const ask of this.#of(session)) {
      const isRequest = match.requestId !== undefined && stringAt(ask.params, "requestId") === match.requestId;
      const isTool = match.requestId === undefined && stringAt(ask.params, "toolCallId") === match.toolCallId;
      if (isRequest || isTool) this.#end(ask, "completed");
    }
  }

  /** A turn ended: questions of it are stale. */
  dropTurn(session: AskSession, turnId: string): void {
    for (const ask of this.#of(session)) if (ask.turnId === turnId) this.#end(ask, "completed");
  }

  /** The backend is gone: nobody waits for an answer any more. */
  connectionDown(): void {
    for (const ask of [...this.#asks.values()]) {
      if (!ask.connection.isDead) continue;
      this.#end(ask, "failed");
      this.#asks.delete(ask.key);
    }
  }

  /** Declines everything, at shutdown. */
  close(): void {
    for (const ask of [...this.#asks.values()]) {
      if (!ask.isOver) this.#settle(ask, refusal(ask.method, "The bridge is closing", true), "failed");
      ask.stopTimer();
    }
    this.#asks.clear();
  }

  #of(session: AskSession): OpenAsk[] {
    return [...this.#asks.values()].filter((ask) => ask.session === session && !ask.isOver);
  }

  #open(
    connection: ZcodeConnection,
    key: string,
    id: ZId,
    base: Pick<Ask, "method" | "params" | "session" | "turnId">,
  ): void {
    const card = openCard(base.params, base.session, base.turnId);
    const ask: OpenAsk = {
      ...base,
      key,
      card,
      connection,
      ids: [id],
      legs: new Map(),
      stopTimer: () => {},
      isOver: false,
    };
    this.#asks.set(key, ask);
    base.session.asksChanged();
    if (this.#deps.timeoutMs !== undefined) {
      ask.stopTimer = this.#deps.clock.setTimeout(
        () => this.#settle(ask, refusal(ask.method, "Nobody answered in time"), "failed"),
        this.#deps.timeoutMs,
      );
    }
    for (const alias of base.session.aliases) this.#startLeg(ask, alias);
  }

  #startLeg(ask: OpenAsk, alias: string): void {
    const leg: Leg = { alias, isOver: false, question: undefined, openCards: new Set() };
    ask.legs.set(alias, leg);
    renderLeg(ask, leg, this.#deps).then(
      (verdict) => {
        if (leg.isOver || ask.isOver) return;
        if (isGivenUp(verdict) && hasOthers(ask, leg)) return this.#legFailed(ask, leg);
        this.#settle(ask, verdict.result, "completed");
        if (isApproval(verdict.result)) ask.session.planApproved();
        if (verdict.isCancelled) ask.session.cancelTurn(ask.turnId);
      },
      () => this.#legFailed(ask, leg),
    );
  }

  /** A client that cannot answer is out; when nobody is left, the question is declined once (A3). */
  #legFailed(ask: OpenAsk, leg: Leg): void {
    if (leg.isOver) return;
    leg.isOver = true;
    if (ask.isOver || hasOthers(ask, leg)) return;
    this.#deps.log("warn", "no client could show a question", { method: ask.method });
    this.#settle(ask, refusal(ask.method, "No client could show this question"), "failed");
  }

  #settle(ask: OpenAsk, result: JsonObject, cardStatus: "completed" | "failed"): void {
    if (ask.isOver) return;
    ask.result = result;
    for (const id of ask.ids) ask.connection.answer(id, result);
    this.#end(ask, cardStatus);
  }

  /** Takes the dialogs down. The record stays a while, because an announcement may already be on its way. */
  #end(ask: OpenAsk, cardStatus: "completed" | "failed"): void {
    if (ask.isOver) return;
    ask.isOver = true;
    ask.stopTimer();
    for (const leg of ask.legs.values()) closeLeg(leg, this.#deps.link);
    ask.card.close(cardStatus);
    ask.stopTimer = this.#deps.clock.setTimeout(() => {
      if (this.#asks.get(ask.key) === ask) this.#asks.delete(ask.key);
    }, ANSWER_KEPT_MS);
    ask.session.asksChanged();
  }
}

/** No answer of a person: it counts only when nobody else is asked (X3). */
const isGivenUp = ({ isCancelled, result }: PermissionVerdict): boolean => isCancelled || result["action"] === "cancel";

const hasOthers = (ask: OpenAsk, leg: Leg): boolean =>
  [...ask.legs.values()].some((other) => other !== leg && !other.isOver);

function closeLeg(leg: Leg, link: AcpLink): void {
  leg.isOver = true;
  leg.question?.withdraw();
  for (const toolCallId of leg.openCards) {
    const update = { sessionUpdate: "tool_call_update", toolCallId, status: "completed" };
    link.notify(ACP.sessionUpdate, { sessionId: leg.alias, update });
  }
  leg.openCards.clear();
}
