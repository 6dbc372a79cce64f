/**
 * Hub-wide connections (contract §4): the hub is the agent; the sessions of all instances are listed and routed by id. Everything
 * a session needs is its instance's mirror's business; here it is only found out whose.
 *
 * W1 An attachment stays with the instance it was made on (S9).
 * W2 A bare id that fits several instances is refused with the candidates, never guessed (S9).
 */
import { withoutTerminalLogin } from "../core/audience.ts";
import { IN_FLIGHT_MAX, oversizeOf } from "../core/mirror/admission.ts";
import type { ClientRequest, Connection } from "../core/mirror/connection.ts";
import { LOAD_EARLIER } from "../core/mirror/dialect.ts";
import { checkMethod } from "../core/mirror/gate.ts";
import { ACP, ACP_VERSION } from "../protocol/acp.ts";
import { type Frame, failure, idKey, paramsOf, type RpcError } from "../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../protocol/errors.ts";
import { FEATURES, HUB } from "../protocol/hub-methods.ts";
import { isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META, hubMeta, withHubMeta } from "../protocol/meta.ts";
import type { Route } from "./client-socket.ts";
import type { History } from "./history.ts";
import { listEverywhere } from "./hub-wide-list.ts";
import { isSameAt, type WideInstance } from "./same-session.ts";

export interface WideInstances {
  list(): readonly WideInstance[];
  get(id: string): WideInstance | undefined;
}

interface WideState {
  /** Where sessions were attached, by session id (W1). */
  readonly homes: Map<string, WideInstance>;
  /** Which instance a request went to, for its cancel and its result. */
  readonly requests: Map<string, WideInstance>;
}

/** Results that say which agent they come from. */
const OPENING: ReadonlySet<string> = new Set([ACP.sessionNew, ACP.sessionLoad, ACP.sessionResume, ACP.sessionFork]);

/** What needs no agent where the hub kept the session (S1 d). */
const READING: ReadonlySet<string> = new Set([ACP.sessionLoad, ACP.sessionResume, HUB.loadEarlier, LOAD_EARLIER]);

type Choice = { readonly instance: WideInstance } | { readonly error: RpcError };

export class HubWide implements Route {
  readonly #registry: WideInstances;
  readonly #version: string;
  readonly #now: () => number;
  readonly #pingMs: number;
  readonly #history: History | undefined;
  readonly #onLateAnswer: (connection: Connection<Buffer>) => void;
  readonly #connections = new Map<Connection<Buffer>, WideState>();

  constructor(
    registry: WideInstances,
    version: string,
    history: History | undefined,
    now: () => number,
    pingMs: number,
    onLateAnswer: (connection: Connection<Buffer>) => void = () => undefined,
  ) {
    this.#onLateAnswer = onLateAnswer;
    this.#pingMs = pingMs;
    this.#history = history;
    this.#registry = registry;
    this.#version = version;
    this.#now = now;
  }

  add(connection: Connection<Buffer>): void {
    connection.isHubWide = true;
    const state: WideState = { homes: new Map(), requests: new Map() };
    this.#connections.set(connection, state);
    connection.decorateResult = (request, result) => this.#decorate(connection, state, request, result);
    connection.onAttached = (sessionId, instance) => this.#onAttached(connection, state, sessionId, instance);
    if (connection.pinnedSession === undefined) return;
    const [home] = this.#holding(connection.pinnedSession);
    if (home !== undefined) state.homes.set(connection.pinnedSession, home);
  }

