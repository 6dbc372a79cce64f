/** The routes of a hub that is fully put together; `hub.ts` has those every hub has. */
import type { IncomingMessage } from "node:http";
import type { Auth } from "../auth/auth.ts";
import type { CookieOptions } from "../auth/grants/cookie-key.ts";
import type { Paths } from "../config/paths.ts";
import { profileNames } from "../config/profiles.ts";
import type { Store } from "../store/ports.ts";
import { HeadlessInstances } from "./headless.ts";
import type { Routes } from "./http/app.ts";
import { auditRoutes } from "./http/audit-routes.ts";
import { authRoutes } from "./http/auth-routes.ts";
import { type FileRoutesOptions, fileRoutes } from "./http/file-routes.ts";
import { fileSearchRoute } from "./http/file-search-route.ts";
import { headlessRoutes } from "./http/headless-routes.ts";
import { hubRoutes } from "./http/hub-routes.ts";
import { openApiRoute } from "./http/openapi-route.ts";
import { type PushRoutePorts, pushRoutes } from "./http/push-routes.ts";
import { sessionRoutes } from "./http/session-routes.ts";
import { tunnelRoutes } from "./http/tunnel-routes.ts";
import type { WebFiles } from "./http/web-files.ts";
import { webRoutes } from "./http/web-routes.ts";
import type { Hub } from "./hub.ts";
import type { ServeOptions } from "./serve.ts";
import type { Succession } from "./succession.ts";
import type { TunnelNames } from "./tunnel-names.ts";

export interface ServeRouteParts {
  readonly options: ServeOptions;
  readonly hub: Hub;
  readonly auth: Auth;
  readonly store: Store;
  readonly webFiles: WebFiles;
  readonly tunnels: TunnelNames;
  addressOf(request: IncomingMessage): string;
  cookieOptions(request: IncomingMessage): CookieOptions;
  publicUrl(): string;
  readonly tlsFingerprint: string | undefined;
  readonly push: PushRoutePorts;
  readonly succession: Succession;
}

/** The hub's own files are nobody's to read over HTTP, even where a workspace holds them. */
const ownPaths = (paths: Paths): string[] => [
  paths.keysDir,
  paths.database,
  paths.runDir,
  paths.configFile,
  paths.logDir,
];

export function serveRoutes(parts: ServeRouteParts): readonly Routes[] {
  const { hub, auth, store, options } = parts;
  const { config } = options;
  const headless = new HeadlessInstances(hub.registry, {
    roots: config.create.roots,
    profiles: profileNames(config.agents),
    max: config.limits.headlessMax,
    ...options.program,
  });
  const files: FileRoutesOptions = {
    registry: hub.registry,
    isStarting: () => hub.isStarting,
    createRoots: config.create.roots,
    hidden: ownPaths(options.paths),
  };
  return [
    authRoutes({
      auth,
      cookieOptions: (request) => parts.cookieOptions(request.raw),
      publicUrl: () => parts.publicUrl(),
      addressOf: (request) => parts.addressOf(request.raw),
      connectionsOf: (id) => hub.sockets.ofDevice(id).length,
      tlsFingerprint: parts.tlsFingerprint,
    }),
    fileRoutes(files),
    fileSearchRoute(files),
    sessionRoutes({ registry: hub.registry, isStarting: () => hub.isStarting }),
    headlessRoutes(headless),
    openApiRoute({
      version: options.version,
      basePath: config.basePath,
      routes: () => hub.routesOnNetwork,
    }),
    hubRoutes({ version: options.version, startedAt: hub.startedAt, succession: parts.succession }),
    auditRoutes(store),
    pushRoutes(parts.push),
    tunnelRoutes(parts.tunnels),
    ...(options.routes ?? []),
    webRoutes(parts.webFiles),
  ];
}
