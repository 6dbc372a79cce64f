/** What happens to each message of a remote client at the mirror: answered here, or sent up with its author (B1, S1, S6, P4, T1). */
import { ACP, ACP_VERSION } from "../../protocol/acp.ts";
import type { RpcError, RpcId } from "../../protocol/envelope.ts";
import { hubError, invalidParams, methodNotFound, RPC } from "../../protocol/errors.ts";
import { FEATURES, HUB } from "../../protocol/hub-methods.ts";
import { sessionId } from "../../protocol/ids.ts";
import { isObject, type Json, type JsonObject, numberAt, objectAt, stringAt } from "../../protocol/json.ts";
import { HUB_META, hubMeta, withHubMeta } from "../../protocol/meta.ts";
import { withoutTerminalLogin } from "../audience.ts";
import { fingerprint } from "../hash.ts";
import type { AnswerBody } from "../interaction/answer.ts";
import { itemTextFor } from "../journal/frames.ts";
import { type HistoryItem, lastOf } from "../journal/history-page.ts";
import type { Attachments } from "./attach.ts";
import type { ClientRequest, Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import {
  cursorExpired,
  isShown,
  LOAD_EARLIER,
  lastMessages,
  readPosition,
  replayMeta,
  withoutLimit,
} from "./dialect.ts";
import { attachResult, DRAFT, readAttach } from "./draft-attach.ts";
import { checkMethod, checkReachesAgent, isDisguised, mayNotify, OPENS_SESSION, type ParamsFilter } from "./gate.ts";
import { livePage } from "./live-pages.ts";
import { pageLimit } from "./page-limit.ts";
import type { MirrorSession } from "./session.ts";
import { TypingSigns } from "./typing.ts";
import { stampBy, type UpCalls } from "./up.ts";

export class MirrorRequests<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #attachments: Attachments<Encoded>;
  readonly #up: UpCalls<Encoded>;
  readonly #filter: ParamsFilter;
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
    this.#filter = filter;
  }

  /** One request of an initialized client. */
  onRequest(connection: Connection<Encoded>, request: ClientRequest): void {
    const refusal = checkMethod(connection.scopes, request.method);
    if (refusal !== undefined) return connection.answer(request.id, { error: refusal });
    switch (request.method) {
      case ACP.sessionNew:
        if (connection.pinnedSession !== undefined) return this.#adopt(connection, request, connection.pinnedSession);
        return this.#open(connection, request);
      case ACP.sessionFork:
        return this.#open(connection, request);
      case ACP.sessionLoad:
      case ACP.sessionResume:
        return this.#loadOrResume(connection, request);
      case ACP.sessionClose:
        return this.#close(connection, request);
      case HUB.loadEarlier:
        return this.#loadEarlier(connection, request);
      case LOAD_EARLIER:
        return this.#loadDialectPage(connection, request);
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
        ? this.#typing.pass(connection, this.#session(params), params["typing"] === true, now)
        : mayNotify(connection.scopes, method);
    if (!isTaken) {
      return this.#context.ports.observe({ kind: "notification-refused", connectionId: connection.id, method });
    }
    if (method !== HUB.typing) this.#context.notifyLink(method, stampBy(params, connection.author));
    return undefined;
  }

  /** The initialize result a remote client gets: the agent's own, and what the hub adds (I5). */
  initializeResult(connection: Connection<Encoded>, hubVersion: string): JsonObject {
    const agent = withoutTerminalLogin(this.#context.agentInfo ?? {}, connection.abilities.hasTerminalLogin);
    const capabilities = objectAt(agent, "agentCapabilities") ?? {};
    const sessions = objectAt(capabilities, "sessionCapabilities") ?? {};
    const meta = objectAt(agent, "_meta") ?? {};
    return {
      ...agent,
      protocolVersion: ACP_VERSION,
      agentCapabilities: {
        ...capabilities,
        loadSession: true,
        sessionCapabilities: {
          ...sessions,
          list: sessions["list"] ?? {},
          resume: sessions["resume"] ?? {},
          close: sessions["close"] ?? {},
        },
      },
      _meta: {
        ...meta,
        [HUB_META]: {
          version: hubVersion,
          connectionId: connection.id,
          instance: this.#context.options.instanceId,
          scopes: [...connection.scopes],
          device: { id: connection.device, name: connection.name },
          features: [...FEATURES],
          pingMs: 30_000,
        },
      },
    };
  }

  #session(params: JsonObject): MirrorSession<Encoded> | undefined {
    const id = stringAt(params, "sessionId");
    return id === undefined ? undefined : this.#context.sessions.get(sessionId(id));
  }

  #reply(connection: Connection<Encoded>, request: ClientRequest, body: AnswerBody): void {
    connection.answer(request.id, body, this.#session(request.params)?.feed);
  }

  /** new and fork: the caller reads the session from its first event; the response stands where the root put it. */
  #open(connection: Connection<Encoded>, request: ClientRequest): void {
    const filtered = this.#filtered(connection, request);
    if (filtered === undefined) return undefined;
    return this.#up.request(
      request.method,
      filtered.params,
      connection.author,
      (body) => {
        const result = "result" in body && isObject(body.result) ? body.result : undefined;
        const session = result === undefined ? undefined : this.#session(result);
        if (session === undefined || result === undefined) return connection.answer(request.id, body);
        this.#attachments.attach(connection, session, 0);
        const answer = filtered.ignored.length === 0 ? result : withIgnored(result, filtered.ignored);
        return connection.answer(request.id, { result: answer }, session.feed);
      },
      request.id,
    );
  }

  /** `?session=`: new adopts the pinned session; its history follows the response (contract §4). */
  #adopt(connection: Connection<Encoded>, request: ClientRequest, pinned: string): void {
    const session = this.#context.sessions.get(sessionId(pinned));
    if (session === undefined) {
      const error = hubError(RPC.resourceNotFound, "session-not-live", "The pinned session is not live", {
        sessionId: pinned,
      });
      return connection.answer(request.id, { error });
    }
    return session.whenReady((ready) => {
      if (ready === undefined) return this.#adopt(connection, request, pinned);
      connection.answer(request.id, { result: { ...ready.state.result, sessionId: ready.id } });
      // The response has gone: only the replay and the open interactions are wanted.
      return this.#attachments.load(connection, ready, {}, false, () => undefined);
    });
  }

  #loadOrResume(connection: Connection<Encoded>, request: ClientRequest): void {
    if (stringAt(request.params, "sessionId") === undefined) {
      return connection.answer(request.id, { error: invalidParams("sessionId", "must be a string") });
    }
    const live = this.#session(request.params);
    if (live !== undefined) return this.#load(connection, request, live, []);
    const refusal = checkReachesAgent(connection.scopes, request.method);
    if (refusal !== undefined) {
      // Who may only read gets what the hub kept; nothing reaches the agent.
      if (this.#context.history?.serve(connection, request) === true) return undefined;
      return connection.answer(request.id, { error: refusal });
    }
    const filtered = this.#filtered(connection, request);
    if (filtered === undefined) return undefined;
    return this.#up.request(
      request.method,
      withoutLimit(filtered.params),
      connection.author,
      (body) => {
        const session = this.#session(request.params);
        // S1 (d): the agent cannot; what is on disk can still be read.
        if ("error" in body && this.#context.history?.serve(connection, request) === true) return undefined;
        if ("error" in body || session === undefined) return connection.answer(request.id, body);
        return this.#load(connection, request, session, filtered.ignored);
      },
      request.id,
    );
  }

  /** The session may go while its copy is not whole yet: then the root is asked, as if it had not been there. */
  #load(
    connection: Connection<Encoded>,
    request: ClientRequest,
    session: MirrorSession<Encoded>,
    ignored: readonly string[],
  ): void {
    const isResume = request.method === ACP.sessionResume;
    this.#attachments.load(connection, session, request.params, isResume, (found) => {
      if (found === undefined) return this.#loadOrResume(connection, request);
      const result = ignored.length === 0 ? found.result : withIgnored(found.result, ignored);
      return connection.answer(request.id, { result }, found.session.feed);
    });
  }

  #draftAttach(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = this.#session(request.params);
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
    const session = this.#session(request.params);
    if (session === undefined) return connection.answer(request.id, { error: notLive(request.params) });
    this.#attachments.detach(connection, session);
    return connection.answer(request.id, { result: { sessionId: session.id, status: "detached" } });
  }

  /** The predecessor's page: its cursor can expire. */
  #loadDialectPage(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = this.#session(request.params);
    if (session === undefined && this.#context.history?.serve(connection, request) === true) return undefined;
    if (session === undefined) return connection.answer(request.id, { error: notLive(request.params) });
    const position = readPosition(request.params["before"]);
    if (position === undefined || position.epoch !== session.epoch || position.before > session.journal.tail + 1)
      return connection.answer(request.id, { error: cursorExpired });
    const startOf = lastMessages(pageLimit(request.params));
    const page = livePage(this.#context, session, position.before, startOf, isShown);
    this.#sendPage(connection, session, page.items);
    const meta = replayMeta(session.epoch, page, session.info.turn !== "idle");
    return this.#reply(connection, request, { result: { replayMeta: meta } });
  }

  #sendPage(connection: Connection<Encoded>, session: MirrorSession<Encoded>, items: readonly HistoryItem[]): void {
    for (const { epoch, item } of items) {
      const text = itemTextFor(connection.abilities.audiences, item, epoch, { replay: true, page: true });
      if (text !== undefined) connection.outbox.send(text, session.feed);
    }
  }

  /** S6: closing is detaching; it goes up only from the last one attached, or forced. */
  #close(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = this.#session(request.params);
    if (session === undefined) return this.#forward(connection, request);
    const isForced = hubMeta(request.params)?.["force"] === true;
    const refusal = checkReachesAgent(connection.scopes, request.method);
    if (isForced && refusal !== undefined) return connection.answer(request.id, { error: refusal });
    this.#attachments.detach(connection, session);
    const isLast = session.attached.size === 0;
    if (!isForced && (!isLast || refusal !== undefined)) return connection.answer(request.id, { result: {} });
    return this.#forward(connection, request);
  }

  /** A page of older events, marked as such, then the answer. */
  #loadEarlier(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = this.#session(request.params);
    if (session === undefined && this.#context.history?.serve(connection, request) === true) return undefined;
    const before = numberAt(request.params, "before");
    if (session === undefined || before === undefined) {
      const field = session === undefined ? "sessionId" : "before";
      return connection.answer(request.id, {
        error: invalidParams(field, session === undefined ? "is not live" : "must be a number"),
      });
    }
    const page = livePage(this.#context, session, before, lastOf(pageLimit(request.params)));
    this.#sendPage(connection, session, page.items);
    return this.#reply(connection, request, { result: { hasMore: page.hasMore, before: page.before } });
  }

  #forward(connection: Connection<Encoded>, request: ClientRequest): void {
    const session = this.#session(request.params);
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

  #filtered(
    connection: Connection<Encoded>,
    request: ClientRequest,
  ): { params: JsonObject; ignored: readonly string[] } | undefined {
    if (!OPENS_SESSION.has(request.method)) return { params: request.params, ignored: [] };
    const verdict = this.#filter(request.method, request.params, connection.scopes);
    if (verdict.ok) return verdict;
    connection.answer(request.id, { error: verdict.error });
    return undefined;
  }

  /** P4: the root decides what it means; it is named by the id the root knows. */
  #cancelRequest(connection: Connection<Encoded>, id: Json | undefined): void {
    if (typeof id !== "number" && typeof id !== "string" && id !== null) return;
    const linkId = this.#up.linkIdOf(connection.id, id as RpcId);
    if (linkId === undefined) return;
    this.#context.notifyLink(ACP.cancelRequest, stampBy({ requestId: linkId }, connection.author));
  }
}

const notLive = (params: JsonObject): RpcError =>
  hubError(RPC.resourceNotFound, "session-not-live", "The session is not live: load it first", {
    sessionId: stringAt(params, "sessionId") ?? null,
  });

/** Names what a remote session did not get (contract §2). */
function withIgnored(result: JsonObject, ignored: readonly string[]): JsonObject {
  return withHubMeta(result, { ...hubMeta(result), ignored: [...ignored] });
}
