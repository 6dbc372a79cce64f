/** The agent's notifications: updates of live, loading and unknown sessions, and everything else it says (B1, B6, B7, S6). */
import { ACP, CHUNK_KINDS } from "../../protocol/acp.ts";
import { type Frame, paramsOf } from "../../protocol/envelope.ts";
import { arrayAt, isObject, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { isLiveOnly } from "../audience.ts";
import { isInteraction } from "../interaction/answer.ts";
import { isToolKind } from "../journal/tool-card.ts";
import type { Asks } from "./asks.ts";
import type { RootContext } from "./context.ts";
import type { HostRequests } from "./host-requests.ts";
import { asSessionId } from "./link-side.ts";
import type { Loads } from "./loads.ts";
import type { Opens } from "./opens.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";
import type { Setters } from "./setters.ts";
import type { Turns } from "./turns.ts";

/** What an in-process backend reports of turns of its own (B4). */
export const BACKEND_TURN = "_acp-hub/backend_turn";
export const BACKEND_TASKS = "_acp-hub/backend_tasks";
export const BACKEND_QUEUE = "_acp-hub/backend_queue";

export interface UpdateParts {
  readonly turns: Turns;
  readonly setters: Setters;
  readonly opens: Opens;
  readonly loads: Loads;
  readonly asks: Asks;
  readonly hosts: HostRequests;
}

export class AgentUpdates {
  readonly #context: RootContext;
  readonly #publisher: Publisher;
  readonly #turns: Turns;
  readonly #setters: Setters;
  readonly #opens: Opens;
  readonly #loads: Loads;
  readonly #asks: Asks;
  readonly #hosts: HostRequests;

  constructor(context: RootContext, publisher: Publisher, parts: UpdateParts) {
    this.#context = context;
    this.#publisher = publisher;
    this.#turns = parts.turns;
    this.#setters = parts.setters;
    this.#opens = parts.opens;
    this.#loads = parts.loads;
    this.#asks = parts.asks;
    this.#hosts = parts.hosts;
  }

  /** A request of the agent about a session: an interaction, or something only a host can do. */
  onRequest(frame: Frame & { kind: "request" }, now: number): void {
    const id = asSessionId(paramsOf(frame.msg));
    const session = id === undefined ? undefined : this.#context.sessions.get(id);
    if (id !== undefined && session === undefined) return this.#opens.takeUnknown(id, frame, now);
    return this.#request(frame, session, now);
  }

  #request(frame: Frame & { kind: "request" }, session: RootSession | undefined, now: number): void {
    if (isInteraction(frame.msg.method)) this.#asks.open(frame, session, now);
    else this.#hosts.take(frame.msg, session);
  }

  /** Any notification but `$/cancel_request`. */
  onNotification(frame: Frame & { kind: "notification" }, now: number): void {
    const params = paramsOf(frame.msg);
    const id = asSessionId(params);
    const { method } = frame.msg;
    if (method === ACP.elicitationComplete) {
      const session = id === undefined ? undefined : this.#context.sessions.get(id);
      return this.#publisher.passThrough(frame, session, this.#asks.urls.isForPrimary(params));
    }
    if (id === undefined || params === undefined) {
      if (!method.startsWith("$/")) this.#publisher.passThrough(frame);
      return;
    }
    if (method === ACP.sessionUpdate) {
      if (this.#loads.takeReplay(id, frame, now)) return;
      const session = this.#context.sessions.get(id);
      if (session !== undefined) this.deliver(session, frame, now);
      else this.#opens.takeUnknown(id, frame, now);
      return;
    }
    const session = this.#context.sessions.get(id);
    if (session !== undefined && method === BACKEND_TASKS) session.backendTasks = numberAt(params, "running") ?? 0;
    else if (session !== undefined && (method === BACKEND_TURN || method === BACKEND_QUEUE))
      this.#onBackend(session, method, params, now);
    else if (!method.startsWith("$/") || method.startsWith("$/zcode/")) this.#publisher.passThrough(frame, session);
  }

  /** One update (or a request that was held with it) of a live session. */
  deliver(session: RootSession, frame: Frame, now: number): void {
    if (frame.kind === "request") return this.#request(frame, session, now);
    if (frame.kind !== "notification") return undefined;
    const params = paramsOf(frame.msg);
    const update = objectAt(params, "update");
    // Not an update we can read: everyone gets it as it came, it has no place in the record.
    if (params === undefined || update === undefined) return this.#publisher.passThrough(frame, session);
    if (this.#turns.repeatsPrompt(session, update)) return undefined;
    const kind = stringAt(update, "sessionUpdate") ?? "";
    if (isLiveOnly(kind)) return this.#publisher.passThrough(frame, session);
    if (CHUNK_KINDS.has(kind) || isToolKind(kind) || kind === "plan") session.hasContentSinceTurn = true;
    if (isToolKind(kind)) this.#onCard(session, update);
    const title = session.title;
    session.state.onUpdate(update);
    this.#setters.onUpdate(session, kind);
    this.#publisher.event(session, ACP.sessionUpdate, params, now, { text: frame.text });
    if (isToolKind(kind)) this.#hosts.terminals.onCard(session, update, now);
    if (session.title !== title) this.#context.link.announce(session);
    return undefined;
  }

  /** X11: the agent speaks of a card itself. */
  #onCard(session: RootSession, update: JsonObject): void {
    const toolCallId = stringAt(update, "toolCallId");
    if (toolCallId !== undefined) session.unsettledCards.delete(toolCallId);
  }

  #onBackend(session: RootSession, method: string, params: JsonObject, now: number): void {
    if (method === BACKEND_QUEUE) {
      session.backendQueue = (arrayAt(params, "entries") ?? []).filter(isObject).map((entry) => ({
        id: stringAt(entry, "id") ?? "",
        title: stringAt(entry, "title") ?? "",
      }));
    } else {
      const kind = stringAt(params, "kind") ?? "background";
      if (params["running"] === true) session.backendTurns.add(kind);
      else session.backendTurns.delete(kind);
    }
    this.#publisher.turn(session, now);
  }
}
