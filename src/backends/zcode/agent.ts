/** The agent as one object: the client's channel on one side, the app-server on the other, and the parts between. */
import { randomBytes, randomUUID } from "node:crypto";
import { ACP } from "../../protocol/acp.ts";
import { invalidParams } from "../../protocol/errors.ts";
import { type Json, type JsonObject, stringAt } from "../../protocol/json.ts";
import type { Transport } from "../../transport/transport.ts";
import { initializeResult, NO_ABILITIES, readAbilities } from "./acp/initialize.ts";
import { AcpFailure, AcpLink } from "./acp/link.ts";
import type { Clock } from "./clock.ts";
import { availableCommands } from "./commands.ts";
import { Extensions } from "./extensions.ts";
import type { Host } from "./host.ts";
import { Asks } from "./interactions/asks.ts";
import { autoAnswer } from "./interactions/auto-answers.ts";
import type { Log } from "./log.ts";
import { handlerOf, type MethodParts } from "./methods.ts";
import type { ResolvedConfig } from "./options.ts";
import type { StartChild } from "./process/child.ts";
import type { LaunchSpec } from "./process/launch.ts";
import { type LiveBackend, Supervisor } from "./process/supervisor.ts";
import { type ConfiguredProvider, loadUserConfig } from "./process/user-config.ts";
import { ZcodeError } from "./rpc/errors.ts";
import type { ZId } from "./rpc/frames.ts";
import { History } from "./sessions/history.ts";
import { Lifecycle, sessionDown } from "./sessions/lifecycle.ts";
import { SessionRegistry } from "./sessions/registry.ts";
import type { Session } from "./sessions/session.ts";
import type { SessionMap } from "./sessions/session-map.ts";
import { TIMING } from "./timing.ts";
import type { ModelEntry, Settings } from "./translate/config-options.ts";
import { entryOf, levelFor, parseModelValue } from "./translate/config-options.ts";
import { readEvent } from "./translate/event.ts";
import { Finisher } from "./turns/finish.ts";
import { FollowUps } from "./turns/follow-ups.ts";
import { ForeignWatch } from "./turns/foreign-watch.ts";
import { Prompts } from "./turns/prompts.ts";
import { Router, sortedEvents } from "./turns/router.ts";
import { Sender } from "./turns/send.ts";

export interface AgentDeps {
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
  readonly config: ResolvedConfig;
  /** ZCode's own data directory, `~/.zcode` by default. */
  readonly zcodeHome: string;
  readonly store: SessionMap;
  readonly startChild: StartChild;
  readonly version: string;
  plan(): Promise<LaunchSpec>;
  zcodeVersion(spec: LaunchSpec): Promise<string>;
  /** The client closed its side. */
  onClientGone(): void;
}

/** The model table as the user's configuration has it, until the backend gives its own. */
export function configuredModels(providers: readonly ConfiguredProvider[], pinned: string | undefined): ModelEntry[] {
  const usable = providers.filter((p) => p.isEnabled && (pinned === undefined || p.providerId === pinned));
  return usable.flatMap((provider) =>
    provider.models.map((model) => ({
      providerId: provider.providerId,
      modelId: model.modelId,
      label: model.name,
      providerLabel: provider.name,
      contextWindow: model.contextWindow,
      levels: model.levels.map((value) => ({ value, label: value })),
      defaultLevel: model.defaultLevel,
      isDisabled: false,
    })),
  );
}

/** What a session is set to before the backend has been asked. */
export function defaultSettings(config: ResolvedConfig, models: readonly ModelEntry[]): Settings {
  const model = config.model === undefined ? undefined : parseModelValue(config.model, models);
  const thought = model === undefined ? config.thought : levelFor(entryOf(models, model), config.thought);
  return { model, mode: config.mode, thought, models, levels: [] };
}

export class ZcodeAgent {
  readonly #deps: AgentDeps;
  readonly #parts: MethodParts;
  readonly #host: Host;
  readonly #router: Router;
  readonly #followUps: FollowUps;
  readonly #commandTimers = new Map<Session, (() => void)[]>();
  #abilities = NO_ABILITIES;
  #isInitialized = false;
  #isStopping = false;

