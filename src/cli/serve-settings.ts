/** What `serve` needs of the configuration, flags first (contract §1: flag > environment > file > default). */
import type { Paths } from "../config/paths.ts";
import type { ServeOptions } from "../hub/serve.ts";

export interface ServeFlags {
  readonly host: string | undefined;
  readonly port: number | undefined;
}

export type ServeSettings = Omit<ServeOptions, "paths" | "version" | "log" | "program"> & { readonly logLevel: string };

/** Rejects with a usage error that names what is wrong. */
export function serveSettings(_paths: Paths, flags: ServeFlags, env: NodeJS.ProcessEnv): Promise<ServeSettings> {
  const port = flags.port ?? (env["ACP_HUB_PORT"] === undefined ? 8377 : Number(env["ACP_HUB_PORT"]));
  return Promise.resolve({
    host: flags.host ?? env["ACP_HUB_HOST"] ?? "127.0.0.1",
    port,
    basePath: "",
    hosts: [],
    origins: [],
    trustedProxies: [],
    createRoots: [],
    remoteMcpServers: {},
    metaKeys: [],
    profiles: [],
    logLevel: "info",
  });
}
