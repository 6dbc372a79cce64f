/** `acp-hub service`: the hub as a user service of systemd or launchd. */
import { homedir, platform } from "node:os";
import { join, resolve } from "node:path";
import { type Paths, resolvePaths } from "../config/paths.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { EXIT, UsageError } from "./exit.ts";
import { namedHome } from "./home.ts";
import { callHub, readHubInfo } from "./local-api.ts";
import { type InstallPorts, installService, uninstallService } from "./service/install.ts";
import { launchd } from "./service/launchd.ts";
import { planService, planWarnings } from "./service/plan.ts";
import { toolRunner } from "./service/run-tool.ts";
import type { Supervisor } from "./service/supervisor.ts";
import { systemd } from "./service/systemd.ts";
import { command as stop } from "./stop.ts";

const USAGE = "acp-hub service install|uninstall [--home DIR]\n       acp-hub service status [--json] [--home DIR]";
const OPTIONS = { home: { type: "string" }, json: { type: "boolean" } } as const;

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const { values, positionals } = readArgs(argv, OPTIONS, USAGE, 1);
    const [verb] = positionals;
    const named = namedHome(values.home);
    const home = named === undefined || named === "" ? undefined : resolve(named);
    const supervisor = supervisorOf(process.platform, process.env);
    if (verb === "status") return status(supervisor, values.json === true);
    if (verb !== "install" && verb !== "uninstall")
      throw new UsageError(`Say what to do with the service\nUsage: ${USAGE}`);
    const obstacle = await supervisor.unavailable();
    if (obstacle !== undefined) throw new Error(obstacle);
    return verb === "install" ? install(supervisor, home) : uninstall(supervisor, resolvePaths(home));
  },
};

export function supervisorOf(on: NodeJS.Platform, env: NodeJS.ProcessEnv): Supervisor {
  const run = toolRunner(env);
  const home = env["HOME"] || homedir();
  if (on === "darwin") return launchd(run, home, process.getuid?.() ?? 501);
  if (on === "linux") return systemd(run, env["XDG_CONFIG_HOME"] || join(home, ".config"));
  throw new UsageError(`There is no service for ${platform()} yet: run acp-hub serve under your own supervisor`);
}

async function install(supervisor: Supervisor, home: string | undefined): Promise<number> {
  const paths = resolvePaths(home);
  const script = resolve(process.argv[1] ?? "");
  const plan = planService({ node: process.execPath, script, env: process.env, home, logDir: paths.logDir });
  for (const warning of planWarnings(plan, process.env)) say(`Note: ${warning}`);
  const ports: InstallPorts = {
    supervisor,
    readyPid: () => readyPid(paths),
    stopHub: async () => void (await stop.run(home === undefined ? [] : ["--home", home])),
    say,
    clock: { now: () => Date.now(), sleep: (ms) => new Promise((done) => setTimeout(done, ms)) },
  };
  const result = await installService(ports, plan);
  say(result === "unchanged" ? "The service is installed and running already." : `The service is ${result} and ready.`);
  say(`  unit  ${supervisor.file}\n  log   ${join(paths.logDir, "hub.log")}, and ${supervisor.logHint(plan)}`);
  for (const advice of await supervisor.advice()) say(`Note: ${advice}`);
  return EXIT.ok;
}

async function uninstall(supervisor: Supervisor, paths: Paths): Promise<number> {
  const wasThere = await uninstallService({ supervisor });
  say(wasThere ? "The service is gone." : "No service was installed.");
  say(`Kept: configuration ${paths.configFile}, history and keys in ${paths.dataDir}, logs in ${paths.logDir}`);
  return EXIT.ok;
}

async function status(supervisor: Supervisor, isJson: boolean): Promise<number> {
  const found = await supervisor.status();
  if (isJson)
    process.stdout.write(`${JSON.stringify({ supervisor: supervisor.name, file: supervisor.file, ...found })}\n`);
  else {
    const words = found.isInstalled ? "installed" : "not installed";
    const pid = found.pid === undefined ? "" : `, pid ${found.pid}`;
    process.stdout.write(`${supervisor.name}: ${words}, ${found.detail}${pid}\n`);
  }
  return found.isInstalled && found.isRunning ? EXIT.ok : EXIT.unreachable;
}

async function readyPid(paths: Paths): Promise<number | undefined> {
  const isReady = await callHub(paths, "GET", "/readyz").then(
    (response) => response.status === 200,
    () => false,
  );
  return isReady ? (await readHubInfo(paths))?.pid : undefined;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}
