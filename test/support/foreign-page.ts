/** Pages of another origin than the hub's, as a client somebody else serves has: a small web server of its own. */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

export interface ForeignPages {
  /** As the browser sends it. */
  readonly origin: string;
  stop(): Promise<void>;
}

/** Serves one page; `script` is a module of this folder, made into one file for the browser, or nothing. */
export async function servePages(script?: string): Promise<ForeignPages> {
  const code = script === undefined ? "" : await bundled(script);
  const server = createServer((request, response) => {
    const isScript = request.url === "/page.js";
    response.setHeader("content-type", isScript ? "text/javascript; charset=utf-8" : "text/html; charset=utf-8");
    response.end(isScript ? code : '<!doctype html><body></body><script type="module" src="/page.js"></script>');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => stopped(server),
  };
}

async function bundled(script: string): Promise<string> {
  const made = await build({
    entryPoints: [fileURLToPath(new URL(script, import.meta.url))],
    bundle: true,
    format: "esm",
    platform: "browser",
    define: { "process.env.NODE_ENV": '"production"' },
    write: false,
    logLevel: "warning",
  });
  return made.outputFiles[0]?.text ?? "";
}

function stopped(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}
