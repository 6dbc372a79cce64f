/**
 * The mirror multiplexer: one link, many remote connections (semantics R). Inputs are methods, effects are calls on the ports and
 * on the connections' outboxes; nothing here waits.
 *
 * Mi1 It decides nothing: it fans out, renders for each client, checks scopes, serves loads from its journal, proposes answers (R1).
 * Mi2 Ids belong to one connection and one dial; what is owed to a dead one is dropped (R5).
 * Mi3 A message without its scope is refused with words, a notification dropped and counted (contract §2).
 */
import { ACP } from "../../protocol/acp.ts";
import { type Frame, failure, paramsOf } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { type InteractionId, sessionId } from "../../protocol/ids.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { LINK } from "../../protocol/link.ts";
import type { Author } from "../../protocol/meta.ts";
import type { Scope } from "../../protocol/scopes.ts";
import type { Encoder } from "../fanout/feed.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { admit } from "./admission.ts";
import type { OpenAskView, Verdict } from "./ask.ts";
import { Attachments } from "./attach.ts";
import type { Connection } from "./connection.ts";
import { MirrorContext } from "./context.ts";
import { Copies } from "./copies.ts";
import { tellDisconnected } from "./draft-attach.ts";
import type { ParamsFilter } from "./gate.ts";
import { Initializing } from "./initializing.ts";
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
  readonly #initializing: Initializing<Encoded>;
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
      onAgentReady: () => this.#initializing.onAgentReady(),
    });
    this.#requests = new MirrorRequests(context, this.#attachments, this.#up, filter);
    context.onPresence = (session) => tellPresence(context, session);
    this.#initializing = new Initializing(context, (connection) => this.#onDeclared(connection));
    this.#events = new LinkEvents(context, this.#attachments, this.#copies, () => this.#initializing.onAgentReady());
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

  /** What the editor calls itself; undefined where there is none, or it has not said yet. */
  get editorName(): string | undefined {
    return this.#context.primary?.name;
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
    for (const session of this.#context.sessions.values())
      this.#context.ports.record?.onStanding(session.info, session.updatedAt, session.lastLine);
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
      this.#context.ports.record?.onSessionGone(session.info, session.lastLine);
      // First it is no session any more: what waited for it would find it again.
      this.#context.sessions.delete(session.id);
      this.#attachments.dropReaders(session, "instance-gone");
    }
    this.#context.sessions.clear();
    this.#initializing.refuseAll(hubError(RPC.internalError, "instance-gone", "The session's bridge has ended"));
  }

  /** A connection comes into scope. */
  add(connection: Connection<Encoded>): void {
    this.#context.connections.add(connection);
    if (connection.isInitialized) this.#onDeclared(connection);
  }

  /** It leaves: its copies are abstentions, its capabilities no longer count (I3, X3). */
  remove(connection: Connection<Encoded>): void {
    if (!this.#context.connections.delete(connection)) return;
    this.#initializing.onGone(connection);
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
    this.#initializing.onTimer(name);
    this.#attachments.onTimer(name);
  }

  /** Who is bound to this instance or reads a session of it. A hub-wide connection that went elsewhere does not. */
  #clientCount(): number {
    return [...this.#context.connections].filter((each) => !each.isHubWide || this.#attachments.reads(each)).length;
  }

  #onRequest(connection: Connection<Encoded>, frame: Frame & { kind: "request" }): void {
    const request = admit(connection, frame);
    if (request === undefined) return undefined;
    if (request.method === ACP.initialize) return this.#initializing.onRequest(connection, request);
    const go = (): void => this.#requests.onRequest(connection, request);
    return this.#initializing.defers(connection, request, go) ? undefined : go();
  }

  #onDeclared(connection: Connection<Encoded>): void {
    this.#told.tellAnswerers();
    this.#attachments.onInitialized(connection);
    // A plain client is asked behind the history it is about to load (X6), or when it turns out to load none.
    if (connection.abilities.isExtended || !this.#attachments.isUndecided(connection))
      this.#copies.offerAll(connection);
    this.#told.tellCapabilities();
  }
}
