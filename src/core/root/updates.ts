/** The agent's notifications: updates of live, loading and unknown sessions, and everything else it says (B1, B6, B7, S6). */
import { ACP, CHUNK_KINDS } from "../../protocol/acp.ts";
import { type Frame, paramsOf } from "../../protocol/envelope.ts";
import { arrayAt, isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { isToolKind } from "../journal/tool-card.ts";
import type { RootContext } from "./context.ts";
import { asSessionId } from "./link-side.ts";
import type { Opens } from "./opens.ts";
import type { Publisher } from "./publisher.ts";
import type { RootSession } from "./session.ts";
import type { Setters } from "./setters.ts";
import type { Turns } from "./turns.ts";

/** What an in-process backend reports of turns of its own (B4). */
export const BACKEND_TURN = "_acp-hub/backend_turn";
export const BACKEND_QUEUE = "_acp-hub/backend_queue";

export class AgentUpdates {
  readonly #context: RootContext;
  readonly #publisher: Publisher;
  readonly #turns: Turns;
  readonly #setters: Setters;
  readonly #opens: Opens;

  constructor(context: RootContext, publisher: Publisher, turns: Turns, setters: Setters, opens: Opens) {
    this.#context = context;
    this.#publisher = publisher;
    this.#turns = turns;
    this.#setters = setters;
    this.#opens = opens;
  }

  /** Any notification but `$/cancel_request`. */
  onNotification(frame: Frame & { kind: "notification" }, now: number): void {
    const params = paramsOf(frame.msg);
    const id = asSessionId(params);
    const { method } = frame.msg;
    if (id === undefined || params === undefined) {
      if (!method.startsWith("$/")) this.#publisher.passThrough(frame.text);
      return;
    }
    if (method === ACP.sessionUpdate) {
      if (this.#opens.takeReplay(id, frame, now)) return;
      const session = this.#context.sessions.get(id);
      if (session !== undefined) this.deliver(session, frame, now);
      else if (!this.#opens.holds.hold(id, frame)) this.deliver(this.#opens.implicit(id, now), frame, now);
      return;
    }
    const session = this.#context.sessions.get(id);
    if (session !== undefined && (method === BACKEND_TURN || method === BACKEND_QUEUE))
      this.#onBackend(session, method, params, now);
    else if (!method.startsWith("$/") || method.startsWith("$/zcode/"))
      this.#publisher.passThrough(frame.text, session);
  }

  /** One update of a live session. */
  deliver(session: RootSession, frame: Frame, now: number): void {
    const params = frame.kind === "notification" ? paramsOf(frame.msg) : undefined;
    const update = objectAt(params, "update");
    if (params === undefined || update === undefined) {
      // Not an update we can read: everyone gets it as it came, it has no place in the record.
      this.#publisher.passThrough(frame.text, session);
      return;
    }
    if (this.#turns.repeatsPrompt(session, update)) return;
    const kind = stringAt(update, "sessionUpdate") ?? "";
    if (CHUNK_KINDS.has(kind) || isToolKind(kind) || kind === "plan") session.hasContentSinceTurn = true;
    const title = session.title;
    session.state.onUpdate(update);
    this.#setters.onUpdate(session, kind);
    this.#publisher.event(session, ACP.sessionUpdate, params, now, { text: frame.text });
    if (session.title !== title) this.#context.link.announce(session);
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
