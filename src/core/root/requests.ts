/**
 * What happens to each request and notification of a client, primary or remote: one table (contract §4, facts of the routing
 * table). Scopes are the mirror's business; here every caller may what it asks.
 */
import { ACP } from "../../protocol/acp.ts";
import type { RpcId } from "../../protocol/envelope.ts";
import { hubError, invalidParams, methodNotFound, RPC } from "../../protocol/errors.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import { hubMeta, withHubMeta } from "../../protocol/meta.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { Call, Caller } from "./calls.ts";
import type { RootContext } from "./context.ts";
import type { Ending } from "./ending.ts";
import { asSessionId } from "./link-side.ts";
import type { Listing } from "./listing.ts";
import type { Loads } from "./loads.ts";
import type { Opens } from "./opens.ts";
import type { RootSession } from "./session.ts";
import { isSetter, type Setters } from "./setters.ts";
import type { Turns } from "./turns.ts";

const CANCELLED: AnswerBody = { result: { stopReason: "cancelled" } };
const REQUEST_CANCELLED: AnswerBody = { error: { code: RPC.requestCancelled, message: "Request cancelled" } };

export interface RootParts {
  readonly turns: Turns;
  readonly opens: Opens;
  readonly loads: Loads;
  readonly ending: Ending;
  readonly setters: Setters;
  readonly listing: Listing;
}

export class Requests {
  readonly #context: RootContext;
  readonly #parts: RootParts;

  constructor(context: RootContext, parts: RootParts) {
    this.#context = context;
    this.#parts = parts;
  }

  /** One request of a client. Initialize is not among them: it is handled where the client is known. */
  onRequest(call: Call, now: number): void {
    const { opens, loads, listing } = this.#parts;
    switch (call.method) {
      case ACP.sessionNew:
        return opens.create(call);
      case ACP.sessionLoad:
        return loads.load(call, now);
      case ACP.sessionResume:
        return loads.resume(call);
      case ACP.sessionList:
        return call.caller.isPrimary ? this.#forward(call) : listing.list(call);
      default: {
        // A session that is being opened takes nothing else meanwhile: its agent is busy replaying into it.
        const id = asSessionId(call.params);
        if (id !== undefined && loads.defer(id, call, (at) => this.#onSessionRequest(call, at))) return undefined;
        return this.#onSessionRequest(call, now);
      }
    }
  }

  #onSessionRequest(call: Call, now: number): void {
    const { turns, opens, setters, ending } = this.#parts;
    switch (call.method) {
      case ACP.sessionFork:
        return opens.fork(call);
      case ACP.sessionClose:
        return this.#withSession(call, (session) => this.#close(call, session));
      case ACP.sessionPrompt:
        return this.#withSession(call, (session) => turns.prompt(call, session, now));
      case HUB.queueList:
        return this.#withSession(call, (session) => call.answer({ result: { queue: [...session.lane.entries()] } }));
      case HUB.queueRemove:
      case HUB.queueMove:
        return this.#withSession(call, (session) => this.#queue(call, session, now));
      case ACP.sessionDelete:
      case "session/archive": {
        const session = this.#session(call.params);
        return this.#forward(call, (at) => session !== undefined && ending.end(session, "closed", at));
      }
      default: {
        // What the hub speaks of its own ends here: no agent is asked for it.
        if (call.method.startsWith("_acp-hub/")) return call.answer({ error: methodNotFound(call.method) });
        const session = this.#session(call.params);
        if (session !== undefined && isSetter(call.method)) return setters.set(call, session);
        return this.#forward(call);
      }
    }
  }

  /** One notification of a client. */
  onNotification(caller: Caller, method: string, params: JsonObject, calls: Iterable<Call>, now: number): void {
    if (method === ACP.cancelRequest) return this.#cancelRequest(caller, params, calls, now);
    if (method === ACP.sessionCancel) {
      const session = this.#session(params);
      const isOwnPrompt = (call: Call): boolean =>
        call.method === ACP.sessionPrompt &&
        call.caller.key === caller.key &&
        call.params["sessionId"] === params["sessionId"];
      for (const call of this.#parts.loads.cancelWaiting(isOwnPrompt)) call.answer(CANCELLED);
      if (session !== undefined) this.#parts.turns.cancel(session, caller, now);
      else if (caller.isPrimary) this.#context.agent.notify(method, withHubMeta(params, undefined));
      return undefined;
    }
    // T1: other `$/` notifications end here.
    if (method.startsWith("$/") || method.startsWith("_acp-hub/")) return undefined;
    return this.#context.agent.notify(method, withHubMeta(params, undefined));
  }

  #session(params: JsonObject): RootSession | undefined {
    const id = asSessionId(params);
    return id === undefined ? undefined : this.#context.sessions.get(id);
  }

  /** For methods that need a live session. The agent answers for ids we do not know: it may know them. */
  #withSession(call: Call, then: (session: RootSession) => void): void {
    const session = this.#session(call.params);
    if (session !== undefined) return then(session);
    if (call.caller.isPrimary) return this.#forward(call);
    const sessionId = stringAt(call.params, "sessionId") ?? null;
    return call.answer({
      error: hubError(RPC.resourceNotFound, "unknown-session", "Unknown session: load or resume it first", {
        sessionId,
      }),
    });
  }

