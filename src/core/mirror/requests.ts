/** What happens to each message of a remote client at the mirror: answered here, or sent up with its author (B1, S1, S6, P4, T1). */
import { ACP } from "../../protocol/acp.ts";
import type { RpcId } from "../../protocol/envelope.ts";
import { hubError, methodNotFound, RPC } from "../../protocol/errors.ts";
import { HUB } from "../../protocol/hub-methods.ts";
import { type Json, type JsonObject, stringAt } from "../../protocol/json.ts";
import { hubMeta } from "../../protocol/meta.ts";
import { fingerprint } from "../hash.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import type { Attachments } from "./attach.ts";
import type { ClientRequest, Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import { LOAD_EARLIER } from "./dialect.ts";
import { attachResult, DRAFT, readAttach } from "./draft-attach.ts";
import { EarlierPages } from "./earlier-pages.ts";
import { checkMethod, checkReachesAgent, isDisguised, mayNotify, type ParamsFilter } from "./gate.ts";
import { liveSession, notLive } from "./live-session.ts";
import { MirrorOpens } from "./opens.ts";
import type { MirrorSession } from "./session.ts";
import { TypingSigns } from "./typing.ts";
import { stampBy, type UpCalls } from "./up.ts";

export class MirrorRequests<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #attachments: Attachments<Encoded>;
  readonly #up: UpCalls<Encoded>;
  readonly #opens: MirrorOpens<Encoded>;
  readonly #pages: EarlierPages<Encoded>;
  readonly #typing = new TypingSigns<Encoded>();

  constructor(
    context: MirrorContext<Encoded>,
    attachments: Attachments<Encoded>,
    up: UpCalls<Encoded>,
    filter: ParamsFilter,
  ) {
    this.#context = context;
    this.#attachments = attachments;
    this.#up = up;
    this.#opens = new MirrorOpens(context, attachments, up, filter);
    this.#pages = new EarlierPages(context);
  }

  /** One request of an initialized client. */
  onRequest(connection: Connection<Encoded>, request: ClientRequest): void {
    const refusal = checkMethod(connection.scopes, request.method);
    if (refusal !== undefined) return connection.answer(request.id, { error: refusal });
    switch (request.method) {
      case ACP.sessionNew:
        if (connection.pinnedSession !== undefined)
          return this.#opens.adopt(connection, request, connection.pinnedSession);
        return this.#opens.open(connection, request);
      case ACP.sessionFork:
        return this.#opens.open(connection, request);
      case ACP.sessionLoad:
      case ACP.sessionResume:
        return this.#opens.loadOrResume(connection, request);
      case ACP.sessionClose:
        return this.#close(connection, request);
      case HUB.loadEarlier:
        return this.#pages.load(connection, request);
      case LOAD_EARLIER:
        return this.#pages.loadDialect(connection, request);
      case DRAFT.attach:
        return this.#draftAttach(connection, request);
      case DRAFT.detach:
        return this.#draftDetach(connection, request);
      case HUB.queueList:
      case HUB.queueRemove:
      case HUB.queueMove:
        return this.#forward(connection, request);
      default:
        // What the hub speaks of its own ends here: a client must not reach the bridge by it, nor the agent past our looks.
        if (request.method.startsWith("_acp-hub/") || isDisguised(request.method))
          return connection.answer(request.id, { error: methodNotFound(request.method) });
        return this.#forward(connection, request);
    }
  }

  /** One notification of an initialized client. */
  onNotification(connection: Connection<Encoded>, method: string, params: JsonObject, now: number): void {
    if (method === ACP.cancelRequest) return this.#cancelRequest(connection, params["requestId"]);
    if (method.startsWith("$/")) return undefined;
    // Nothing a client sends may pass for the hub's own word to the bridge.
    const isTaken =
      method === HUB.typing
        ? this.#typing.pass(connection, liveSession(this.#context, params), params["typing"] === true, now)
        : mayNotify(connection.scopes, method);
    if (!isTaken) {
      return this.#context.ports.observe({ kind: "notification-refused", connectionId: connection.id, method });
    }
    if (method !== HUB.typing) this.#context.notifyLink(method, stampBy(params, connection.author));
    return undefined;
  }

  #reply(connection: Connection<Encoded>, request: ClientRequest, body: AnswerBody): void {
    connection.answer(request.id, body, liveSession(this.#context, request.params)?.feed);
  }

  #draftAttach(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = liveSession(this.#context, request.params);
    if (session === undefined) return connection.answer(request.id, { error: notLive(request.params) });
    const attach = readAttach(connection, request.params);
    return this.#attachments.load(connection, session, attach.params, false, (found) => {
      if (found === undefined) return connection.answer(request.id, { error: notLive(request.params) });
      connection.draftClients.set(found.session, attach.clientId);
      const result = attachResult(found.session, attach, found.result);
      return connection.answer(request.id, { result }, found.session.feed);
    });
  }

  #draftDetach(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = liveSession(this.#context, request.params);
    if (session === undefined) return connection.answer(request.id, { error: notLive(request.params) });
    this.#attachments.detach(connection, session);
    return connection.answer(request.id, { result: { sessionId: session.id, status: "detached" } });
  }

  /** S6: closing is detaching; it goes up only from the last one attached, or forced. */
  #close(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = liveSession(this.#context, request.params);
    if (session === undefined) return this.#forward(connection, request);
    const isForced = hubMeta(request.params)?.["force"] === true;
    const refusal = checkReachesAgent(connection.scopes, request.method);
    if (isForced && refusal !== undefined) return connection.answer(request.id, { error: refusal });
    this.#attachments.detach(connection, session);
    const isLast = session.attached.size === 0;
    if (!isForced && (!isLast || refusal !== undefined)) return connection.answer(request.id, { result: {} });
    return this.#forward(connection, request);
  }

  #forward(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = liveSession(this.#context, request.params);
    const id = stringAt(request.params, "sessionId");
    if (
      request.method === ACP.sessionPrompt &&
      session === undefined &&
      id !== undefined &&
      this.#context.history?.holds(id) === true
    ) {
      const words =
        "This session is history: there is no agent behind it. Load it in an instance that can, or start a new one";
      return connection.answer(request.id, {
        error: hubError(RPC.readOnly, "session-not-live", words, { sessionId: id }),
      });
    }
    if (request.method === ACP.sessionPrompt && session !== undefined) {
      const known = this.#knownOutcome(connection, request, session);
      if (known !== undefined) return this.#reply(connection, request, known);
      this.#attachments.attach(connection, session, session.journal.tail);
    }
    const answer = (body: AnswerBody): void => this.#reply(connection, request, body);
    this.#up.request(request.method, request.params, connection.author, answer, request.id);
  }

  /** P3: a retry of a prompt that another instance ran, or may have run, is not run again. */
  #knownOutcome(
    connection: Connection<Encoded>,
    request: ClientRequest,
    session: MirrorSession<Encoded>,
  ): AnswerBody | undefined {
    const promptId = stringAt(hubMeta(request.params), "promptId");
    if (promptId === undefined) return undefined;
    const print = fingerprint(JSON.stringify(request.params["prompt"] ?? null));
    return this.#context.ports.record?.beforePrompt(session.info, {
      device: connection.device,
      promptId,
      fingerprint: print,
    });
  }

  /** P4: the root decides what it means; it is named by the id the root knows. */
  #cancelRequest(connection: Connection<Encoded>, id: Json | undefined): void {
    if (typeof id !== "number" && typeof id !== "string" && id !== null) return;
    const linkId = this.#up.linkIdOf(connection.id, id as RpcId);
    if (linkId === undefined) return;
    this.#context.notifyLink(ACP.cancelRequest, stampBy({ requestId: linkId }, connection.author));
  }
}
