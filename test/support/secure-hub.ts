/** A hub in this process as `serve` runs it: real credentials, a home of its own, everything it logs kept. For security tests. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { isAuthFailure } from "../../src/auth/failures.ts";
import { LOCAL_OWNER } from "../../src/auth/principal.ts";
import type { Backend } from "../../src/backends/backend.ts";
import { runBridge } from "../../src/bridge/bridge.ts";
import { diagnosticsRoutes } from "../../src/cli/doctor/diagnostics-route.ts";
import { type Config, DEFAULT_CONFIG } from "../../src/config/config.ts";
import { type Paths, resolvePaths } from "../../src/config/paths.ts";
import { type RunningHub, type ServeOptions, serveHub } from "../../src/hub/serve.ts";
import { scopesFromText } from "../../src/protocol/scope-text.ts";
import { memoryPair } from "../../src/transport/memory.ts";
import type { Transport } from "../../src/transport/transport.ts";

export interface MadeToken {
  readonly token: string;
  readonly deviceId: string;
}

export interface SecureHub {
  /** The hub that runs now: another one after `restart`. */
  readonly running: RunningHub;
  readonly paths: Paths;
  readonly home: string;
  /** A directory an editor works in. */
  readonly workspace: string;
  readonly port: number;
  readonly url: string;
  /** Everything logged so far, all levels, as written. */
  readonly log: () => string;
  /** A credential of a preset, or of scopes with spaces between. */
  token(scope: string, options?: { readonly query?: boolean; readonly ttlMs?: number }): Promise<MadeToken>;
  bridge(backend: Backend, instanceId?: string): { readonly editor: Transport; readonly ended: Promise<number> };
  /** Ends the hub and starts another on the same files and port. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** `program`: what a headless instance is started with, in place of one that does nothing. */
export async function startSecureHub(
  changes: Partial<Config> = {},
  program: ServeOptions["program"] = { command: process.execPath, args: ["-e", ""], env: {} },
): Promise<SecureHub> {
  const home = realpathSync(mkdtempSync(join(tmpdir(), "acp-hub-secure-")));
  const workspace = join(home, "workspace");
  mkdirSync(workspace);
  const paths = resolvePaths(join(home, "hub"));
  const lines: string[] = [];
  const serve = (port: number): Promise<RunningHub> =>
    serveHub({
      paths,
      version: "0.0.0-test",
      config: { ...DEFAULT_CONFIG, ...changes, port },
      log: pino({ level: "trace" }, { write: (line: string) => void lines.push(line) }),
      program,
      routes: [diagnosticsRoutes({ paths, env: {}, discovery: () => undefined, storage: () => undefined })],
    });
  let running = await serve(0);
  const { port } = running;
  const editors: Transport[] = [];
  const bridges: Promise<number>[] = [];
  return {
    get running() {
      return running;
    },
    paths,
    home,
    workspace,
    port,
    url: `http://127.0.0.1:${port}`,
    log: () => lines.join(""),
    async token(scope, { query, ttlMs } = {}) {
      const scopes = scopesFromText(scope) ?? [];
      const made = await running.auth.createToken(
        { name: scope, scopes, queryAllowed: query ?? false, ...(ttlMs !== undefined && { ttlMs }) },
        LOCAL_OWNER,
      );
      if (isAuthFailure(made)) throw new Error(made.detail);
      return { token: made.token, deviceId: made.record.deviceId };
    },
    bridge(backend, instanceId = "i-0") {
      const [editor, primary] = memoryPair();
      editors.push(editor);
      const ended = runBridge({
        backend,
        primary,
        isHeadless: false,
        workspace,
        version: "0.0.0-test",
        forms: "any",
        sharing: { instanceId, name: backend.name, launch: undefined, paths },
      });
      bridges.push(ended);
      return { editor, ended };
    },
    async restart() {
      await running.stop();
      running = await serve(port);
    },
    async stop() {
      for (const editor of editors) editor.close();
      await Promise.all(bridges);
      await running.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
