/**
 * The mirror multiplexer: one link, many remote connections (semantics R). Inputs are methods, effects are calls on the ports and
 * on the connections' outboxes; nothing here waits.
 *
 * Mi1 It decides nothing: it fans out, renders for each client, checks scopes, serves loads from its journal, proposes answers (R1).
 * Mi2 Ids belong to one connection and one dial; what is owed to a dead one is dropped (R5).
 * Mi3 A message without its scope is refused with words, a notification dropped and counted (contract §2).
 */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, failure, paramsOf, type RpcError } from "../../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { type InteractionId, sessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import type { Author } from "../../protocol/meta.ts";
import type { Scope } from "../../protocol/scopes.ts";
import type { Encoder } from "../fanout/feed.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { OpenAskView, Verdict } from "./ask.ts";
import { Attachments } from "./attach.ts";
import type { ClientRequest, Connection } from "./connection.ts";
import { MirrorContext } from "./context.ts";
import { Copies } from "./copies.ts";
import { tellDisconnected } from "./draft-attach.ts";
import { checkMethod, type ParamsFilter } from "./gate.ts";
import { LinkEvents } from "./link-events.ts";
import type { MirrorHistory, MirrorOptions, MirrorPorts } from "./ports.ts";
import { tellPresence } from "./presence.ts";
import { MirrorRequests } from "./requests.ts";
import type { MirrorSession } from "./session.ts";
import { HUB_BY, ToldOfClients } from "./told-of-clients.ts";
import { linkLost, UpCalls } from "./up.ts";

