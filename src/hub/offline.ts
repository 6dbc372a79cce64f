/**
 * The owner's API without a running hub: the same routes over the same files, listening nowhere. Recovery through the local command
 * line always works.
 */
import { Auth } from "../auth/auth.ts";
import { makePrivateDir, type Paths } from "../config/paths.ts";
import { LIMITS } from "../protocol/limits.ts";
import { openStore } from "../store/open-store.ts";
import { makeEdge } from "./edge.ts";
import { buildApp } from "./http/app.ts";
import { auditRoutes } from "./http/audit-routes.ts";
import { authRoutes } from "./http/auth-routes.ts";

export interface OfflineAnswer {
  readonly status: number;
  /** The body as text; empty when there is none. */
  readonly text: string;
}

export interface OfflineApi {
  call(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: object): Promise<OfflineAnswer>;
  close(): Promise<void>;
}

/** Rejects with a store or key error. `onFault`: what the store says of its writes. */
export async function openOffline(paths: Paths, onFault: (message: string) => void): Promise<OfflineApi> {
  for (const dir of [paths.dataDir, paths.keysDir]) makePrivateDir(dir);
  const { store } = openStore({ path: paths.database, onError: (error) => onFault(error.message) });
  const auth = await Auth.open({
    keysDir: paths.keysDir,
    store: store.devices,
    audit: { append: (event) => void store.audit.append(event) },
    onError: () => undefined,
  });
  const refuse = { status: 401, detail: "local only" } as const;
  const ports = {
    edge: makeEdge({ host: "127.0.0.1", port: 0, isTls: false }),
    basePath: "",
    authenticate: () => Promise.resolve(refuse),
    onRefused: () => undefined,
    onError: () => undefined,
    onRoute: () => undefined,
  };
  const app = buildApp(ports, { isLocal: true, bodyBytes: LIMITS.bodyBytes }, [
    authRoutes({
      auth,
      cookieOptions: () => ({ port: 0, basePath: "", isSecure: false }),
      publicUrl: () => "",
      addressOf: () => "local",
      connectionsOf: () => 0,
    }),
    auditRoutes(store),
  ]);
  return {
    async call(method, path, body) {
      const options = body === undefined ? { method, url: path } : { method, url: path, payload: body };
      const response = await app.inject(options);
      return { status: response.statusCode, text: response.body };
    },
    async close() {
      await app.close();
      store.close();
    },
  };
}
