/** `acp-hub serve`: the hub in the foreground, or on demand for a bridge. */
import { once } from "node:events";
import { makePrivateDir, resolvePaths } from "../config/paths.ts";
import { isLoopback, lanAddresses } from "../hub/edge.ts";
import { idleEnd } from "../hub/idle-end.ts";
import { hostAndPort, isEveryAddress } from "../hub/local-url.ts";
import { hubLog } from "../hub/log.ts";
import { HubRunningError, type RunningHub, type ServeOptions, serveHub } from "../hub/serve.ts";
import type { HandOver, StartedBy } from "../hub/succession.ts";
import { TlsFilesError } from "../hub/tls.ts";
import { VERSION } from "../protocol/version.ts";
import { readArgs, readNumber } from "./args.ts";
import type { Command } from "./command.ts";
import { diagnosticsRoutes } from "./doctor/diagnostics-route.ts";
import { effectiveConfig } from "./effective-config.ts";
import { EXIT, UsageError } from "./exit.ts";
import { namedHome } from "./home.ts";

const USAGE = "acp-hub serve [--host H] [--port N] [--home DIR] [--demo] [--supervised]";

const OPTIONS = {
  host: { type: "string" },
  port: { type: "string" },
  home: { type: "string" },
  demo: { type: "boolean" },
  /** By a bridge: a taken port is no error, and nobody reads the output. */
  "on-demand": { type: "boolean" },
  /** By systemd or launchd: it is started again when it ends with `RESTART`. */
  supervised: { type: "boolean" },
} as const;

/** The exit code that asks a supervisor for a start of what is installed now: the units know it. */
const RESTART = 75;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values } = readArgs(argv, OPTIONS, USAGE, 0);
    const startedBy = values["on-demand"] === true ? "bridge" : values.supervised === true ? "supervisor" : "person";
    const home = namedHome(values.home);
    const paths = resolvePaths(home);
    const flags = { host: values.host, port: readNumber("--port", values.port, 0, 65_535) };
    const config = effectiveConfig(paths, flags);
    makePrivateDir(paths.logDir);
    const log = hubLog(config.log.level, `${paths.logDir}/hub.log`);
    const current: { hub?: RunningHub } = {};
    const diagnostics = {
      paths,
      env: process.env,
      discovery: () => current.hub?.discovery.state,
      storage: () => current.hub?.storeHealth(),
    };
    const options: ServeOptions = {
      config,
      paths,
      version: VERSION,
      log,
      program: thisProgram(home),
      startedBy,
      installedVersion,
      routes: [diagnosticsRoutes(diagnostics)],
    };
    const logWritten = () => new Promise<void>((done) => log.flush(() => done()));
    const running = await listen(options, startedBy).catch(async (error: unknown) => {
      // Nobody reads the output of one that a bridge starts.
      log.error({ err: error }, "the hub could not start");
      await logWritten();
      throw error;
    });
    if (running === "running-already") return EXIT.ok;
    current.hub = running;
    announce(options, running);
    const demo = values.demo === true ? await startDemo(running, home) : undefined;
    const why = await ending(running, startedBy === "bridge");
    log.info({ why }, "hub stopping");
    demo?.();
    await running.stop(why.kind === "successor" ? why.pid : undefined);
    await logWritten();
    return why.kind === "restart" ? RESTART : EXIT.ok;
  },
};

/** Headless bridges are this very installation, on the same home. */
function thisProgram(home: string | undefined): ServeOptions["program"] {
  const env = home === undefined ? process.env : { ...process.env, ACP_HUB_HOME: home };
  return { command: process.execPath, args: [...process.execArgv, process.argv[1] ?? ""], env };
}

/** What the program at our place on disk says it is: an update replaces it while we run. */
async function installedVersion(): Promise<string | undefined> {
  const { toolRunner } = await import("./service/run-tool.ts");
  const run = toolRunner(process.env);
  const { code, stdout } = await run(process.execPath, [...process.execArgv, process.argv[1] ?? "", "--version"]);
  return code === 0 ? stdout.trim() : undefined;
}

async function listen(options: ServeOptions, startedBy: StartedBy): Promise<RunningHub | "running-already"> {
  try {
    if (startedBy === "person") return await serveHub(options);
    const { takeOver } = await import("./serve/take-over.ts");
    const result = await takeOver({ ...options, startedBy });
    if (!(result instanceof HubRunningError)) return result;
    if (startedBy === "bridge") return "running-already";
    throw result;
  } catch (error) {
    if (error instanceof HubRunningError)
      throw new UsageError(`${error.message}: stop it with acp-hub stop, or use another --home`, { cause: error });
    if (error instanceof TlsFilesError) throw new UsageError(error.message, { cause: error });
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") throw error;
    const { whoHolds } = await import("./port-owner.ts");
    const { host, port } = options.config;
    const who = await whoHolds(port);
    throw new UsageError(
      `Port ${port} on ${host} is taken${who === undefined ? "" : ` by ${who}`}: choose another with --port (0 picks one)`,
      { cause: error },
    );
  }
}

/** Where the network finds it: not every phone looks up names such as desk.local. */
function addressesOf({ url, port }: RunningHub, host: string): string[] {
  const hosts = isEveryAddress(host) ? lanAddresses() : [host];
  const { protocol, pathname } = new URL(url);
  return hosts.map((each) => `${protocol}//${hostAndPort(each, port)}${pathname.replace(/\/$/, "")}`);
}

function announce(options: ServeOptions, running: RunningHub): void {
  for (const notice of running.notices) process.stderr.write(`acp-hub: ${notice}\n`);
  const { host } = options.config;
  process.stdout.write(`acp-hub listening on ${running.url}\n`);
  if (isLoopback(host)) return;
  if (running.tls?.fingerprint !== undefined)
    process.stderr.write(`Certificate of its own, SHA-256 ${running.tls.fingerprint}\n`);
  const where = hostAndPort(host, running.port);
  process.stderr.write(
    running.tls === undefined
      ? `WARNING: reachable beyond this computer (${where}) without TLS: everyone on the way can read along. Put a TLS proxy or a tunnel in front, or configure tls.\n`
      : `Reachable beyond this computer on ${where}, with TLS; every request needs a credential.\n`,
  );
  const addresses = addressesOf(running, host);
  if (addresses.length > 0) process.stderr.write(`On your network: ${addresses.join("  ")}\n`);
}

/** A session to try, and the way in. */
async function startDemo(running: RunningHub, home: string | undefined): Promise<() => void> {
  const { demoProcess, openDemoSession } = await import("./demo.ts");
  const { pairingText } = await import("./pairing-words.ts");
  const endProcess = demoProcess(home);
  const stopWaiting = openDemoSession(running.hub);
  const made = running.makePairing("driver", "demo");
  process.stdout.write(typeof made === "string" ? `${made}\n` : await pairingText(made));
  return () => {
    stopWaiting();
    endProcess();
  };
}

type Ending = HandOver | { readonly kind: "signal"; readonly signal: string } | { readonly kind: "idle" };

async function ending(running: RunningHub, isOnDemand: boolean): Promise<Ending> {
  const signals = ["SIGTERM", "SIGINT", "SIGHUP"].map((signal) =>
    once(process, signal).then(() => ({ kind: "signal", signal }) as const),
  );
  const idle = idleEnd(running.hub, isOnDemand);
  const ended = idle.ended.then(() => ({ kind: "idle" }) as const);
  const why = await Promise.race([...signals, running.handOver, ended]);
  idle.stop();
  return why;
}
