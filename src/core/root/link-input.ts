/**
 * What comes over the link: a hub that is there or gone, its own messages, and the requests of its clients, each with the name of who
 * asks. A peer older or newer than us gets a defined answer (Ro3).
 */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, paramsOf, type RpcRequest } from "../../protocol/envelope.ts";
import { invalidParams } from "../../protocol/errors.ts";
import { asJson, isObject, type JsonObject, numberAt, objectAt } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import { hubMeta, readBy } from "../../protocol/meta.ts";
import type { Sink } from "../fanout/outbox.ts";
import type { AgentStart } from "./agent-start.ts";
import type { Asks } from "./asks.ts";
import { type Call, InFlight } from "./calls.ts";
import type { RootContext } from "./context.ts";
import type { LinkControl } from "./link-control.ts";
import { asSessionId } from "./link-side.ts";
import type { LinkedHub } from "./ports.ts";
import { tellAlone } from "./presence.ts";
import type { Requests } from "./requests.ts";
import type { RootSession } from "./session.ts";
import type { Turns } from "./turns.ts";

export interface LinkInputParts {
  readonly start: AgentStart;
  readonly requests: Requests;
  readonly asks: Asks;
  readonly turns: Turns;
  readonly control: LinkControl;
}

type Asked = Frame & { readonly kind: "request" | "notification" };

export class LinkInput {
  readonly #context: RootContext;
  readonly #parts: LinkInputParts;
  readonly #calls = new InFlight<Call>();
  /** Remote clients, as the hub last said. */
  #clientCount = 0;
  #lastSeenAt = 0;

  constructor(context: RootContext, parts: LinkInputParts) {
    this.#context = context;
    this.#parts = parts;
  }

  get clientCount(): number {
    return this.#clientCount;
  }

  /** When a remote client last said something, or left. */
  get lastSeenAt(): number {
    return this.#lastSeenAt;
  }

  /** A hub answered the hello: it is told the state, then gets the events it lacks (R4). */
  up(sink: Sink<string>, acked: JsonObject, onHopeless: (() => void) | undefined, hub: LinkedHub, now: number): void {
    const { asks } = this.#parts;
    this.#calls.clear();
    this.#context.flush();
    this.#context.limits = { ...this.#context.options.limits, ...hub.limits };
    this.#context.link.up(sink, onHopeless, hub.features ?? []);
    asks.onLinkUp(now);
    const sessions = [...this.#context.sessions.values()];
    const snapshot = {
      ...this.#context.describeAgent(),
      sessions: sessions.map((session) => session.describe()),
      open: asks.describeOpen(),
      settled: asks.describeSettled(),
    };
    this.#context.link.notify(LINK.snapshot, asJson(snapshot));
    for (const session of sessions)
      this.#context.link.subscribe(session, Object.hasOwn(acked, session.id) ? acked[session.id] : undefined);
  }

  /** R5: what is owed to a dead link is dropped. Its clients' running prompts go on; they were told that the others failed. */
  down(now: number): void {
    this.#context.link.down();
    this.#calls.clear();
    this.#context.remoteCapabilities = undefined;
    this.#context.answerers = 0;
    this.#clientCount = 0;
    for (const session of this.#context.sessions.values()) {
      session.remoteCount = 0;
      tellAlone(this.#context, session);
      this.#parts.turns.onCallerGone(session, (caller) => !caller.isPrimary, now);
    }
    this.#parts.asks.onLinkDown(now);
  }

  /** One message. */
  on(frame: Frame, now: number): void {
    if (frame.kind === "response") return;
    const params = paramsOf(frame.msg) ?? {};
    if (frame.kind === "notification" && frame.msg.method.startsWith("_acp-hub/link/")) {
      if (frame.msg.method === LINK.gone) this.#lastSeenAt = now;
      return this.#parts.control.on(frame.msg.method, params, now);
    }
    if (frame.kind === "request" && frame.msg.method === ACP.initialize) return this.#initialize(frame.msg, params);
    if (frame.kind === "request" && frame.msg.method === LINK.ping) {
      this.#clientCount = numberAt(params, "clients") ?? 0;
      return this.#context.link.respond(frame.msg.id, { result: {} });
    }
    return this.#onClient(frame, params, now);
  }

  /** One of the hub's clients wants something, under the name the hub gives it. */
  #onClient(frame: Asked, params: JsonObject, now: number): void {
    const ours = hubMeta(params);
    const by = readBy(ours?.["by"]);
    if (by === undefined) return this.#refuse(frame);
    this.#lastSeenAt = now;
    const caller = { key: by.connectionId, by, isPrimary: false, isOwner: ours?.["isOwner"] === true };
    if (frame.kind === "notification") {
      return this.#parts.requests.onNotification(caller, frame.msg.method, params, this.#calls.values(), now);
    }
    const { id, method } = frame.msg;
    const call = this.#callOf(caller, frame.msg, params);
    if (!this.#calls.add(id, call)) return this.#context.ports.observe({ kind: "bad-link-message", method });
    const { agentEnd } = this.#context;
    return agentEnd === undefined ? this.#parts.requests.onRequest(call, now) : call.answer(agentEnd);
  }

  #callOf(caller: Call["caller"], { id, method }: RpcRequest, params: JsonObject): Call {
    const call: Call = {
      caller,
      id,
      method,
      params,
      isOwed: () => this.#calls.get(id) === call,
      answer: (body) => {
        if (this.#calls.get(id) !== call) return;
        this.#calls.delete(id);
        // The response stands behind the events of the session it opened, or else of the one it is about (B6).
        const opened = "result" in body && isObject(body.result) ? this.#sessionOf(body.result) : undefined;
        this.#context.link.respond(id, body, opened ?? this.#sessionOf(params));
      },
    };
    return call;
  }

  /** A message of a client the hub does not name: nobody it could be done for. */
  #refuse(frame: Asked): void {
    this.#context.ports.observe({ kind: "bad-link-message", method: frame.msg.method });
    if (frame.kind === "request")
      this.#context.link.respond(frame.msg.id, { error: invalidParams("_meta", "must name who asks") });
  }

  #sessionOf(params: JsonObject): RootSession | undefined {
    const id = asSessionId(params);
    return id === undefined ? undefined : this.#context.sessions.get(id);
  }

  #initialize(message: RpcRequest, params: JsonObject): void {
    this.#context.remoteCapabilities = objectAt(params, "clientCapabilities") ?? {};
    this.#parts.start.onCapabilitiesChanged();
    this.#context.link.respond(message.id, { result: this.#context.agentInfo ?? null });
  }
}
