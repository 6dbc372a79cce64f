/** A client's initialize: what it is told, and its wait for an agent that has not been initialized by its editor yet (I1, I2, I5). */
import { ACP, ACP_VERSION } from "../../protocol/acp.ts";
import type { RpcError } from "../../protocol/envelope.ts";
import { hubError, invalidParams, RPC } from "../../protocol/errors.ts";
import { FEATURES, HUB } from "../../protocol/hub-methods.ts";
import { type JsonObject, objectAt } from "../../protocol/json.ts";
import { HUB_META } from "../../protocol/meta.ts";
import { withoutTerminalLogin } from "../audience.ts";
import type { ClientRequest, Connection } from "./connection.ts";
import type { MirrorContext } from "./context.ts";
import { LOAD_EARLIER } from "./dialect.ts";
import { checkMethod } from "./gate.ts";

/** A request that came before the agent was ready. */
interface Early {
  readonly request: ClientRequest;
  readonly go: () => void;
}

/** What the hub's own record may answer, where no agent ever comes (S1 d). */
const READING: ReadonlySet<string> = new Set([ACP.sessionLoad, ACP.sessionResume, HUB.loadEarlier, LOAD_EARLIER]);

export class Initializing<Encoded> {
  readonly #context: MirrorContext<Encoded>;
  /** It has said what it can, and has its answer. */
  readonly #onDeclared: (connection: Connection<Encoded>) => void;
  /** Those that came before the agent was ready. */
  readonly #early = new Map<Connection<Encoded>, Early[]>();

  constructor(context: MirrorContext<Encoded>, onDeclared: (connection: Connection<Encoded>) => void) {
    this.#context = context;
    this.#onDeclared = onDeclared;
  }

  onRequest(connection: Connection<Encoded>, request: ClientRequest): void {
    const refusal = checkMethod(connection.scopes, request.method);
    if (refusal !== undefined) return connection.answer(request.id, { error: refusal });
    if (typeof request.params["protocolVersion"] !== "number") {
      return connection.answer(request.id, { error: invalidParams("protocolVersion", "must be a number") });
    }
    const go = (): void => this.#complete(connection, request);
    return this.defers(connection, request, go) ? undefined : go();
  }

  /**
   * True when `go` waits for the agent: a client of the whole hub, which the hub itself has initialized, asks nothing of an agent
   * that has not been either.
   */
  defers(connection: Connection<Encoded>, request: ClientRequest, go: () => void): boolean {
    if (this.#context.agentInfo !== undefined) return false;
    const waiting = this.#early.get(connection);
    if (waiting !== undefined) waiting.push({ request, go });
    else {
      this.#early.set(connection, [{ request, go }]);
      this.#context.ports.startTimer(timerOf(connection), this.#context.options.initializeMs);
    }
    return true;
  }

  onAgentReady(): void {
    const early = [...this.#early];
    this.#early.clear();
    for (const [connection, waiting] of early) {
      this.#context.ports.cancelTimer(timerOf(connection));
      for (const { go } of waiting) go();
    }
  }

  /** There will be no agent: all that wait are told. */
  refuseAll(error: RpcError): void {
    for (const connection of [...this.#early.keys()]) this.#refuse(connection, error);
  }

  onTimer(name: string): void {
    for (const connection of [...this.#early.keys()])
      if (name === timerOf(connection)) this.#refuse(connection, NOT_READY);
  }

  onGone(connection: Connection<Encoded>): void {
    this.#early.delete(connection);
    this.#context.ports.cancelTimer(timerOf(connection));
  }

  #refuse(connection: Connection<Encoded>, error: RpcError): void {
    const waiting = this.#early.get(connection) ?? [];
    this.#early.delete(connection);
    this.#context.ports.cancelTimer(timerOf(connection));
    for (const { request } of waiting) {
      const isRead = READING.has(request.method) && this.#context.history?.serve(connection, request) === true;
      if (!isRead) connection.answer(request.id, { error });
    }
  }

  #complete(connection: Connection<Encoded>, request: ClientRequest): void {
    connection.declare(request.params);
    connection.answer(request.id, { result: this.#result(connection) });
    this.#onDeclared(connection);
  }

  /** The agent's own result, and what the hub adds. */
  #result(connection: Connection<Encoded>): JsonObject {
    const { agentInfo, options } = this.#context;
    const agent = withoutTerminalLogin(agentInfo ?? {}, connection.abilities.hasTerminalLogin);
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
          version: options.hubVersion,
          connectionId: connection.id,
          instance: options.instanceId,
          scopes: [...connection.scopes],
          device: { id: connection.device, name: connection.name },
          features: [...FEATURES],
          pingMs: options.pingMs,
          ...(connection.frameBytesMax !== undefined && { frameBytesMax: connection.frameBytesMax }),
        },
      },
    };
  }
}

const NOT_READY = hubError(
  RPC.internalError,
  "agent-not-ready",
  "The agent has not been initialized by its editor yet: try again",
);

const timerOf = <E>(connection: Connection<E>): string => `init:${connection.id}`;
