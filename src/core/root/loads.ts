/**
 * `session/load` and `session/resume` at the root (S1, B2).
 *
 * S-a Of one session at most one opening call is with the agent; everything else about that session waits for it.
 * S-b The replay of a load is a baseline: a new epoch, journaled, seen by the loader alone.
 */
import { ACP } from "../../protocol/acp.ts";
import type { Frame } from "../../protocol/envelope.ts";
import { invalidParams, RPC } from "../../protocol/errors.ts";
import type { SessionId } from "../../protocol/ids.ts";
import { isObject, objectAt } from "../../protocol/json.ts";
import { withHubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { isExtendedOnly, itemPlainText, itemText } from "../journal/frames.ts";
import type { Call } from "./calls.ts";
import type { RootContext } from "./context.ts";
import type { EndReason } from "./ending.ts";
import { asSessionId } from "./link-side.ts";
import type { Opens } from "./opens.ts";
import type { RootSession } from "./session.ts";

interface Waiting {
  readonly call: Call;
  readonly then: (now: number) => void;
}

/** An opening call on its way, and what waits for it. */
interface Opening {
  /** `load`: replays into the journal. `past`: to the primary alone (S1 b). `resume`: replays nothing. */
  readonly kind: "load" | "past" | "resume";
  readonly session: RootSession | undefined;
  /** The replay is shown to the primary as it comes. */
  readonly isForPrimary: boolean;
  readonly waiting: Waiting[];
}

export interface LoadsParts {
  end(session: RootSession, reason: EndReason, now: number): void;
  /** The editor has a live session that it may not have had: it is asked what is open there (X6). */
  askPrimary(session: RootSession, hasHistory: boolean): void;
}

export class Loads {
  readonly #context: RootContext;
  readonly #opens: Opens;
  readonly #parts: LoadsParts;
  readonly #opening = new Map<SessionId, Opening>();

  constructor(context: RootContext, opens: Opens, parts: LoadsParts) {
    this.#context = context;
    this.#opens = opens;
    this.#parts = parts;
  }

  load(call: Call, now: number): void {
    const id = asSessionId(call.params);
    if (id === undefined) return call.answer({ error: invalidParams("sessionId", "must be a string") });
    if (this.defer(id, call, (at) => this.load(call, at))) return undefined;
    const live = this.#context.sessions.get(id);
    if (live === undefined) return this.#loadCold(id, call, now, false);
    const isIdle = !live.lane.isRunning && live.backendTurns.size === 0;
    if (call.caller.isPrimary && !live.journal.isWhole && isIdle) return this.#loadPastJournal(live, call);
    return this.#serve(live, call);
  }

  /** Attaches without replay. */
  resume(call: Call): void {
    const id = asSessionId(call.params);
    if (id === undefined) return call.answer({ error: invalidParams("sessionId", "must be a string") });
    if (this.defer(id, call, () => this.resume(call))) return undefined;
    const live = this.#context.sessions.get(id);
    if (live === undefined) return this.#resumeCold(id, call);
    this.#attach(live, call);
    call.answer({ result: live.state.result });
    if (call.caller.isPrimary) this.#parts.askPrimary(live, false);
    return undefined;
  }

  /** S-a: while the session is being opened, `then` waits. False when nothing is on its way. */
  defer(id: SessionId, call: Call, then: (now: number) => void): boolean {
    const opening = this.#opening.get(id);
    opening?.waiting.push({ call, then });
    return opening !== undefined;
  }

  /** Takes back a request that waits for an opening. */
  cancelWaiting(matches: (call: Call) => boolean): Call[] {
    const taken: Call[] = [];
    for (const { waiting } of this.#opening.values()) {
      for (const entry of waiting.filter((each) => matches(each.call))) {
        waiting.splice(waiting.indexOf(entry), 1);
        taken.push(entry.call);
      }
    }
    return taken;
  }

  /** An update of a session that is loading; true when it was taken. */
  takeReplay(id: SessionId, frame: Frame, now: number): boolean {
    const opening = this.#opening.get(id);
    if (opening === undefined || opening.kind === "resume") return false;
    if (opening.kind === "load" && opening.session !== undefined)
      this.#opens.baseline(opening.session, frame, now, opening.isForPrimary);
    else if (this.#context.livePrimary !== undefined) this.#context.ports.toPrimary(frame.text);
    return true;
  }

  #loadCold(id: SessionId, call: Call, now: number, isQuiet: boolean): void {
    // A replay that was asked for in part is not the whole session: who wants more has to be able to ask for it.
    const isWhole = objectAt(objectAt(call.params, "_meta"), "zcode")?.["limit"] === undefined;
    const session = this.#opens.make(id, call.caller.isPrimary ? "primary" : "remote", call.params, isWhole, now);
    this.#opens.noteAuthor(session, call);
    session.isLoading = true;
    session.isListed = true;
    this.#begin(id, { kind: "load", session, isForPrimary: call.caller.isPrimary && !isQuiet });
    this.#opens.register(session);
    this.#context.agent.request(
      ACP.sessionLoad,
      withHubMeta(call.params, undefined),
      (body, at) => this.#onLoaded(session, call, body, isQuiet, at),
      call,
    );
  }

  #onLoaded(session: RootSession, call: Call, body: AnswerBody, isQuiet: boolean, now: number): void {
    session.isLoading = false;
    session.baselineTail = session.journal.tail;
    if ("error" in body) {
      this.#parts.end(session, "load-failed", now);
      call.answer(body);
      return this.#finish(session.id, body, now);
    }
    session.state.mergeResult(body.result);
    if (isQuiet) session.reason = "agent-restarted";
    this.#context.link.announce(session);
    this.#attach(session, call);
    call.answer(isQuiet || !isObject(body.result) ? { result: session.state.result } : body);
    return this.#finish(session.id, undefined, now);
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
    if (call.caller.isPrimary) this.#parts.askPrimary(session, true);
  }

  /** S1 (b): the agent replays what the journal no longer holds, to the primary alone. */
  #loadPastJournal(session: RootSession, call: Call): void {
    this.#begin(session.id, { kind: "past", session, isForPrimary: true });
    this.#context.agent.request(
      ACP.sessionLoad,
      withHubMeta(call.params, undefined),
      (body, now) => {
        if ("error" in body) this.#serve(session, call);
        else {
          this.#attach(session, call);
          call.answer(body);
          this.#parts.askPrimary(session, true);
        }
        this.#finish(session.id, undefined, now);
      },
      call,
    );
  }

  #resumeCold(id: SessionId, call: Call): void {
    this.#begin(id, { kind: "resume", session: undefined, isForPrimary: false });
    this.#opens.introduce(call, ACP.sessionResume, (body, now) => {
      const waiting = this.#opening.get(id)?.waiting ?? [];
      if ("error" in body && body.error.code === RPC.methodNotFound && this.#canLoad()) {
        this.#opening.delete(id);
        this.#loadCold(id, call, now, true);
        this.#opening.get(id)?.waiting.push(...waiting);
        return;
      }
      if ("error" in body) call.answer(body);
      else this.#onResumed(id, call, body, now);
      this.#finish(id, undefined, now);
    });
  }

  #onResumed(id: SessionId, call: Call, body: { readonly result: unknown } & AnswerBody, now: number): void {
    const session = this.#opens.add(id, call, isObject(body.result) ? body.result : {}, now, false, (made) => {
      made.isListed = true;
      made.reason = "agent-restarted";
      made.continues = true;
    });
    this.#attach(session, call);
    call.answer(body);
    this.#opens.release(session, now);
  }

  #begin(id: SessionId, opening: Omit<Opening, "waiting">): void {
    this.#opening.set(id, { ...opening, waiting: [] });
  }

  /** The opening is over: what waited goes on. Loads that joined a failed one share its error. */
  #finish(id: SessionId, failed: AnswerBody | undefined, now: number): void {
    const waiting = this.#opening.get(id)?.waiting ?? [];
    this.#opening.delete(id);
    for (const { call, then } of waiting) {
      if (failed !== undefined && call.method === ACP.sessionLoad) call.answer(failed);
      else then(now);
    }
  }

  /** The editor knows the session from here on, whoever opened it. */
  #attach(session: RootSession, call: Call): void {
    session.introduce(call.caller.isPrimary ? "primary" : "remote", call.params);
    this.#opens.attach(session, call);
  }

  #canLoad(): boolean {
    return objectAt(this.#context.agentInfo, "agentCapabilities")?.["loadSession"] === true;
  }
}
