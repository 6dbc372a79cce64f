/**
 * Puts a hub together from configuration and runs it: lock, store, keys, hub. The reverse when it stops (design §2). Used by
 * `acp-hub serve`, the service and bridges that start one on demand.
 */
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import { Auth } from "../auth/auth.ts";
import { makePrivateDir, type Paths } from "../config/paths.ts";
import { openStore } from "../store/open-store.ts";
import { authGate } from "./auth-gate.ts";
import { isOwnOrigin, makeEdge } from "./edge.ts";
import { HeadlessInstances } from "./headless.ts";
import type { Routes } from "./http/app.ts";
import { auditRoutes } from "./http/audit-routes.ts";
import { authRoutes } from "./http/auth-routes.ts";
import { headlessRoutes } from "./http/headless-routes.ts";
import { builtWebDir, readWebFiles, webRoutes } from "./http/web-routes.ts";
import { Hub } from "./hub.ts";
import { takeLock } from "./lock.ts";
import type { HubLog } from "./log.ts";
import { paramsFilters } from "./params-filter.ts";

export interface ServeOptions {
  readonly paths: Paths;
  readonly version: string;
  readonly host: string;
  readonly port: number;
  readonly basePath: string;
  readonly publicUrl?: string | undefined;
  readonly hosts: readonly string[];
  readonly origins: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly createRoots: readonly string[];
  readonly remoteMcpServers: Readonly<Record<string, unknown>>;
  readonly metaKeys: readonly string[];
  readonly tls?: { readonly cert: Buffer; readonly key: Buffer } | undefined;
  readonly log: HubLog;
  /** Agent profiles that may be started without an editor; the first is the default. */
  readonly profiles: readonly string[];
  /** How this program is started: a headless bridge is one more of it. */
  readonly program: { readonly command: string; readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv };
}

export interface RunningHub {
  readonly hub: Hub;
  readonly auth: Auth;
  readonly port: number;
  /** What a person should know: a damaged file moved aside, a key made anew. */
  readonly notices: readonly string[];
  stop(): Promise<void>;
}

/** Another hub serves this home. */
export class HubRunningError extends Error {
  readonly pid: number;

  constructor(pid: number) {
    super(`A hub is running already (pid ${pid})`);
    this.pid = pid;
  }
}

/** Rejects with `HubRunningError`, EADDRINUSE, or a store or key error; then nothing is left behind. */
export async function serveHub(options: ServeOptions): Promise<RunningHub> {
  const { paths, log } = options;
  for (const dir of [paths.dataDir, paths.runDir, paths.keysDir, paths.logDir]) makePrivateDir(dir);
  const lock = await takeLock(paths.lockFile, () => answers(paths.linkSocket));
  if (!lock.ok) throw new HubRunningError(lock.pid);
  try {
    const opened = openStore({
      path: paths.database,
      onError: (error) => log.error({ code: error.code, err: error }, "store fault"),
    });
    try {
      const { store } = opened;
      store.sessions.closeAll(Date.now());
      const auth = await Auth.open({
        keysDir: paths.keysDir,
        store: store.devices,
        audit: { append: (event) => void store.audit.append(event) },
        onError: (error) => log.error({ err: error }, "credential store fault"),
      });
      const { hub, port } = await start(options, auth, store);
      return {
        hub,
        auth,
        port,
        notices: [...opened.notices.map((notice) => notice.message), ...auth.keys.notices],
        stop: async () => {
          await hub.stop();
          store.close();
          await lock.release();
        },
      };
    } catch (error) {
      opened.store.close();
      throw error;
    }
  } catch (error) {
    await lock.release();
    throw error;
  }
}

async function start(
  options: ServeOptions,
  auth: Auth,
  store: ReturnType<typeof openStore>["store"],
): Promise<{ hub: Hub; port: number }> {
  const { host, basePath, tls, publicUrl, hosts, origins } = options;
  let port = options.port;
  const webFiles = await readWebFiles(builtWebDir());
  const edge = makeEdge({ host, port, isTls: tls !== undefined, publicUrl, hosts, origins });
  const addressOf = (request: IncomingMessage): string => clientAddress(request, options.trustedProxies);
  const onWeakToken = (detail: string): void => options.log.warn({ detail }, "remote token refused");
  const hub: Hub = new Hub({
    paths: options.paths,
    version: options.version,
    host,
    port,
    basePath,
    edge: { publicUrl, hosts, origins },
    tls,
    auth: authGate(auth, {
      port: () => port,
      isOwnOrigin: (origin, name) => isOwnOrigin(edge, origin, name),
      addressOf,
      onWeakToken,
    }),
    log: options.log,
    store,
    paramsFilter: paramsFilters({
      createRoots: options.createRoots,
      remoteMcpServers: options.remoteMcpServers as never,
      metaKeys: options.metaKeys,
    }),
    routes: (running): Routes[] => [
      authRoutes({
        auth,
        cookieOptions: () => ({
          port,
          basePath,
          isSecure: tls !== undefined || publicUrl?.startsWith("https:") === true,
        }),
        publicUrl: () => publicUrl ?? localUrl(host, port, basePath, tls !== undefined),
        addressOf: (request) => addressOf(request.raw),
        connectionsOf: (id) => running.sockets.ofDevice(id).length,
      }),
      headlessRoutes(
        new HeadlessInstances(running.registry, {
          roots: options.createRoots,
          profiles: options.profiles,
          ...options.program,
        }),
      ),
      auditRoutes(store),
      webRoutes(webFiles),
    ],
  });
  port = await hub.start();
  return { hub, port };
}

/** The address to print: one a person can open. */
export function localUrl(host: string, port: number, basePath: string, isTls: boolean): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
  return `${isTls ? "https" : "http"}://${name}:${port}${basePath}`;
}

/** `X-Forwarded-For` counts only from proxies the configuration names (contract §3). */
function clientAddress(request: IncomingMessage, trusted: readonly string[]): string {
  const peer = (request.socket.remoteAddress ?? "").replace(/^::ffff:/, "");
  if (!trusted.includes(peer)) return peer;
  const header = request.headers["x-forwarded-for"];
  const hops = (Array.isArray(header) ? header.join(",") : (header ?? "")).split(",").map((hop) => hop.trim());
  // From the right: what our own proxies added; the first one that is none of them is the client.
  for (const hop of hops.reverse()) if (hop !== "" && !trusted.includes(hop)) return hop;
  return peer;
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
