/**
 * Puts a hub together from configuration and runs it: lock, store, keys, hub, discovery. The reverse when it stops (design §2).
 * Used by `acp-hub serve`, the service and bridges that start one on demand.
 */
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Auth } from "../auth/auth.ts";
import { isAuthFailure } from "../auth/failures.ts";
import { LOCAL_OWNER } from "../auth/principal.ts";
import type { Config } from "../config/config.ts";
import { makePrivateDir, type Paths } from "../config/paths.ts";
import { advertHost } from "../discovery/advert.ts";
import { PRESETS, type Preset } from "../protocol/scopes.ts";
import type { StoreHealth } from "../store/health.ts";
import { type OpenedStore, openStore } from "../store/open-store.ts";
import type { DurableMark, Store } from "../store/ports.ts";
import { authGate } from "./auth-gate.ts";
import { type HubDiscovery, startDiscovery } from "./discovery.ts";
import { allowedNames, type Edge, isOwnOrigin, makeEdge } from "./edge.ts";
import type { Routes } from "./http/app.ts";
import { builtWebDir, readWebFiles } from "./http/web-files.ts";
import { Hub } from "./hub.ts";
import { keepIdleSmall } from "./idle-memory.ts";
import { lanUrl, localUrl } from "./local-url.ts";
import { takeLock } from "./lock.ts";
import type { HubLog } from "./log.ts";
import { paramsFilters } from "./params-filter.ts";
import { type Push, startPush } from "./push/push.ts";
import { startRetention } from "./retention.ts";
import { serveRoutes } from "./serve-routes.ts";
import { type HandOver, type StartedBy, Succession } from "./succession.ts";
import { type TlsFiles, tlsFiles } from "./tls.ts";
import { TunnelNames } from "./tunnel-names.ts";

export interface ServeOptions {
  readonly paths: Paths;
  readonly version: string;
  readonly config: Config;
  readonly log: HubLog;
  /** How this program is started: a headless bridge is one more of it. */
  readonly program: { readonly command: string; readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv };
  /** Who started it, and so who may end it for a newer one. Default: a person. */
  readonly startedBy?: StartedBy;
  /** The version of the program a supervisor would start now. */
  readonly installedVersion?: () => Promise<string | undefined>;
  /** Routes of the program around the hub. */
  readonly routes?: readonly Routes[];
}

export interface RunningHub {
  readonly hub: Hub;
  readonly auth: Auth;
  readonly port: number;
  /** Where a person opens the app on this computer. */
  readonly url: string;
  readonly tls: TlsFiles | undefined;
  readonly discovery: HubDiscovery;
  /** Resolves when a newer hub is to take this one's place. */
  readonly handOver: Promise<HandOver>;
  /** A one-time way in, for the terminal the hub runs in; a sentence when there is none to be had. */
  makePairing(preset: Preset, name: string): MadeWayIn | string;
  /** What a person should know: a damaged file moved aside, a key made anew. */
  readonly notices: readonly string[];
  storeHealth(): StoreHealth;
  /** With a successor, that process holds the home next. */
  stop(successor?: number): Promise<void>;
}

export interface MadeWayIn {
  readonly url: string;
  readonly code: string;
  readonly scope: string;
  readonly expiresAt: number;
}

interface DurableListener {
  current: (marks: readonly DurableMark[]) => void;
}

/** Another hub serves this home. */
export class HubRunningError extends Error {
  readonly pid: number;

  constructor(pid: number) {
    super(`A hub is running already (pid ${pid})`);
    this.pid = pid;
  }
}

/** Rejects with `HubRunningError`, EADDRINUSE, or a store, key or certificate error; then nothing is left behind. */
export async function serveHub(options: ServeOptions): Promise<RunningHub> {
  const { paths } = options;
  for (const dir of [paths.dataDir, paths.runDir, paths.keysDir, paths.logDir]) makePrivateDir(dir);
  const lock = await takeLock(paths.lockFile, () => answers(paths.linkSocket));
  if (!lock.ok) throw new HubRunningError(lock.pid);
  try {
    return await withStore(options, (successor) => lock.release(successor));
  } catch (error) {
    await lock.release();
    throw error;
  }
}

type Release = (successor?: number) => Promise<void>;

async function withStore(options: ServeOptions, release: Release): Promise<RunningHub> {
  const { log, paths, config } = options;
  // The store is there before the hub that acknowledges what it wrote.
  const onDurable: DurableListener = { current: () => undefined };
  const opened = openStore({
    path: paths.database,
    sessionBytesMax: config.limits.journalBytes,
    onDurable: (marks) => onDurable.current(marks),
    onError: (error) => log.error({ fault: error.code, err: error }, "store fault"),
  });
  try {
    return await start(options, opened, onDurable, release);
  } catch (error) {
    opened.store.close();
    throw error;
  }
}