  remove(connection: Connection<Buffer>): void {
    this.#connections.delete(connection);
    for (const instance of this.#registry.list()) instance.mirror.remove(connection);
  }

  /** An instance came: it is in scope of every hub-wide connection. */
  onInstanceAdded(instance: WideInstance): void {
    for (const connection of this.#connections.keys()) if (connection.isInitialized) instance.mirror.add(connection);
  }

  /** It went: its sessions have no home any more. */
  onInstanceRemoved(instance: WideInstance): void {
    for (const state of this.#connections.values()) {
      for (const [id, home] of state.homes) if (home === instance) state.homes.delete(id);
    }
  }

  onFrame(connection: Connection<Buffer>, frame: Frame): void {
    const state = this.#connections.get(connection);
    if (state === undefined) return;
    if (frame.kind === "response") {
      const handler = typeof frame.msg.id === "number" ? connection.asked.get(frame.msg.id) : undefined;
      // X4: JSON-RPC has no answer to an answer.
      if (handler === undefined) this.#onLateAnswer(connection);
      else handler(frame.msg, this.#now());
    } else if (frame.kind === "request") this.#onRequest(connection, state, frame);
    else if (connection.isInitialized) this.#onNotification(connection, state, frame);
  }

  #onRequest(connection: Connection<Buffer>, state: WideState, frame: Frame & { kind: "request" }): void {
    const { id, method } = frame.msg;
    const request: ClientRequest = { id, method, params: paramsOf(frame.msg) ?? {} };
    const oversize = oversizeOf(frame);
    if (oversize !== undefined) return connection.outbox.send(JSON.stringify(failure(id, oversize)));
    if (!connection.isInitialized && method !== ACP.initialize) {
      const error = hubError(RPC.invalidRequest, "not-initialized", "initialize has to come first");
      return connection.outbox.send(JSON.stringify(failure(id, error)));
    }
    if (method === ACP.initialize)
      return this.#locally(connection, request, () => this.#initialize(connection, request));
    if (method === ACP.sessionList) {
      return this.#locally(connection, request, () => {
        const refusal = checkMethod(connection.scopes, method);
        if (refusal !== undefined) return connection.answer(id, { error: refusal });
        return listEverywhere(this.#registry.list(), connection, request.params, (body) => connection.answer(id, body));
      });
    }
    const choice = this.#choose(connection, state, request);
    if ("error" in choice && READING.has(method) && this.#history !== undefined) {
      return this.#locally(connection, request, () => {
        const refusal = checkMethod(connection.scopes, method);
        if (refusal !== undefined) return connection.answer(id, { error: refusal });
        // No instance has it: what is on disk can still be read (S1 d).
        if (this.#history?.serve(connection, request) !== true) connection.answer(id, { error: choice.error });
      });
    }
    if ("error" in choice)
      return this.#locally(connection, request, () => connection.answer(id, { error: choice.error }));
    state.requests.set(idKey(id), choice.instance);
    return choice.instance.mirror.onClient(connection, frame, this.#now());
  }

  #onNotification(connection: Connection<Buffer>, state: WideState, frame: Frame & { kind: "notification" }): void {
    const params = paramsOf(frame.msg) ?? {};
    const named = params["requestId"];
    if (frame.msg.method === ACP.cancelRequest) {
      if (typeof named !== "string" && typeof named !== "number" && named !== null) return;
      state.requests.get(idKey(named))?.mirror.onClient(connection, frame, this.#now());
      return;
    }
    const choice = this.#choose(connection, state, { id: null, method: frame.msg.method, params });
    if ("instance" in choice) choice.instance.mirror.onClient(connection, frame, this.#now());
  }

  /** Answers a request here, under the same rules for ids as everywhere (P5). */
  #locally(connection: Connection<Buffer>, request: ClientRequest, then: () => void): void {
    if (connection.inFlight.size >= IN_FLIGHT_MAX) {
      const full = hubError(RPC.internalError, "too-many-requests", `${IN_FLIGHT_MAX} requests wait already`);
      return connection.outbox.send(JSON.stringify(failure(request.id, full)));
    }
    if (connection.inFlight.add(request.id, request)) return then();
    const error = hubError(RPC.invalidRequest, "duplicate-request-id", "A request with this id is in flight");
    return connection.outbox.send(JSON.stringify(failure(request.id, error)));
  }

  #initialize(connection: Connection<Buffer>, request: ClientRequest): void {
    if (typeof request.params["protocolVersion"] !== "number") {
      return connection.answer(request.id, { error: invalidParams("protocolVersion", "must be a number") });
    }
    connection.declare(request.params);
    connection.answer(request.id, { result: this.#hubInfo(connection) });
    // One that says it again stays where it is attached (I1).
    for (const instance of this.#registry.list()) instance.mirror.add(connection);
    return undefined;
  }

  /** The hub's own info: it is the agent here. */
  #hubInfo(connection: Connection<Buffer>): JsonObject {
    return {
      protocolVersion: ACP_VERSION,
      agentInfo: { name: "acp-hub", title: "acp-hub", version: this.#version },
      agentCapabilities: {
        loadSession: true,
        promptCapabilities: { image: true, embeddedContext: true },
        sessionCapabilities: { list: {}, resume: {}, close: {} },
      },
      authMethods: [],
      _meta: {
        [HUB_META]: {
          version: this.#version,
          connectionId: connection.id,
          scopes: [...connection.scopes],
          device: { id: connection.device, name: connection.name },
          features: [...FEATURES],
          pingMs: this.#pingMs,
          ...(connection.frameBytesMax !== undefined && { frameBytesMax: connection.frameBytesMax }),
        },
      },
    };
  }

  #holding(sessionId: string): WideInstance[] {
    const holding = this.#registry.list().filter((instance) => instance.mirror.holdsSession(sessionId));
    // The one active last first (S9).
    const lastActive = ({ mirror }: WideInstance): number => mirror.session(sessionId)?.updatedAt ?? 0;
    return holding.sort((a, b) => lastActive(b) - lastActive(a));
  }

  #choose(connection: Connection<Buffer>, state: WideState, request: ClientRequest): Choice {
    const named = stringAt(hubMeta(request.params), "instance");
    if (named !== undefined) {
      const instance = this.#registry.get(named);
      if (instance !== undefined) return { instance };
      return { error: hubError(RPC.invalidParams, "instance-gone", "There is no such instance", { instance: named }) };
    }
    const isAdopting = request.method === ACP.sessionNew && connection.pinnedSession !== undefined;
    const sessionId = isAdopting ? connection.pinnedSession : stringAt(request.params, "sessionId");
    const home = sessionId === undefined ? undefined : state.homes.get(sessionId);
    if (home !== undefined) return { instance: home };
    const candidates = sessionId === undefined ? [] : this.#holding(sessionId);
    const [only, another] = candidates;
    if (only !== undefined && another === undefined) return { instance: only };
    if (another !== undefined) {
      const ids = candidates.map((candidate) => candidate.id);
      return {
        error: hubError(RPC.invalidParams, "ambiguous-session", "Several instances have this session: name one", {
          candidates: ids,
        }),
      };
    }
    const choice = this.#onlyInstance();
    if (!("error" in choice) || sessionId === undefined || this.#history?.holds(sessionId) !== true) return choice;
    return {
      error: hubError(RPC.readOnly, "session-not-live", "No running agent has this session: it can only be read"),
    };
  }

  #onlyInstance(): Choice {
    const all = this.#registry.list();
    const [instance] = all;
    if (instance !== undefined && all.length === 1) return { instance };
    const candidates = all.map((each) => ({ id: each.id, name: each.hello.name, workspace: each.hello.workspace }));
    const message = all.length === 0 ? "No agent is running" : 'Name the instance in _meta["acp-hub"].instance';
    return { error: hubError(RPC.invalidParams, "instance-required", message, { candidates }) };
  }

  /** W1. Once it attached somewhere it watches nothing else (B1). */
  #onAttached(connection: Connection<Buffer>, state: WideState, sessionId: string, id: string): void {
    const instance = this.#registry.get(id);
    if (instance === undefined) return;
    const before = state.homes.get(sessionId);
    state.homes.set(sessionId, instance);
    if (before !== undefined && before !== instance && isSameAt(before, instance, sessionId))
      before.mirror.supersede(connection, sessionId);
    if (connection.abilities.wantsAll) return;
    for (const other of this.#registry.list()) if (other !== instance) other.mirror.stopWatching(connection);
  }

  #decorate(connection: Connection<Buffer>, state: WideState, request: ClientRequest, result: Json): Json {
    const instance = state.requests.get(idKey(request.id));
    state.requests.delete(idKey(request.id));
    if (instance === undefined || !OPENING.has(request.method) || !isObject(result)) return result;
    const info = withoutTerminalLogin(instance.mirror.agentInfo ?? {}, connection.abilities.hasTerminalLogin);
    const agent: JsonObject = {
      instance: instance.id,
      agentInfo: objectAt(info, "agentInfo") ?? null,
      agentCapabilities: objectAt(info, "agentCapabilities") ?? {},
      authMethods: info["authMethods"] ?? [],
    };
    return withHubMeta(result, { ...hubMeta(result), agent });
  }
}
