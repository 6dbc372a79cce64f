/**
 * The hub daemon, put together in steps: instances, HTTP with its upgrades, the link. Stopping is the reverse, with a budget
 * (design §2). Everything it holds beyond memory comes in through the ports.
 */
import { chmod, rename, unlink, writeFile } from "node:fs/promises";
import type { IncomingMessage, Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Limits } from "../config/config.ts";
import type { Paths } from "../config/paths.ts";
import type { ParamsFilter } from "../core/mirror/gate.ts";
import type { MirrorObservation } from "../core/mirror/ports.ts";
import { CLOSE } from "../protocol/close-codes.ts";
import type { BridgeLimits } from "../protocol/link.ts";
import type { Requirement, Scope } from "../protocol/scopes.ts";
import type { Store } from "../store/ports.ts";
import { type Scheduler, systemScheduler } from "../store/scheduler.ts";
import { Branches } from "./branches.ts";
import type { Route } from "./client-socket.ts";
import { type Edge, type EdgeConfig, makeEdge } from "./edge.ts";
import { EventStreams } from "./event-streams.ts";
import { HubEvents } from "./events.ts";
import { History } from "./history.ts";
import { type AppPorts, buildApp, type Routes } from "./http/app.ts";
import { eventRoutes } from "./http/event-routes.ts";
import { healthRoutes } from "./http/health-routes.ts";
import { historyRoutes } from "./http/history-routes.ts";
import { instanceRoutes } from "./http/instance-routes.ts";
import { interactionRoutes } from "./http/interaction-routes.ts";
import { metricsRoute } from "./http/metrics-route.ts";
import { HubWide } from "./hub-wide.ts";
import type { Instance } from "./instance.ts";
import { LinkServer } from "./link-server.ts";
import type { HubLog } from "./log.ts";
import { HubMetrics } from "./metrics.ts";
import { owner, type Principal } from "./principal.ts";
import { isAlive } from "./process-alive.ts";
import { InstanceRecord } from "./record.ts";
import { Registry } from "./registry.ts";
import { Rights } from "./rights.ts";
import { SearchTurns } from "./search-turns.ts";
import { Sockets } from "./sockets.ts";
import { type RouteChoice, type UpgradeRefusal, Upgrades } from "./upgrade.ts";

/** Credentials as the hub sees them; `src/auth` behind it. */
export interface HubAuth {
  authenticateHttp(request: FastifyRequest): Promise<Principal | UpgradeRefusal>;
  authenticateUpgrade(request: IncomingMessage, url: URL): Promise<Principal | UpgradeRefusal>;
  /** Calls back when a device is revoked. */
  onRevoked(listener: (deviceId: string) => void): () => void;
  /** Calls back when a device's rights have become others. */
  onScopesChanged(listener: (deviceId: string, scopes: ReadonlySet<Scope>) => void): () => void;
  /** Takes the predecessor's shared token, if it is strong enough (contract §1). */
  adoptRemoteToken(token: string): void;
}

export interface HubOptions {
  readonly paths: Paths;
  readonly version: string;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly limits: Limits;
  /** `interactions.timeoutMs`. */
  readonly interactionTimeoutMs?: number | undefined;
  readonly edge: Omit<EdgeConfig, "host" | "port" | "isTls">;
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  /** `http.compression`; not when left out. */
  readonly compresses?: boolean;
  readonly auth: HubAuth;
  readonly log: HubLog;
  /** Sessions, journal, interactions, audit on disk; undefined: in memory only. */
  readonly store?: Store | undefined;
  /** Made once per instance: its workspace is among what its remote sessions may have (`paramsFilters`). */
  readonly paramsFilter: (instance: Instance) => ParamsFilter;
  /** What a bridge of this version is told in its welcome (ADR 7). */
  readonly featuresFor?: (bridgeVersion: string) => readonly string[];
  /** Default: the real time. */
  readonly scheduler?: Scheduler | undefined;
  /** Further routes of features that live in files of their own. */
  readonly routes: (hub: Hub) => readonly Routes[];
}