async function start(
  options: ServeOptions,
  opened: OpenedStore,
  onDurable: DurableListener,
  release: Release,
): Promise<RunningHub> {
  const { config, log, paths } = options;
  const { store } = opened;
  // Of a hub that died: no session of its is live here yet.
  store.sessions.closeAll(Date.now());
  const auth = await openAuth(options, store);
  const edgeConfig = edgeOf(config, false, auth);
  const tls = await tlsFiles(
    config.tls,
    paths.keysDir,
    allowedNames(edgeConfig).filter((name) => name !== ""),
  );
  const succession = successionOf(options);
  const { hub, port, push } = await listen(options, auth, opened, tls, succession);
  onDurable.current = (marks) => hub.registry.acknowledge(marks);
  const stopIdleMemory = keepIdleSmall();
  const stopRetention = startRetention(store, hub.registry, config, log);
  const discovery = startDiscovery({
    host: config.host,
    isEnabled: config.discovery.enabled,
    advert: {
      id: auth.keys.fingerprint,
      version: options.version,
      isTls: tls !== undefined,
      path: config.basePath,
      fingerprint: auth.keys.fingerprint,
      port,
      ...(config.discovery.name !== undefined && { name: config.discovery.name }),
    },
    log,
  });
  return {
    hub,
    auth,
    port,
    tls,
    discovery,
    handOver: succession.due,
    url: localUrl(config.host, port, config.basePath, tls !== undefined),
    makePairing: (preset, name) =>
      wayIn(auth, config.publicUrl ?? localUrl(config.host, port, config.basePath, tls !== undefined), preset, name),
    storeHealth: opened.health,
    notices: [...opened.notices.map((notice) => notice.message), ...auth.keys.notices],
    stop: async (successor) => {
      stopIdleMemory();
      stopRetention();
      push.stop();
      await discovery.stop();
      await hub.stop();
      store.close();
      await release(successor);
    },
  };
}

function successionOf({ version, startedBy, installedVersion, log }: ServeOptions): Succession {
  return new Succession({
    version,
    startedBy: startedBy ?? "person",
    installedVersion: async () => installedVersion?.(),
    onStuck: (bridgeVersion, why) => log.warn({ bridgeVersion, why }, "a bridge is newer than this hub"),
  });
}

function wayIn(auth: Auth, base: string, preset: Preset, name: string): MadeWayIn | string {
  const made = auth.createPairing({ scopes: PRESETS[preset], name }, LOCAL_OWNER);
  if (isAuthFailure(made)) return made.detail;
  return {
    url: `${base.replace(/\/$/, "")}/#pair=${made.linkSecret}`,
    code: made.code,
    scope: preset,
    expiresAt: made.expiresAt,
  };
}

function openAuth({ config, paths, log }: ServeOptions, store: Store): Promise<Auth> {
  return Auth.open({
    keysDir: paths.keysDir,
    store: store.devices,
    audit: { append: (event) => void store.audit.append(event) },
    issuers: config.externalIssuers.map(({ fallback, header, audience, ...issuer }) => ({
      ...issuer,
      audience: typeof audience === "string" ? audience : [...audience],
      ...(fallback !== undefined && { fallback }),
      ...(header !== undefined && { header }),
    })),
    limits: config.limits,
    onError: (error) => log.error({ err: error }, "credential store fault"),
  });
}

const edgeOf = (config: Config, isTls: boolean, auth: Auth) => ({
  host: config.host,
  port: config.port,
  isTls,
  publicUrl: config.publicUrl,
  // The name the announcement gives, too.
  hosts: [...config.http.hosts, advertHost(auth.keys.fingerprint)],
  origins: config.http.origins,
  trustedProxies: config.trustedProxies,
});

/** Whether the page that gets a cookie came by https: a browser says so itself, in the Origin that the gate has checked. */
const isSecure = (edge: Edge, request: IncomingMessage): boolean =>
  (request.headers.origin ?? edge.publicOrigin)?.startsWith("https:") === true || edge.isHttps(request);

async function listen(
  options: ServeOptions,
  auth: Auth,
  { store, health }: OpenedStore,
  tls: TlsFiles | undefined,
  succession: Succession,
): Promise<{ hub: Hub; port: number; push: Push }> {
  const { config, log, paths } = options;
  const { host, basePath, publicUrl } = config;
  let { port } = config;
  const webFiles = await readWebFiles(builtWebDir());
  const push = await startPush(paths, publicUrl, log, auth.devices);
  const tunnels = new TunnelNames();
  const edgeConfig = { ...edgeOf(config, tls !== undefined, auth), tunnels };
  const edge = makeEdge(edgeConfig);
  const hub: Hub = new Hub({
    paths,
    version: options.version,
    host,
    port,
    basePath,
    limits: config.limits,
    interactionTimeoutMs: config.interactions.timeoutMs,
    edge: edgeConfig,
    tls,
    compresses: config.http.compression,
    auth: authGate(auth, {
      port: () => port,
      isOwnOrigin: (origin, name, request) => isOwnOrigin(edge, origin, { host: name, isHttps: edge.isHttps(request) }),
      addressOf: (request) => edge.addressOf(request),
      onWeakToken: (detail) => log.warn({ detail }, "remote token refused"),
    }),
    log,
    store,
    featuresFor: (bridgeVersion) => succession.onBridge(bridgeVersion),
    paramsFilter: paramsFilters({
      createRoots: config.create.roots,
      remoteMcpServers: config.remote.mcpServers,
      metaKeys: config.remote.metaKeys,
    }),
    routes: (running): readonly Routes[] =>
      serveRoutes({
        options,
        hub: running,
        auth,
        store,
        webFiles,
        tunnels,
        addressOf: (request) => edge.addressOf(request),
        cookieOptions: (request) => ({ port, basePath, isSecure: isSecure(edge, request) }),
        publicUrl: () => publicUrl ?? lanUrl(host, port, basePath, tls !== undefined),
        tlsFingerprint: tls?.fingerprint,
        push,
        succession,
      }),
  });
  hub.metrics.watchStore(health);
  hub.observers.add((instance, observation) => push.triggers.onObservation(instance, observation));
  port = await hub.start();
  return { hub, port, push };
}

/** True when something listens on the socket: pids alone prove nothing. */
function answers(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ path });
    socket.setTimeout(500, () => socket.destroy(new Error("no answer")));
    socket.once("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.once("error", () => resolve(false));
  });
}
