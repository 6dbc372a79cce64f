/** How a remote client comes to a session: new, fork, load and resume, served here where it is live, else by the agent or from disk (S1). */
import { ACP } from "../../protocol/acp.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import { sessionId } from "../../protocol/ids.ts";
import { isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import { hubMeta, withHubMeta } from "../../protocol/meta.ts";
import type { Attachments } from "./attach.ts";
import type { ClientRequest, Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import { withoutLimit } from "./dialect.ts";
import { checkReachesAgent, OPENS_SESSION, type ParamsFilter } from "./gate.ts";
import { liveSession } from "./live-session.ts";
import type { MirrorSession } from "./session.ts";
import type { UpCalls } from "./up.ts";

export class MirrorOpens<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  readonly #attachments: Attachments<Encoded>;
  readonly #up: UpCalls<Encoded>;
  readonly #filter: ParamsFilter;

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

  /** new and fork: the caller reads the session from its first event; the response stands where the root put it. */
  open(connection: Connection<Encoded>, request: ClientRequest): void {
    const filtered = this.#filtered(connection, request);
    if (filtered === undefined) return undefined;
    return this.#up.request(
      request.method,
      filtered.params,
      connection.author,
      (body) => {
        const result = "result" in body && isObject(body.result) ? body.result : undefined;
        const session = result === undefined ? undefined : liveSession(this.#context, result);
        if (session === undefined || result === undefined) return connection.answer(request.id, body);
        this.#attachments.attach(connection, session, 0);
        return connection.answer(request.id, { result: withIgnored(result, filtered.ignored) }, session.feed);
      },
      request.id,
    );
  }

  /** `?session=`: new adopts the pinned session; its history follows the response (contract §4). */
  adopt(connection: Connection<Encoded>, request: ClientRequest, pinned: string): void {
    const session = this.#context.sessions.get(sessionId(pinned));
    if (session === undefined) {
      const error = hubError(RPC.resourceNotFound, "session-not-live", "The pinned session is not live", {
        sessionId: pinned,
      });
      return connection.answer(request.id, { error });
    }
    return session.whenReady((ready) => {
      if (ready === undefined) return this.adopt(connection, request, pinned);
      connection.answer(request.id, { result: { ...ready.state.result, sessionId: ready.id } });
      // The response has gone: only the replay and the open interactions are wanted.
      return this.#attachments.load(connection, ready, {}, false, () => undefined);
    });
  }

  loadOrResume(connection: Connection<Encoded>, request: ClientRequest): void {
    if (stringAt(request.params, "sessionId") === undefined) {
      return connection.answer(request.id, { error: invalidParams("sessionId", "must be a string") });
    }
    const live = liveSession(this.#context, request.params);
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
        const session = liveSession(this.#context, request.params);
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
      if (found === undefined) return this.loadOrResume(connection, request);
      return connection.answer(request.id, { result: withIgnored(found.result, ignored) }, found.session.feed);
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
}

/** Names what a remote session did not get (contract §2). */
function withIgnored(result: JsonObject, ignored: readonly string[]): JsonObject {
  return ignored.length === 0 ? result : withHubMeta(result, { ...hubMeta(result), ignored: [...ignored] });
}