/** What it sets for the bridges on it. */
const bridgeLimits = ({ limits, interactionTimeoutMs }: HubOptions): BridgeLimits => ({
  agentLineBytes: limits.agentLineBytes,
  lanePromptsMax: limits.lanePromptsMax,
  ...(interactionTimeoutMs !== undefined && { interactionTimeoutMs }),
});

/** After a start, how long an unknown instance may still be on its way back (L5). */
const STARTING_MS = 3000;
const DRAIN_MS = 3000;

export class Hub {
  readonly options: HubOptions;
  readonly events: HubEvents = new HubEvents();
  readonly sockets: Sockets;
  readonly streams: EventStreams;
  readonly registry: Registry;
  readonly history: History | undefined;
  /** Told of everything the mirrors observe: pushes, metrics of features. */
  readonly observers: Set<(instance: Instance, observation: MirrorObservation) => void> = new Set();
  readonly metrics: HubMetrics = new HubMetrics();
  readonly branches: Branches;
  readonly #scheduler: Scheduler;
  /** Epoch milliseconds, for people. */
  readonly startedAt: number;
  /** The same moment on the clock that only grows, for what is measured. */
  readonly #startedTick: number;
  readonly #searches: SearchTurns;
  readonly #links: LinkServer;
  readonly #wide: HubWide;
  #apps: FastifyInstance[] = [];
  readonly #routesOnNetwork = new Map<string, Requirement | undefined>();
  #isReady = false;
  #stopWatching: () => void = () => undefined;

  constructor(options: HubOptions) {
    this.options = options;
    this.#scheduler = options.scheduler ?? systemScheduler;
    this.startedAt = this.#scheduler.now();
    this.#startedTick = this.#scheduler.monotonic();
    this.sockets = new Sockets(options.limits, this.#scheduler);
    this.streams = new EventStreams(options.limits);
    this.#searches = new SearchTurns(this.sockets.turns);
    this.history = options.store === undefined ? undefined : new History(options.store);
    this.registry = new Registry(
      {
        closeConnection: (connection, code) => this.sockets.close(connection, code),
        observe: (instance, observation) => this.#observe(instance, observation),
        paramsFilter: options.paramsFilter,
        hubVersion: options.version,
        limits: options.limits,
        history: this.history,
        recordOf: (hello) => (options.store === undefined ? undefined : new InstanceRecord(options.store, hello)),
      },
      {
        onAdded: (instance) => {
          this.#wide.onInstanceAdded(instance);
          this.#onInstance("instance-added", instance);
        },
        onChanged: (instance) => this.#onInstance("instance-changed", instance),
        onRemoteToken: (token) => options.auth.adoptRemoteToken(token),
        onRemoved: (instance) => {
          this.#wide.onInstanceRemoved(instance);
          for (const connection of instance.bound) this.sockets.close(connection, CLOSE.instanceGone);
          this.#onInstance("instance-removed", instance);
        },
      },
      { scheduler: this.#scheduler, isAlive },
    );
    this.#wide = new HubWide(
      this.registry,
      options.version,
      this.history,
      () => this.#scheduler.now(),
      options.limits.pingMs,
      ({ id }) => {
        const late = { kind: "late-answer", connectionId: id } as const;
        this.metrics.onObservation(late);
        options.log.info(late, "hub-wide");
      },
    );
    this.branches = new Branches(this.#scheduler, (directory) => this.#onBranch(directory));
    this.metrics.watch(this);
    this.#links = new LinkServer(
      options.paths.linkSocket,
      {
        hubVersion: options.version,
        featuresFor: options.featuresFor ?? (() => []),
        limits: bridgeLimits(options),
      },
      this.registry,
    );
  }

  get isStarting(): boolean {
    return this.#scheduler.monotonic() - this.#startedTick < STARTING_MS;
  }

  /** Every route on the network (`GET /api/instances`) and what it needs; undefined: nothing. */
  get routesOnNetwork(): ReadonlyMap<string, Requirement | undefined> {
    return this.#routesOnNetwork;
  }

  /** Listens everywhere. Resolves to the network port; rejects with EADDRINUSE when it is taken. */
  async start(): Promise<number> {
    const { paths, host, port, auth, log } = this.options;
    const rights = new Rights(this.sockets, this.registry, this.streams);
    const stops = [
      auth.onRevoked((deviceId) => {
        rights.onRevoked(deviceId);
        this.events.emit({ kind: "devices-changed" });
      }),
      auth.onScopesChanged((deviceId, scopes) => {
        rights.onChanged(deviceId, scopes);
        this.events.emit({ kind: "devices-changed" });
      }),
    ];
    this.#stopWatching = () => {
      for (const stop of stops) stop();
    };
    const edge = makeEdge({ ...this.options.edge, host, port, isTls: this.options.tls !== undefined });
    const network = this.#buildApp(edge, false);
    // Sockets, and as many requests beside them: whoever dials without end must not take the files that bridges need.
    network.server.maxConnections = 2 * this.options.limits.connectionsMax;
    await network.listen({ host, port });
    const bound = (network.server.address() as AddressInfo).port;
    this.#attachUpgrades(network.server, edge, false);
    const local = this.#buildApp(edge, true);
    this.#attachUpgrades(local.server, edge, true);
    await unlink(paths.apiSocket).catch(() => undefined);
    await local.listen({ path: paths.apiSocket });
    await chmod(paths.apiSocket, 0o600);
    await this.#links.listen();
    await this.#writeInfo(bound);
    this.#isReady = true;
    log.info({ host, port: bound }, "hub listening");
    return bound;
  }