  constructor(deps: AgentDeps, pinnedProvider?: string) {
    this.#deps = deps;
    const { clock, log, config } = deps;
    const link = new AcpLink(
      deps.transport,
      {
        onRequest: (method, params, signal) => this.#request(method, params, signal),
        onNotification: (method, params) => this.#notification(method, params),
        onClose: () => deps.onClientGone(),
      },
      log,
    );
    const { store } = deps;
    const providers = (): readonly ConfiguredProvider[] => loadUserConfig(deps.zcodeHome);
    const sessions: SessionRegistry = new SessionRegistry(
      store,
      {
        send: (sessionId, update) => link.notify(ACP.sessionUpdate, { sessionId, update }),
        hasTerminal: () => this.#abilities.hasTerminal,
        hex12: () => randomBytes(6).toString("hex"),
        now: () => clock.now(),
        cancelTurn: (session) => this.#parts.prompts.cancelSession(session),
        planApproved: (session) => this.#planApproved(session),
      },
      () => ({
        ...defaultSettings(config, configuredModels(providers(), pinnedProvider)),
        ...(pinnedProvider === undefined ? {} : { pinnedProvider }),
      }),
    );
    const asks = new Asks({
      clock,
      log,
      link,
      timeoutMs: config.interactionTimeoutMs,
      hasForms: () => this.#abilities.hasForms,
      sessionOf: (zcodeSid) => sessions.byZcode(zcodeSid),
    });
    const supervisor = new Supervisor({
      clock,
      log,
      startChild: deps.startChild,
      plan: () => deps.plan(),
      version: (spec) => deps.zcodeVersion(spec),
      handlers: {
        onNotification: (method, params) => this.#backendNotification(method, params),
        onRequest: (id, method, params) => this.#backendRequest(id, method, params, providers),
      },
      onDown: (generation, error) => this.#down(generation, error),
      onUp: (live) => this.#up(live),
    });
    this.#host = {
      clock,
      log,
      config,
      supervisor,
      link,
      asks,
      store,
      sessions,
      newId: () => randomUUID(),
      providers,
      feed: (session, events) => this.#feed(session, events),
      announceCommands: (session) => this.#announceCommands(session),
    };
    const lifecycle = new Lifecycle(this.#host);
    const followUps = new FollowUps(this.#host, lifecycle);
    this.#followUps = followUps;
    this.#router = new Router(this.#host, followUps, new ForeignWatch(this.#host, lifecycle));
    const sender = new Sender(this.#host, lifecycle);
    const finisher = new Finisher(this.#host, lifecycle, followUps);
    this.#parts = {
      host: this.#host,
      lifecycle,
      prompts: new Prompts(this.#host, { lifecycle, router: this.#router, sender, finisher }),
      history: new History(this.#host, lifecycle),
      extensions: new Extensions(this.#host, lifecycle),
    };
    link.start();
  }

  /** Ends everything: open cards are closed, questions declined, the app-server stopped. */
  async stop(): Promise<void> {
    if (this.#isStopping) return;
    this.#isStopping = true;
    this.#host.asks.close();
    const gone = new ZcodeError("dead", "The bridge is closing");
    for (const session of this.#host.sessions.all) {
      sessionDown(this.#host, session, gone);
      for (const cancel of this.#commandTimers.get(session) ?? []) cancel();
    }
    this.#commandTimers.clear();
    await this.#host.supervisor.stop();
    this.#host.link.close();
  }

  #request(method: string, params: JsonObject, signal: AbortSignal): Promise<Json> | undefined {
    if (method === ACP.initialize) return this.#initialize(params);
    const handler = handlerOf(method);
    if (handler === undefined) return undefined;
    if (!this.#isInitialized)
      return Promise.reject(new AcpFailure({ code: -32600, message: "initialize comes first" }));
    return handler(this.#parts, params, signal);
  }

  /** A second initialize declares the client anew: what the merged clients can show changes as they come and go. */
  #initialize(params: JsonObject): Promise<Json> {
    if (typeof params["protocolVersion"] !== "number") {
      return Promise.reject(new AcpFailure(invalidParams("protocolVersion", "must be a number")));
    }
    this.#isInitialized = true;
    this.#abilities = readAbilities(params);
    return Promise.resolve(initializeResult(this.#deps.version));
  }

  #notification(method: string, params: JsonObject): void {
    const session =
      method === ACP.sessionCancel ? this.#host.sessions.byAlias(stringAt(params, "sessionId") ?? "") : undefined;
    if (session !== undefined) this.#parts.prompts.cancelSession(session);
  }

  #backendNotification(method: string, params: JsonObject): void {
    if (method === "session/event") {
      const event = readEvent(params);
      const session = event === undefined ? undefined : this.#host.sessions.byZcode(event.sessionId);
      if (event !== undefined && session !== undefined) this.#router.onEvent(session, event);
    } else if (method === "state.updated") {
      const session = this.#host.sessions.byZcode(stringAt(params, "sessionId") ?? "");
      if (session !== undefined) this.#router.onState(session, params);
    }
  }

  #backendRequest(id: ZId, method: string, params: JsonObject, providers: () => readonly ConfiguredProvider[]): void {
    const connection = this.#host.supervisor.connection;
    if (connection === undefined) return;
    const { nativeSearch, memory } = this.#deps.config;
    const auto = autoAnswer(method, params, { nativeSearch, memory, providers });
    if (auto === undefined) {
      const session = this.#host.sessions.byZcode(stringAt(params, "sessionId") ?? "");
      // A sub-agent's question names a turn of its own, which nothing else here knows.
      if (session !== undefined && params["origin"] === undefined)
        this.#router.onQuestion(session, stringAt(params, "turnId"));
      return this.#host.asks.receive(connection, id, method, params);
    }
    if ("result" in auto) connection.answer(id, auto.result);
    else connection.answerError(id, auto.error.code, auto.error.message);
  }

  #feed(session: Session, events: readonly unknown[]): void {
    for (const raw of sortedEvents(events)) {
      const event = readEvent({ sessionId: session.zcodeSid, ...raw });
      if (event !== undefined) this.#router.onEvent(session, event);
    }
  }

  #down(generation: number, error: ZcodeError): void {
    this.#host.asks.connectionDown();
    for (const session of this.#host.sessions.all) {
      if (session.generation === generation) {
        session.wasLive = true;
        sessionDown(this.#host, session, error);
      }
    }
  }

  /** A new backend runs: sessions that were live in the last one are brought back, one after the other. */
  #up(live: LiveBackend): void {
    const lost = this.#host.sessions.all.filter((session) => session.wasLive && session.generation !== live.generation);
    void (async () => {
      for (const session of lost) {
        session.wasLive = false;
        if (session.isClosed || session.aliases.size === 0) continue;
        await this.#parts.lifecycle.ensureLive(session).catch(() => this.#deps.log("warn", "session not brought back"));
      }
    })();
  }

  #planApproved(session: Session): void {
    this.#deps.clock.setTimeout(() => {
      this.#followUps.sync(session, false).catch(() => this.#deps.log("debug", "mode not read after the plan"));
    }, TIMING.modeAfterPlanMs);
  }

  #announceCommands(session: Session): void {
    for (const cancel of this.#commandTimers.get(session) ?? []) cancel();
    const without = new Set(session.isSteerGone ? ["steer"] : []);
    const tell = (): void => {
      if (this.#isStopping || session.isClosed) return;
      session.emit([
        {
          sessionUpdate: "available_commands_update",
          availableCommands: availableCommands(session.slashCommands, without),
        },
      ]);
    };
    this.#commandTimers.set(
      session,
      TIMING.commandsAtMs.map((ms) => this.#deps.clock.setTimeout(tell, ms)),
    );
  }
}