export class Mirror<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #up: UpCalls<Encoded>;
  readonly #copies: Copies<Encoded>;
  readonly #attachments: Attachments<Encoded>;
  readonly #requests: MirrorRequests<Encoded>;
  readonly #events: LinkEvents<Encoded>;
  readonly #told: ToldOfClients<Encoded>;
  /** Clients that initialized before the agent did (I2). */
  readonly #early = new Map<Connection<Encoded>, ClientRequest[]>();
  /** Devices that lost the right to prompt while the link was down. */
  readonly #lostPrompts = new Set<string>();
  #lastNow = 0;

  constructor(
    ports: MirrorPorts,
    options: MirrorOptions,
    encoder: Encoder<Encoded>,
    filter: ParamsFilter,
    history?: MirrorHistory<Encoded>,
  ) {
    const context = new MirrorContext(ports, options, encoder, history);
    this.#context = context;
    this.#up = new UpCalls(context);
    this.#copies = new Copies(context, (linkId) => this.#up.clientIdOf(linkId));
    this.#attachments = new Attachments(context, this.#copies, () => this.#told.tellCapabilities());
    this.#told = new ToldOfClients(context, {
      up: this.#up,
      hasAttached: (connection) => this.#attachments.hasAttached(connection),
      onAgentReady: () => this.#onAgentReady(),
    });
    this.#requests = new MirrorRequests(context, this.#attachments, this.#up, filter);
    context.onPresence = (session) => tellPresence(context, session);
    this.#events = new LinkEvents(context, this.#attachments, this.#copies, () => this.#onAgentReady());
  }

  get sessions(): Iterable<MirrorSession<Encoded>> {
    return this.#context.sessions.values();
  }

  get connectionCount(): number {
    return this.#context.connections.size;
  }

  get agentInfo(): JsonObject | undefined {
    return this.#context.agentInfo;
  }

  get isLinkUp(): boolean {
    return this.#context.isLinkUp;
  }

  /** The live session of this id. */
  session(id: string): MirrorSession<Encoded> | undefined {
    return this.#context.sessions.get(sessionId(id));
  }

  holdsSession(id: string): boolean {
    return this.session(id) !== undefined;
  }

  /** What was asked is for those alone that a view's `owner` is, where it has one (X12). */
  openInteractions(): OpenAskView[] {
    return this.#copies.views();
  }

  openInteractionCount(session: MirrorSession<Encoded>): number {
    return this.#copies.openCount(session);
  }

  /** What the hub holds, for the welcome of a re-dialling bridge: it continues from there. */
  acked(): Record<string, { epoch: string; seq: number }> {
    const acked: Record<string, { epoch: string; seq: number }> = {};
    for (const session of this.#context.sessions.values()) {
      Object.defineProperty(acked, session.id, {
        value: { epoch: session.epoch, seq: session.journal.tail },
        enumerable: true,
      });
    }
    return acked;
  }

  flush(): void {
    this.#context.flush();
  }

  /** The bridge dialled and was welcomed. Its snapshot comes next. */
  onLinkUp(): void {
    this.#context.isLinkUp = true;
    this.#told.onLinkUp();
  }

  /** R4: copies and proposals stay; requests on their way are answered. */
  onLinkDown(): void {
    this.#context.isLinkUp = false;
    this.#up.failAll(linkLost);
  }

  onLink(frame: Frame): void {
    switch (frame.kind) {
      case "response":
        return this.#up.onResponse(frame.msg);
      case "notification":
        this.#events.onNotification(frame);
        if (frame.msg.method !== LINK.snapshot) return undefined;
        for (const device of this.#lostPrompts) this.#removePrompts(device);
        return this.#lostPrompts.clear();
      case "request":
        // A bridge asks nothing of a hub today; a newer one gets a defined answer.
        return this.#context.ports.toLink(
          JSON.stringify(
            failure(frame.msg.id, { code: RPC.methodNotFound, message: `Method not found: ${frame.msg.method}` }),
          ),
        );
    }
  }

  /** The bridge is gone for good (L3): interactions end, readers are told. */
  onInstanceGone(): void {
    this.onLinkDown();
    this.#copies.endAll();
    for (const session of [...this.#context.sessions.values()]) {
      session.feed.flush();
      this.#context.ports.record?.onSessionGone(session.info);
      // First it is no session any more: what waited for it would find it again.
      this.#context.sessions.delete(session.id);
      this.#attachments.dropReaders(session, "instance-gone");
    }
    this.#context.sessions.clear();
    const gone = hubError(RPC.internalError, "instance-gone", "The session's bridge has ended");
    this.#answerEarly(gone);
  }

  /** A connection comes into scope. */
  add(connection: Connection<Encoded>): void {
    this.#context.connections.add(connection);
    if (connection.isInitialized) this.#onDeclared(connection);
  }

  /** It leaves: its copies are abstentions, its capabilities no longer count (I3, X3). */
  remove(connection: Connection<Encoded>): void {
    if (!this.#context.connections.delete(connection)) return;
    this.#early.delete(connection);
    this.#context.ports.cancelTimer(initTimer(connection));
    for (const session of this.#context.sessions.values()) tellDisconnected(session, connection, this.#lastNow);
    this.#attachments.onGone(connection);
    this.#copies.onGone(connection);
    this.#context.notifyLink(LINK.gone, { connectionId: connection.id });
    this.#told.tellCapabilities();
    this.#told.tellAnswerers();
  }

  /** A hub-wide connection attached a session elsewhere: here it no longer watches (B1). */
  stopWatching(connection: Connection<Encoded>): void {
    this.#attachments.stopWatching(connection);
  }

  /** A hub-wide connection attaches this session on another instance (S9). */
  supersede(connection: Connection<Encoded>, id: string): void {
    const session = this.session(id);
    if (session !== undefined) this.#attachments.supersede(connection, session);
  }

  onScopesChanged(connection: Connection<Encoded>, scopes: ReadonlySet<Scope>): void {
    connection.scopes = scopes;
    this.#copies.onScopesChanged(connection);
    this.#told.tellAnswerers();
  }

  /**
   * The rights of a device have shrunk to `scopes` (none: revoked). What it asked for and nobody has done yet is not done: answers
   * that wait for the verdict, prompts that wait for their turn (contract §2). Its connections are the caller's business.
   */
  onRightsLost(device: string, scopes: ReadonlySet<Scope>): void {
    if (!scopes.has("interactions:answer")) this.#copies.dropProposals(device);
    if (scopes.has("sessions:prompt")) return;
    // The root cannot be told now: when it is back, before anything else.
    if (!this.#context.isLinkUp) this.#lostPrompts.add(device);
    else this.#removePrompts(device);
  }

  #removePrompts(device: string): void {
    for (const session of this.#context.sessions.values()) {
      for (const { by, promptId } of session.info.queue) {
        if (by.device !== device || promptId === undefined) continue;
        this.#up.request(HUB.queueRemove, { sessionId: session.id, promptId }, HUB_BY, () => undefined);
      }
    }
  }

  /** One message of a client in scope. */
  onClient(connection: Connection<Encoded>, frame: Frame, now: number): void {
    this.#lastNow = now;
    switch (frame.kind) {
      case "response": {
        const handler = typeof frame.msg.id === "number" ? connection.asked.get(frame.msg.id) : undefined;
        if (handler === undefined) this.#context.ports.observe({ kind: "late-answer", connectionId: connection.id });
        else handler(frame.msg, now);
        return;
      }
      case "notification":
        if (connection.isInitialized)
          this.#requests.onNotification(connection, frame.msg.method, paramsOf(frame.msg) ?? {}, now);
        return;
      case "request":
        this.#onRequest(connection, frame);
    }
  }

  /** An answer over HTTP (R3). False when the interaction is not known. */
  answer(id: InteractionId, body: AnswerBody, by: Author, onVerdict: (verdict: Verdict) => void): boolean {
    return this.#copies.answer(id, body, by, onVerdict);
  }

  /** Tells the bridge what is on disk, by session (contract §7). */
  acknowledge(acked: Readonly<Record<string, number>>): void {
    this.#context.notifyLink(LINK.ack, { ...acked });
  }

  /** Asks the bridge for a sign of life, and tells it how many clients it has (L6); `onPong` is called when it gives one (L5). */
  ping(onPong: () => void): void {
    this.#up.request(LINK.ping, { clients: this.#clientCount() }, HUB_BY, (body) => {
      if ("result" in body) onPong();
    });
  }

  /** A request of the hub itself, or of an HTTP caller. */
  request(method: string, params: JsonObject, by: Author, onReply: (body: AnswerBody) => void): void {
    this.#up.request(method, params, by, onReply);
  }

  onTimer(name: string): void {
    for (const connection of this.#early.keys())
      if (name === initTimer(connection)) this.#answerEarly(notReady, connection);
    this.#attachments.onTimer(name);
  }

  /** Who is bound to this instance or reads a session of it. A hub-wide connection that went elsewhere does not. */
  #clientCount(): number {
    return [...this.#context.connections].filter((each) => !each.isHubWide || this.#attachments.reads(each)).length;
  }

  #onRequest(connection: Connection<Encoded>, frame: Frame & { kind: "request" }): void {
    const { id, method } = frame.msg;
    const params = paramsOf(frame.msg);
    if (!connection.isInitialized && method !== ACP.initialize) {
      return this.#refuse(
        connection,
        id,
        hubError(RPC.invalidRequest, "not-initialized", "initialize has to come first"),
      );
    }
    const request: ClientRequest = { id, method, params: params ?? {} };
    if (connection.inFlight.size >= IN_FLIGHT_MAX) {
      return this.#refuse(
        connection,
        id,
        hubError(RPC.internalError, "too-many-requests", `${IN_FLIGHT_MAX} requests wait already`),
      );
    }
    if (!connection.inFlight.add(id, request)) {
      return this.#refuse(
        connection,
        id,
        hubError(RPC.invalidRequest, "duplicate-request-id", "A request with this id is in flight"),
      );
    }
    if (params === undefined && frame.msg.params !== undefined) {
      return connection.answer(id, { error: invalidParams("params", "must be an object") });
    }
    if (method === ACP.initialize) return this.#initialize(connection, request);
    return this.#requests.onRequest(connection, request);
  }

  #refuse(connection: Connection<Encoded>, id: ClientRequest["id"], error: Parameters<typeof failure>[1]): void {
    connection.outbox.send(JSON.stringify(failure(id, error)));
  }

  /** I1, I2, I5. */
  #initialize(connection: Connection<Encoded>, request: ClientRequest): void {
    const refusal = checkMethod(connection.scopes, request.method);
    if (refusal !== undefined) return connection.answer(request.id, { error: refusal });
    if (typeof request.params["protocolVersion"] !== "number") {
      return connection.answer(request.id, { error: invalidParams("protocolVersion", "must be a number") });
    }
    if (this.#context.agentInfo !== undefined) return this.#completeInitialize(connection, request);
    const waiting = this.#early.get(connection);
    if (waiting !== undefined) {
      waiting.push(request);
      return undefined;
    }
    this.#early.set(connection, [request]);
    return this.#context.ports.startTimer(initTimer(connection), this.#context.options.initializeMs);
  }

  /** Those who initialized before the agent did get no agent: all of them, or one. */
  #answerEarly(error: RpcError, only?: Connection<Encoded>): void {
    for (const [connection, requests] of [...this.#early]) {
      if (only !== undefined && connection !== only) continue;
      this.#early.delete(connection);
      this.#context.ports.cancelTimer(initTimer(connection));
      for (const request of requests) connection.answer(request.id, { error });
    }
  }

  #completeInitialize(connection: Connection<Encoded>, request: ClientRequest): void {
    connection.declare(request.params);
    connection.answer(request.id, {
      result: this.#requests.initializeResult(connection, this.#context.options.hubVersion),
    });
    this.#onDeclared(connection);
  }

  #onDeclared(connection: Connection<Encoded>): void {
    this.#told.tellAnswerers();
    this.#attachments.onInitialized(connection);
    // A plain client is asked behind the history it is about to load (X6), or when it turns out to load none.
    if (connection.abilities.isExtended || !this.#attachments.isUndecided(connection))
      this.#copies.offerAll(connection);
    this.#told.tellCapabilities();
  }

  #onAgentReady(): void {
    const early = [...this.#early];
    this.#early.clear();
    for (const [connection, requests] of early) {
      this.#context.ports.cancelTimer(initTimer(connection));
      for (const request of requests) this.#completeInitialize(connection, request);
    }
  }
}

const notReady = hubError(
  RPC.internalError,
  "agent-not-ready",
  "The agent has not been initialized by its editor yet: try again",
);

/** Requests of one connection that may wait at a time: a client that asks faster than agents answer is told so. */
export const IN_FLIGHT_MAX = 1024;

const initTimer = <E>(connection: Connection<E>): string => `init:${connection.id}`;
