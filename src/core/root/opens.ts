/**
 * How sessions come to life: new, load, resume, fork (S1, S6, B2).
 *
 * S-a Of one session at most one opening call is with the agent; others wait for it (B2).
 * S-b The replay of a load is a baseline: a new epoch, journaled, seen by the loader alone.
 * S-c Updates that came before the id was known follow the response that introduces it.
 */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, paramsOf } from "../../protocol/envelope.ts";
import { invalidParams, RPC } from "../../protocol/errors.ts";
import { type SessionId, sessionId } from "../../protocol/ids.ts";
import { isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { withHubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { isExtendedOnly, itemPlainText, itemText } from "../journal/frames.ts";
import type { Call } from "./calls.ts";
import type { RootContext } from "./context.ts";
import { Holds } from "./holds.ts";
import { asSessionId } from "./link-side.ts";
import type { Publisher } from "./publisher.ts";
import { RootSession } from "./session.ts";

interface Loading {
  readonly session: RootSession;
  readonly calls: Call[];
  /** A resume that turned into a load: the replay goes into the journal, not to the caller. */
  readonly isQuiet: boolean;
}

export class Opens {
  readonly #context: RootContext;
  readonly holds: Holds;
  readonly #loading = new Map<SessionId, Loading>();
  readonly #resuming = new Map<SessionId, Call[]>();
  /** Sessions whose agent-side replay goes to the primary alone, outside the journal (S1 b). */
  readonly #primaryOnly = new Set<SessionId>();
  readonly #publisher: Publisher;
  /** Delivers an agent's update of a live session. */
  readonly #deliver: (session: RootSession, frame: Frame, now: number) => void;

  constructor(
    context: RootContext,
    publisher: Publisher,
    deliver: (session: RootSession, frame: Frame, now: number) => void,
  ) {
    this.#context = context;
    this.#publisher = publisher;
    this.holds = new Holds(context);
    this.#deliver = deliver;
  }

  /** `session/new`. */
  create(call: Call, now: number): void {
    this.#introduce(call, now, (id, result) => {
      const session = this.#add(id, call, result, now, true);
      this.#attach(session, call);
      call.answer({ result });
      this.#release(session, now);
    });
  }

  /** `session/fork`: what the agent replays under the new id before its response goes to the caller alone (B2). */
  fork(call: Call, now: number): void {
    this.#introduce(call, now, (id, result) => {
      const held = this.holds.take(id);
      const session = this.#add(id, call, result, now, held.length > 0, (made) => {
        for (const frame of held) this.#baseline(made, frame, now, call.caller.isPrimary);
      });
      this.#attach(session, call);
      call.answer({ result });
      this.#release(session, now);
    });
  }

  /** `session/load` (S1). */
  load(call: Call, now: number): void {
    const id = asSessionId(call.params);
    if (id === undefined) return call.answer({ error: invalidParams("sessionId", "must be a string") });
    const loading = this.#loading.get(id);
    if (loading !== undefined) {
      loading.calls.push(call);
      return;
    }
    const live = this.#context.sessions.get(id);
    if (live === undefined) return this.#loadCold(id, call, now, false);
    const canForward =
      call.caller.isPrimary && !live.journal.isWhole && !live.lane.isRunning && live.backendTurns.size === 0;
    if (canForward) this.#loadPastJournal(live, call);
    else this.#serve(live, call);
  }

  /** `session/resume` (S1): attaches without replay. */
  resume(call: Call, now: number): void {
    const id = asSessionId(call.params);
    if (id === undefined) return call.answer({ error: invalidParams("sessionId", "must be a string") });
    const live = this.#context.sessions.get(id);
    if (live !== undefined && !live.isLoading) {
      this.#attach(live, call);
      return call.answer({ result: live.state.result });
    }
    const loading = this.#loading.get(id);
    if (loading !== undefined) {
      loading.calls.push(call);
      return;
    }
    const waiting = this.#resuming.get(id);
    if (waiting !== undefined) waiting.push(call);
    else this.#resumeCold(id, call, now);
  }

  /** An update of a session that is loading; true when it was taken. */
  takeReplay(id: SessionId, frame: Frame, now: number): boolean {
    const loading = this.#loading.get(id);
    if (loading !== undefined) {
      this.#baseline(
        loading.session,
        frame,
        now,
        !loading.isQuiet && loading.calls.some((call) => call.caller.isPrimary),
      );
      return true;
    }
    if (!this.#primaryOnly.has(id)) return false;
    if (this.#context.livePrimary !== undefined) this.#context.ports.toPrimary(frame.text);
    return true;
  }

  /** The held updates are let go: of sessions nobody introduced, too. */
  releaseAll(now: number): void {
    for (const { id, frame } of this.holds.takeAll()) {
      const session = this.#context.sessions.get(id) ?? this.implicit(id, now);
      this.#deliver(session, frame, now);
    }
  }

  /** A session the agent talks about that no client opened: a sub-agent's, or one from before. */
  implicit(id: SessionId, now: number): RootSession {
    const session = this.#make(id, "primary", {}, false, now);
    session.hasPrimary = false;
    this.#register(session);
    return session;
  }

  #introduce(call: Call, now: number, onSession: (id: SessionId, result: JsonObject) => void): void {
    this.holds.begin();
    this.#context.agent.request(
      call.method,
      withHubMeta(call.params, undefined),
      (body, at) => {
        this.holds.end();
        const result = "result" in body && isObject(body.result) ? body.result : undefined;
        const id = stringAt(result, "sessionId");
        if (result === undefined || id === undefined) call.answer(body);
        else onSession(sessionId(id), result);
        if (!this.holds.isHolding) this.releaseAll(at);
      },
      call,
    );
    void now;
  }

  #loadCold(id: SessionId, call: Call, now: number, isQuiet: boolean): void {
    const session = this.#make(id, call.caller.isPrimary ? "primary" : "remote", call.params, true, now);
    session.isLoading = true;
    session.isListed = true;
    this.#loading.set(id, { session, calls: [call], isQuiet });
    this.#register(session);
    this.#context.agent.request(
      ACP.sessionLoad,
      withHubMeta(call.params, undefined),
      (body, at) => this.#onLoaded(id, body, at),
      call,
    );
  }

  #onLoaded(id: SessionId, body: AnswerBody, now: number): void {
    const loading = this.#loading.get(id);
    if (loading === undefined) return;
    this.#loading.delete(id);
    const { session, calls, isQuiet } = loading;
    session.isLoading = false;
    if ("error" in body) {
      this.#context.sessions.delete(id);
      this.#context.link.notify(LINK.sessionGone, { sessionId: id, reason: "load-failed" }, session);
      this.#context.link.unsubscribe(session);
      for (const call of calls) call.answer(body);
      return;
    }
    session.state.mergeResult(body.result);
    this.#context.link.announce(session);
    const [first, ...joined] = calls;
    if (first !== undefined) {
      this.#attach(session, first);
      first.answer(isQuiet ? { result: session.state.result } : body);
    }
    for (const call of joined) {
      if (call.method === ACP.sessionResume) this.resume(call, now);
      else if (call.caller.isPrimary && first?.caller.isPrimary === true && !isQuiet) call.answer(body);
      else this.#serve(session, call);
    }
  }

  /** S1 (a): the journal is the answer, the agent is not asked. Only the primary is replayed to here; the mirror serves its own. */
  #serve(session: RootSession, call: Call): void {
    this.#attach(session, call);
    const primary = this.#context.livePrimary;
    if (call.caller.isPrimary && primary !== undefined) {
      for (const item of session.journal.replay()) {
        if (primary.abilities.isExtended)
          this.#context.ports.toPrimary(itemText(item, session.epoch, { replay: true }));
        else if (!isExtendedOnly(item)) this.#context.ports.toPrimary(itemPlainText(item));
      }
    }
    call.answer({ result: session.state.result });
  }

  /** S1 (b): the agent replays what the journal no longer holds, to the primary alone. */
  #loadPastJournal(session: RootSession, call: Call): void {
    this.#primaryOnly.add(session.id);
    this.#context.agent.request(
      ACP.sessionLoad,
      withHubMeta(call.params, undefined),
      (body) => {
        this.#primaryOnly.delete(session.id);
        if ("error" in body) return this.#serve(session, call);
        this.#attach(session, call);
        return call.answer(body);
      },
      call,
    );
  }

  #resumeCold(id: SessionId, call: Call, now: number): void {
    this.#resuming.set(id, []);
    this.holds.begin();
    this.#context.agent.request(
      ACP.sessionResume,
      withHubMeta(call.params, undefined),
      (body, at) => {
        this.holds.end();
        const joined = this.#resuming.get(id) ?? [];
        this.#resuming.delete(id);
        this.#onResumed(id, call, body, at);
        for (const other of joined) this.resume(other, at);
        if (!this.holds.isHolding) this.releaseAll(at);
      },
      call,
    );
    void now;
  }

  #onResumed(id: SessionId, call: Call, body: AnswerBody, now: number): void {
    if ("error" in body) {
      if (body.error.code !== RPC.methodNotFound || !this.#canLoad()) return call.answer(body);
      return this.#loadCold(id, call, now, true);
    }
    const session = this.#make(id, call.caller.isPrimary ? "primary" : "remote", call.params, false, now);
    session.isListed = true;
    session.reason = "agent-restarted";
    session.state.mergeResult(body.result);
    this.#register(session);
    this.#attach(session, call);
    call.answer(body);
    this.#release(session, now);
    return undefined;
  }

  #canLoad(): boolean {
    return objectAt(this.#context.agentInfo, "agentCapabilities")?.["loadSession"] === true;
  }

  #add(
    id: SessionId,
    call: Call,
    result: JsonObject,
    now: number,
    isWhole: boolean,
    prepare?: (session: RootSession) => void,
  ): RootSession {
    // Updates that overflowed the hold have made it already.
    const known = this.#context.sessions.get(id);
    const session = known ?? this.#make(id, call.caller.isPrimary ? "primary" : "remote", call.params, isWhole, now);
    session.state.mergeResult(result);
    prepare?.(session);
    this.#register(session);
    return session;
  }

  #make(id: SessionId, openedBy: "primary" | "remote", params: JsonObject, isWhole: boolean, now: number): RootSession {
    const { workspace, journalBytes, lanePromptsMax } = this.#context.options;
    const epoch = this.#context.ports.mint.epoch();
    return new RootSession({ id, epoch, openedBy, params, workspace, journalBytes, lanePromptsMax, isWhole, now });
  }

  /** The hub hears of the session before its first event. */
  #register(session: RootSession): void {
    this.#context.sessions.set(session.id, session);
    this.#context.link.announce(session);
    this.#context.link.subscribe(session, undefined);
  }

  #attach(session: RootSession, call: Call): void {
    if (call.caller.isPrimary) session.hasPrimary = true;
  }

  #release(session: RootSession, now: number): void {
    for (const frame of this.holds.take(session.id)) this.#deliver(session, frame, now);
  }

  /** One update of a replay: journaled as the baseline, shown to the loading primary as it came. */
  #baseline(session: RootSession, frame: Frame, now: number, isForPrimary: boolean): void {
    const params = frame.kind === "notification" ? paramsOf(frame.msg) : undefined;
    const update = objectAt(params, "update");
    if (params === undefined || update === undefined) return;
    session.state.onUpdate(update);
    this.#publisher.event(session, ACP.sessionUpdate, params, now, { isBaseline: true, text: frame.text });
    if (isForPrimary && this.#context.livePrimary !== undefined) this.#context.ports.toPrimary(frame.text);
  }
}