  /** Ends within a few seconds: clients are told to come back, agents are not touched. */
  async stop(): Promise<void> {
    this.#isReady = false;
    this.#stopWatching();
    await unlink(this.options.paths.hubInfo).catch(() => undefined);
    await this.sockets.drain(DRAIN_MS);
    await this.#links.close();
    await Promise.all(this.#apps.map((app) => app.close()));
    this.registry.dispose();
    await unlink(this.options.paths.apiSocket).catch(() => undefined);
  }

  #buildApp(edge: Edge, isLocal: boolean): FastifyInstance {
    const { auth, log, basePath, tls } = this.options;
    const ports: AppPorts = {
      edge,
      basePath: isLocal ? "" : basePath,
      authenticate: (request) => auth.authenticateHttp(request),
      onRefused: (status, { route, address, requestId }) => {
        this.metrics.onRefused(status);
        log.info({ status, route, address, requestId }, "request refused");
      },
      onError: (error, { route, requestId }) => log.error({ err: error, route, requestId }, "request failed"),
      onRoute: (route, needs) => {
        if (!isLocal) this.#routesOnNetwork.set(route, needs);
      },
    };
    const routes: Routes[] = [
      healthRoutes(() => this.#isReady),
      instanceRoutes({
        registry: this.registry,
        events: this.events,
        branches: this.branches,
        isStarting: () => this.isStarting,
      }),
      interactionRoutes(this.registry, this.events),
      metricsRoute(this.metrics),
      eventRoutes(this.events, this.streams),
      ...this.#historyRoutes(),
      ...this.options.routes(this),
    ];
    const app = buildApp(
      ports,
      { isLocal, bodyBytes: this.options.limits.bodyBytes, tls: isLocal ? undefined : tls },
      routes,
    );
    this.#apps.push(app);
    return app;
  }

  #historyRoutes(): Routes[] {
    const { store } = this.options;
    return store === undefined || this.history === undefined
      ? []
      : [historyRoutes(store, this.history, this.#searches)];
  }

  #attachUpgrades(server: Server, edge: Edge, isLocal: boolean): void {
    const { auth, log, basePath } = this.options;
    const upgrades = new Upgrades({
      edge,
      sockets: this.sockets,
      basePath: isLocal ? "" : basePath,
      isLocal,
      // The local socket is no slow link.
      compresses: !isLocal && this.options.compresses === true,
      limits: this.options.limits,
      monotonic: () => this.#scheduler.monotonic(),
      authenticate: (request, url) => (isLocal ? Promise.resolve(owner) : auth.authenticateUpgrade(request, url)),
      route: (url) => this.#route(url),
      onRefused: (refusal, address) => {
        this.metrics.onRefused(refusal.status);
        log.info({ status: refusal.status, address }, "upgrade refused");
      },
      onClosed: (code) => this.metrics.onClosed(code),
    });
    server.on("upgrade", (request, socket, head) => upgrades.onUpgrade(request, socket, head));
  }

  #route(url: URL): RouteChoice {
    const id = url.searchParams.get("instance");
    if (id === null) return { route: this.#wide };
    const instance = this.registry.get(id);
    if (instance !== undefined) return { route: this.#boundRoute(instance) };
    if (this.isStarting) return { status: 503, detail: "The instance may be on its way back", retryAfterSeconds: 1 };
    return { status: 404, detail: "No such instance" };
  }

  #boundRoute(instance: Instance): Route {
    const changed = (): void => this.events.emit({ kind: "instance-changed", instanceId: instance.id });
    return {
      add: (connection) => {
        instance.bound.add(connection.id);
        instance.mirror.add(connection);
        changed();
      },
      onFrame: (connection, frame) => instance.mirror.onClient(connection, frame, Date.now()),
      remove: (connection) => {
        instance.bound.delete(connection.id);
        instance.mirror.remove(connection);
        changed();
      },
    };
  }

  #onInstance(kind: "instance-added" | "instance-changed" | "instance-removed", instance: Instance): void {
    const { origin, pid } = instance.hello;
    this.options.log.info({ instanceId: instance.id, origin, pid, state: instance.state }, kind);
    this.events.emit({ kind, instanceId: instance.id });
  }

