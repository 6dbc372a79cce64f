/**
 * The owner's API whether a hub runs or not: over its local socket, or over a hub put together just for this command that listens
 * nowhere. Recovery through the local command line always works.
 */
import { makePrivateDir, type Paths } from "../config/paths.ts";
import { isObject } from "../protocol/json.ts";
import { UnreachableError } from "./exit.ts";
import { callHubOk } from "./local-api.ts";

export interface OwnerApi {
  /** The body of a successful answer, or an error in the hub's words. */
  call(method: "GET" | "POST" | "PATCH" | "DELETE", path: string, body?: unknown): Promise<unknown>;
  close(): Promise<void>;
}

export async function ownerApi(paths: Paths): Promise<OwnerApi> {
  try {
    await callHubOk(paths, "GET", "/healthz");
    return { call: (method, path, body) => callHubOk(paths, method, path, body), close: () => Promise.resolve() };
  } catch (error) {
    if (!(error instanceof UnreachableError)) throw error;
    return offlineApi(paths);
  }
}

async function offlineApi(paths: Paths): Promise<OwnerApi> {
  const [{ Auth }, { openStore }, { buildApp }, { authRoutes }, { makeEdge }] = await Promise.all([
    import("../auth/auth.ts"),
    import("../store/open-store.ts"),
    import("../hub/http/app.ts"),
    import("../hub/http/auth-routes.ts"),
    import("../hub/edge.ts"),
  ]);
  for (const dir of [paths.dataDir, paths.keysDir]) makePrivateDir(dir);
  const { store } = openStore({
    path: paths.database,
    onError: (error) => process.stderr.write(`acp-hub: ${error.message}\n`),
  });
  const auth = await Auth.open({
    keysDir: paths.keysDir,
    store: store.devices,
    audit: { append: (event) => void store.audit.append(event) },
    onError: () => undefined,
  });
  const refuse = { status: 401, detail: "local only" } as const;
  const app = buildApp(
    {
      edge: makeEdge({ host: "127.0.0.1", port: 0, isTls: false }),
      basePath: "",
      authenticate: () => Promise.resolve(refuse),
      onRefused: () => undefined,
      onError: () => undefined,
    },
    { isLocal: true },
    [
      authRoutes({
        auth,
        cookieOptions: () => ({ port: 0, basePath: "", isSecure: false }),
        publicUrl: () => "",
        addressOf: () => "local",
        connectionsOf: () => 0,
      }),
    ],
  );
  return {
    async call(method, path, body) {
      const options = body === undefined ? { method, url: path } : { method, url: path, payload: body as object };
      const response = await app.inject(options);
      const answer: unknown = response.body === "" ? undefined : JSON.parse(response.body);
      if (response.statusCode < 400) return answer;
      throw new Error(
        isObject(answer) && typeof answer["detail"] === "string" ? answer["detail"] : `status ${response.statusCode}`,
      );
    },
    async close() {
      await app.close();
      store.close();
    },
  };
}
