/** ZCode as a backend: an ACP agent in this process, the app-server as its child. */
import { execFile } from "node:child_process";
import { homedir } from "node:os";
import { join } from "node:path";
import { memoryPair } from "../../transport/memory.ts";
import type { Transport } from "../../transport/transport.ts";
import type { Backend, BackendExit } from "../backend.ts";
import { ZcodeAgent } from "./agent.ts";
import { type Clock, systemClock } from "./clock.ts";
import { type Log, silentLog } from "./log.ts";
import { launchEnv, resolveConfig, type ZcodeConfig } from "./options.ts";
import { childStarter, type StartChild } from "./process/child.ts";
import { type LaunchSpec, planLaunch, zcodeHomeOf } from "./process/launch.ts";
import { LazyStore } from "./sessions/lazy-store.ts";
import type { SessionMap } from "./sessions/session-map.ts";

export type { ZcodeConfig } from "./options.ts";
export { type RemoteGate, zcodeRemoteGate } from "./remote-gate.ts";

export interface ZcodeBackendOptions {
  readonly config?: ZcodeConfig;
  /** The bridge's environment. Default: the process's own. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly home?: string;
  readonly log?: Log;
  readonly clock?: Clock;
  /** The bridge's version, shown as the agent's. */
  readonly version?: string;
  /** Where session ids are kept. Default: the file ZCode bridges share. */
  readonly store?: SessionMap;
  /** Starts the app-server; tests give one in memory. */
  readonly startChild?: StartChild;
  /** Decides what to start; tests give a fixed plan. */
  readonly plan?: () => Promise<LaunchSpec>;
  /** False keeps the watchdog process away. Default true. */
  readonly hasWatchdog?: boolean;
}

const VERSION_MS = 5_000;

/** What `zcode --version` says, or words that say it did not. */
function readVersion(spec: LaunchSpec): Promise<string> {
  const at = spec.args.indexOf("app-server");
  const args = [...spec.args.slice(0, Math.max(0, at)), "--version"];
  return new Promise((resolve) => {
    execFile(spec.command, args, { timeout: VERSION_MS, env: { ...spec.env } }, (error, stdout) => {
      const line = stdout.trim().split("\n").at(-1) ?? "";
      resolve(error !== null || line === "" ? "unknown" : line.slice(0, 60));
    });
  });
}

/** Makes the backend. Nothing is started before the first session is used. */
export function zcodeBackend(options: ZcodeBackendOptions = {}): Backend {
  const config = options.config ?? {};
  const env = launchEnv(config, options.env ?? process.env);
  const home = options.home ?? homedir();
  const log = options.log ?? silentLog;
  const clock = options.clock ?? systemClock;
  const zcodeHome = zcodeHomeOf(env, home);
  let agent: ZcodeAgent | undefined;
  let settle: (exit: BackendExit) => void = () => {};
  const exited = new Promise<BackendExit>((resolve) => {
    settle = resolve;
  });
  const stop = async (): Promise<void> => {
    await agent?.stop();
    settle({ code: 0, signal: null, stderrTail: "" });
  };
  const start = (): Transport => {
    const [outer, inner] = memoryPair();
    const resolved = resolveConfig(config, env);
    agent = new ZcodeAgent(
      {
        transport: inner,
        clock,
        log,
        config: resolved,
        zcodeHome,
        store: options.store ?? new LazyStore(join(zcodeHome, "v2", "acp-lazy-sessions.json"), clock, log),
        startChild:
          options.startChild ??
          childStarter(log, { hasWatchdog: options.hasWatchdog ?? true, lineBytes: resolved.lineBytes }),
        version: options.version ?? "0.0.0",
        plan: options.plan ?? (() => planLaunch({ env, home, platform: process.platform })),
        zcodeVersion: readVersion,
        onClientGone: () => void stop(),
      },
      env["ZCODE_PROVIDER"],
    );
    return outer;
  };
  return { name: "zcode", seesCapabilitiesLive: true, start, exited, stop };
}
