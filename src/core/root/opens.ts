/**
 * How sessions come to life by new and fork, and what is common to all openings (S6, B2). Loads and resumes are `loads.ts`.
 *
 * S-c Messages that came before the id was known follow the response that introduces it, except a replay of a fork.
 */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, paramsOf } from "../../protocol/envelope.ts";
import { type SessionId, sessionId } from "../../protocol/ids.ts";
import { isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { withHubMeta } from "../../protocol/meta.ts";
import { isLiveOnly } from "../audience.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { ownerOf } from "../interaction/url-owner.ts";
import type { Call } from "./calls.ts";
import type { RootContext } from "./context.ts";
import { Holds } from "./holds.ts";
import type { Publisher } from "./publisher.ts";
import { RootSession } from "./session.ts";

/** Takes a message of the agent for a session that is live by now. */
export type Deliver = (session: RootSession, frame: Frame, now: number) => void;

export class Opens {
  readonly #context: RootContext;
  readonly #holds: Holds;
  readonly #publisher: Publisher;
  readonly #deliver: Deliver;

  constructor(context: RootContext, publisher: Publisher, deliver: Deliver) {
    this.#context = context;
    this.#publisher = publisher;
    this.#holds = new Holds(context);
    this.#deliver = deliver;
  }

  /** `session/new`. */
  create(call: Call): void {
    this.introduce(call, call.method, (body, now) => {
      const result = resultOf(body);
      const id = stringAt(result, "sessionId");
      if (result === undefined || id === undefined) return call.answer(body);
      const session = this.add(sessionId(id), call, result, now, true);
      this.attach(session, call);
      call.answer({ result });
      return this.release(session, now);
    });
  }

  /** `session/fork`: what the agent replays under the new id before its response goes to the caller alone (B2). */
  fork(call: Call): void {
    this.introduce(call, call.method, (body, now) => {
      const result = resultOf(body);
      const id = stringAt(result, "sessionId");
      if (result === undefined || id === undefined) return call.answer(body);
      const held = this.#holds.take(sessionId(id));
      const session = this.add(sessionId(id), call, result, now, held.length > 0, (made) => {
        for (const frame of held) this.baseline(made, frame, now, call.caller.isPrimary);
        made.baselineTail = made.journal.tail;
      });
      this.attach(session, call);
      call.answer({ result });
      return this.release(session, now);
    });
  }

  /** Sends a request that may bring a new session id, and holds what comes for unknown ones until its answer. */
  introduce(call: Call, method: string, onReply: (body: AnswerBody, now: number) => void): void {
    this.#holds.begin();
    this.#context.agent.request(
      method,
      withHubMeta(call.params, undefined),
      (body, now) => {
        this.#holds.end();
        onReply(body, now);
        if (!this.#holds.isHolding) this.releaseAll(now);
      },
      call,
    );
  }

  /** A message of a session nobody knows: held for its introduction, or delivered to a session made for it. */
  takeUnknown(id: SessionId, frame: Frame, now: number): void {
    if (this.#holds.hold(id, frame)) return;
    // What was held of it comes first.
    if (this.#holds.isHolding) this.releaseAll(now);
    this.#deliver(this.#context.sessions.get(id) ?? this.#implicit(id, now), frame, now);
  }

  /** The held messages are let go: of sessions nobody introduced, too. */
  releaseAll(now: number): void {
    for (const { id, frame } of this.#holds.takeAll())
      this.#deliver(this.#context.sessions.get(id) ?? this.#implicit(id, now), frame, now);
  }

  /** The session of an answered call. Messages that overflowed the hold have made it already. */
  add(
    id: SessionId,
    call: Call,
    result: JsonObject,
    now: number,
    isWhole: boolean,
    prepare?: (session: RootSession) => void,
  ): RootSession {
    const known = this.#context.sessions.get(id);
    const openedBy = call.caller.isPrimary ? "primary" : "remote";
    const session = known ?? this.make(id, openedBy, call.params, isWhole, now);
    known?.introduce(openedBy, call.params);
    session.state.mergeResult(result);
    prepare?.(session);
    if (known === undefined) this.register(session);
    else this.#context.link.announce(session);
    return session;
  }

  make(id: SessionId, openedBy: "primary" | "remote", params: JsonObject, isWhole: boolean, now: number): RootSession {
    const { workspace, journalBytes, tailBytes } = this.#context.options;
    const epoch = this.#context.ports.mint.epoch();
    return new RootSession({
      id,
      epoch,
      openedBy,
      params,
      workspace,
      journalBytes,
      linkCursor: (session) => this.#context.link.cursorOf(session),
      tailBytes,
      lanePromptsMax: () => this.#context.limits.lanePromptsMax,
      outcomes: this.#context.outcomesOf(id),
      isWhole,
      now,
    });
  }

  /** The hub hears of the session before its first event. */
  register(session: RootSession): void {
    this.#context.sessions.set(session.id, session);
    this.#context.link.announce(session);
    this.#context.link.subscribe(session, undefined);
  }

  attach(session: RootSession, call: Call): void {
    this.noteAuthor(session, call);
    if (!call.caller.isPrimary || session.hasPrimary) return;
    session.hasPrimary = true;
    this.#context.link.announce(session);
  }

  /** Who opened it, where nobody has prompted in it. */
  noteAuthor(session: RootSession, { caller }: Call): void {
    session.author ??= ownerOf({ device: caller.by.device, isOwner: caller.isOwner });
  }

  /** The editor closed it, or is gone. */
  detachPrimary(session: RootSession): void {
    if (!session.hasPrimary) return;
    session.hasPrimary = false;
    this.#context.link.announce(session);
  }

  /** Delivers what was held for a session that is known now. */
  release(session: RootSession, now: number): void {
    for (const frame of this.#holds.take(session.id)) this.#deliver(session, frame, now);
  }

  /** One update of a replay: journaled as the baseline, shown to the loading primary as it came. */
  baseline(session: RootSession, frame: Frame, now: number, isForPrimary: boolean): void {
    if (isForPrimary && this.#context.livePrimary !== undefined) this.#context.ports.toPrimary(frame.text);
    const params = frame.kind === "notification" ? paramsOf(frame.msg) : undefined;
    const update = objectAt(params, "update");
    if (params === undefined || update === undefined || isLiveOnly(stringAt(update, "sessionUpdate"))) return;
    session.state.onUpdate(update);
    this.#publisher.event(session, ACP.sessionUpdate, params, now, { isBaseline: true, text: frame.text });
  }

  /** A session the agent talks about that no client opened: a sub-agent's, or one from before. */
  #implicit(id: SessionId, now: number): RootSession {
    const session = this.make(id, "primary", {}, false, now);
    session.hasPrimary = false;
    session.isImplicit = true;
    session.continues = true;
    this.register(session);
    return session;
  }
}

const resultOf = (body: AnswerBody): JsonObject | undefined =>
  "result" in body && isObject(body.result) ? body.result : undefined;