  #forward(call: Call, onResult?: (now: number) => void): void {
    this.#context.agent.request(
      call.method,
      withHubMeta(call.params, undefined),
      (body, now) => {
        if ("result" in body) onResult?.(now);
        call.answer(body);
      },
      call,
    );
  }

  /** S6: closing a view is not closing the session. */
  #close(call: Call, session: RootSession): void {
    const isForced = hubMeta(call.params)?.["force"] === true;
    if (call.caller.isPrimary) this.#parts.opens.detachPrimary(session);
    const others = call.caller.isPrimary ? session.remoteCount > 0 : session.hasPrimary;
    if (!isForced && (others || (!call.caller.isPrimary && session.lane.isRunning))) return call.answer({ result: {} });
    this.#context.agent.request(
      ACP.sessionClose,
      withHubMeta(call.params, undefined),
      (body, at) => {
        // The agent knows it no longer: that is what was wanted.
        const isGone = "result" in body || body.error.code === RPC.resourceNotFound;
        if (isGone) this.#parts.ending.end(session, "closed", at);
        // Remote clients were told that they may close (I5): where the agent cannot, they have left, and the session goes on.
        const isLeft = !call.caller.isPrimary && !isForced && "error" in body && body.error.code === RPC.methodNotFound;
        call.answer(isGone || isLeft ? { result: "result" in body ? body.result : {} } : body);
      },
      call,
    );
    return undefined;
  }

  #queue(call: Call, session: RootSession, now: number): void {
    const promptId = stringAt(call.params, "promptId");
    if (promptId === undefined) return call.answer({ error: invalidParams("promptId", "must be a string") });
    const index = numberAt(call.params, "index");
    if (call.method === HUB.queueMove && index === undefined)
      return call.answer({ error: invalidParams("index", "must be a number") });
    const isDone =
      call.method === HUB.queueRemove
        ? this.#parts.turns.removeQueued(session, promptId, now)
        : this.#parts.turns.moveQueued(session, promptId, index ?? 0, now);
    if (isDone) return call.answer({ result: { queue: [...session.lane.entries()] } });
    return call.answer({ error: hubError(RPC.invalidParams, "unknown-prompt", "No such prompt waits", { promptId }) });
  }

  #cancelRequest(caller: Caller, params: JsonObject, calls: Iterable<Call>, now: number): void {
    const id = params["requestId"];
    if (typeof id !== "number" && typeof id !== "string" && id !== null) return;
    if (this.#cancelPrompt(caller, id, now)) return;
    const matches = (call: Call): boolean => call.caller.key === caller.key && call.id === id;
    const waiting = this.#parts.loads.cancelWaiting(matches);
    const setter = this.#parts.setters.cancelWaiting(matches);
    for (const call of setter === undefined ? waiting : [...waiting, setter]) call.answer(REQUEST_CANCELLED);
    for (const call of calls) if (matches(call)) this.#context.agent.cancelFor(call);
  }

  #cancelPrompt(caller: Caller, id: RpcId, now: number): boolean {
    for (const session of this.#context.sessions.values()) {
      if (this.#parts.turns.cancelRequest(session, caller, id, now)) return true;
    }
    return false;
  }
}
