/**
 * Numbers a session's events and sends them to both client sides (R1, B1): the link gets the stamped copy through the session's
 * feed, the primary the agent's own bytes. What is too large to share is the primary's alone (T2). Everything a session says passes here, so there is one order (B6).
 */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, notification, paramsOf } from "../../protocol/envelope.ts";
import { HUB, type SettledNotice, type TurnNotice } from "../../protocol/hub-methods.ts";
import { asJson, type JsonObject } from "../../protocol/json.ts";
import { hubMeta, type Stamp, withHubMeta } from "../../protocol/meta.ts";
import { type EventMarks, NO_MARKS } from "../journal/item.ts";
import { oversizeParams } from "../oversize.ts";
import { spliceStamp } from "../stamp.ts";
import { PRIMARY_KEY } from "./calls.ts";
import type { RootContext } from "./context.ts";
import type { RootSession } from "./session.ts";

export interface EventOptions extends EventMarks {
  /** Not sent to this connection: it knows already (B3, S6). */
  readonly except?: string;
  /** History on its way to a loader: journaled, fanned out to nobody (B2). */
  readonly isBaseline?: boolean;
  /** The message as the agent sent it, when it did. */
  readonly text?: string;
}

export class Publisher {
  readonly #context: RootContext;

  constructor(context: RootContext) {
    this.#context = context;
  }

  /** The agent's own update, or any numbered event of ours. */
  event(session: RootSession, method: string, params: JsonObject, now: number, options: EventOptions = {}): void {
    const clean = hubMeta(params) === undefined ? params : withHubMeta(params, undefined);
    // What the agent did not write is written once: for both sides, and for its size in the bound.
    const text =
      clean === params && options.text !== undefined ? options.text : JSON.stringify(notification(method, clean));
    const marks = marksOf(options);
    const isShared = text.length <= this.#context.limits.agentLineBytes;
    const told = isShared ? clean : oversizeParams(clean, text.length);
    const toldText = isShared ? text : JSON.stringify(notification(method, told));
    if (!isShared) this.#context.ports.observe({ kind: "oversize", method, chars: text.length });
    const seq = session.journal.append(now, method, told, toldText.length, marks);
    session.updatedAt = now;
    const stamp = stampOf(session, seq, now, marks, options.isBaseline === true);
    if (this.#context.link.isUp) this.#publish(session, method, told, toldText, stamp, options.except);
    if (options.isBaseline !== true) this.#toPrimary(method, clean, text, stamp, options.except);
  }

  /** Tells the state of the turn; with `end`, that one has ended: whose it was, and how. */
  turn(session: RootSession, now: number, end?: Partial<TurnNotice>): void {
    session.lastTurnState = session.turnState;
    const { turnPromptId, turnBy } = session;
    const running = {
      ...(turnPromptId !== undefined && { promptId: turnPromptId }),
      ...(turnBy !== undefined && { by: turnBy }),
    };
    const notice: TurnNotice = {
      sessionId: session.id,
      state: session.turnState,
      queue: session.lane.entries(),
      ...(end ?? running),
    };
    this.event(session, HUB.turn, asJson(notice), now);
  }

  /** Announces the turn state when it has changed (an interaction opened or closed). */
  turnIfChanged(session: RootSession, now: number): void {
    if (session.lastTurnState !== session.turnState) this.turn(session, now);
  }

  settled(session: RootSession, notice: SettledNotice, now: number): void {
    this.event(session, HUB.interactionSettled, asJson(notice), now);
  }

  /** An update of our own, told apart by its mark. */
  synthesised(session: RootSession, update: JsonObject, now: number, except?: string): void {
    session.state.onUpdate(update);
    const options = { synthetic: "root" as const, ...(except !== undefined && { except }) };
    this.event(session, ACP.sessionUpdate, { sessionId: session.id, update }, now, options);
  }

  /** A notification without a number: it belongs to no session, or is of a kind nobody knows (B7). Never one in our name. */
  passThrough(frame: Frame & { readonly kind: "notification" }, session?: RootSession, isForPrimary = true): void {
    const { method } = frame.msg;
    if (method.startsWith("_acp-hub/")) return this.#context.ports.observe({ kind: "forged-message", method });
    const params = paramsOf(frame.msg);
    const isForged = hubMeta(params) !== undefined;
    const text =
      isForged && params !== undefined
        ? JSON.stringify(notification(method, withHubMeta(params, undefined)))
        : frame.text;
    if (text.length <= this.#context.limits.agentLineBytes) this.#context.link.forward(text, session);
    else this.#context.ports.observe({ kind: "oversize", method, chars: text.length });
    if (isForPrimary && this.#context.presentPrimary !== undefined) this.#context.ports.toPrimary(text);
    return undefined;
  }

  #publish(
    session: RootSession,
    method: string,
    params: JsonObject,
    text: string,
    stamp: Stamp,
    except?: string,
  ): void {
    const marked = except === undefined || except === PRIMARY_KEY ? stamp : { ...stamp, except };
    session.feed.publish({ seq: stamp.seq, text: spliceStamp(text, method, params, marked), audience: "all" });
    this.#context.markDirty(session);
  }

  #toPrimary(method: string, params: JsonObject, text: string, stamp: Stamp, except?: string): void {
    const primary = this.#context.livePrimary;
    if (primary === undefined || except === PRIMARY_KEY) return;
    if (primary.abilities.isExtended) {
      this.#context.ports.toPrimary(spliceStamp(text, method, params, stamp));
    } else if (method !== HUB.turn && method !== HUB.interactionSettled) {
      this.#context.ports.toPrimary(text);
    }
  }
}

/** Most stamps are a place and a time, and one is made for every update. */
function stampOf({ epoch }: RootSession, seq: number, ts: number, marks: EventMarks, isBaseline: boolean): Stamp {
  if (marks === NO_MARKS && !isBaseline) return { epoch, seq, ts };
  return { epoch, seq, ts, ...marks, ...(isBaseline && { replay: true }) };
}

/** What of the options goes into the record. Most events have none of it, and this runs for every update. */
function marksOf({ by, promptId, synthetic }: EventOptions): EventMarks {
  if (by === undefined && promptId === undefined && synthetic === undefined) return NO_MARKS;
  return {
    ...(by !== undefined && { by }),
    ...(promptId !== undefined && { promptId }),
    ...(synthetic !== undefined && { synthetic }),
  };
}