  #observe(instance: Instance, observation: MirrorObservation): void {
    const instanceId = instance.id;
    this.metrics.onObservation(observation);
    for (const observer of this.observers) observer(instance, observation);
    if (observation.kind === "interactions-changed") {
      for (const view of instance.mirror.openInteractions()) this.metrics.onOpened(view.interactionId, view.openedAt);
    }
    if (observation.kind === "sessions-changed") {
      for (const { info } of instance.mirror.sessions) if (info.listed) this.branches.look(info.cwd);
    }
    if (observation.kind === "sessions-changed" || observation.kind === "interactions-changed") {
      this.events.emit({ kind: observation.kind, instanceId });
    } else if (observation.kind === "settled") {
      const { interactionId, outcome, by } = observation.notice;
      instance.record?.onSettled(observation.notice);
      this.options.log.info(
        { instanceId, interactionId, action: outcome.action, device: by.device },
        "interaction settled",
      );
    } else this.options.log.info({ instanceId, ...observation }, "mirror");
  }

  #onBranch(directory: string): void {
    for (const instance of this.registry.list()) {
      const isThere = [...instance.mirror.sessions].some(({ info }) => info.listed && info.cwd === directory);
      if (isThere) this.events.emit({ kind: "sessions-changed", instanceId: instance.id });
    }
  }

  /** `hub.json` appears whole or not at all: bridges and the CLI watch it. */
  async #writeInfo(port: number): Promise<void> {
    const { paths, host, version, basePath, tls } = this.options;
    const info = {
      pid: process.pid,
      host,
      port,
      basePath,
      tls: tls !== undefined,
      version,
      startedAt: this.startedAt,
    };
    const temporary = `${paths.hubInfo}.${process.pid}`;
    await writeFile(temporary, `${JSON.stringify(info)}\n`, { mode: 0o600 });
    await rename(temporary, paths.hubInfo);
  }
}
