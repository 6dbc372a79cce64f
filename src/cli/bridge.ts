/**
 * `acp-hub bridge`: the editor's agent command. Kept lean: only what the spawn needs is imported here; the rest is loaded while the
 * agent starts, which takes longer.
 */
import { type AgentChoice, environmentOf, makeBackend, type Sharing, sharingOf } from "../bridge/agents.ts";
import { bridgeSettings } from "../config/bridge-settings.ts";
import { VERSION } from "../protocol/version.ts";
import { ANY_WORDS, readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./exit.ts";

const USAGE =
  "acp-hub bridge [--name N] [--home DIR] [--cwd DIR] [--no-share] [--headless] <profile>\n       acp-hub bridge [options] -- <command> [args…]";

const OPTIONS = {
  name: { type: "string" },
  home: { type: "string" },
  cwd: { type: "string" },
  "no-share": { type: "boolean" },
  headless: { type: "boolean" },
} as const;

/** What to run: the words after `--`, a built-in profile, or one of the configuration. */
async function chooseAgent(
  before: readonly string[],
  after: readonly string[] | undefined,
  home: string | undefined,
): Promise<AgentChoice> {
  if (after !== undefined) return commandOf(before, after);
  const [profile, extra] = before;
  if (profile === undefined) throw new UsageError(`Name the agent to run\nUsage: ${USAGE}`);
  if (extra !== undefined) {
    throw new UsageError(`An agent's command stands after --: acp-hub bridge -- ${before.join(" ")}\nUsage: ${USAGE}`);
  }
  if (profile === "demo") return { kind: "demo", name: profile };
  const { findProfile, zcodeConfig } = await import("./profiles.ts");
  if (profile === "zcode") return { kind: "zcode", name: profile, config: await zcodeConfig(home) };
  return { kind: "command", agent: await findProfile(profile, home), name: profile };
}

function commandOf(before: readonly string[], after: readonly string[]): AgentChoice {
  const [command, ...args] = after;
  if (before.length > 0) {
    throw new UsageError(`Give a profile or a command, not both ("${before[0]}")\nUsage: ${USAGE}`);
  }
  if (command === undefined) throw new UsageError(`Name the agent's command after --\nUsage: ${USAGE}`);
  return { kind: "command", agent: { command, args }, name: command.slice(command.lastIndexOf("/") + 1) };
}

/** How to start a hub of this very installation. What the profile says of its address is over the file, under our own variables. */
function launchCommand(home: string | undefined, { host, port }: Sharing) {
  const script = process.argv[1] ?? "";
  const args = [...process.execArgv, script, "serve", "--on-demand", ...(home === undefined ? [] : ["--home", home])];
  const where = {
    ...(host !== undefined && { ACP_HUB_HOST: host }),
    ...(port !== undefined && { ACP_HUB_PORT: String(port) }),
  };
  return { command: process.execPath, args, env: { ...where, ...process.env } };
}

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const split = argv.indexOf("--");
    const own = split < 0 ? argv : argv.slice(0, split);
    const after = split < 0 ? undefined : argv.slice(split + 1);
    const { values, positionals } = readArgs(own, OPTIONS, USAGE, ANY_WORDS);
    const settings = bridgeSettings(process.env);
    const home = values.home ?? settings.home;
    const agent = await chooseAgent(positionals, after, home);
    const cwd = values.cwd ?? process.cwd();
    const isHeadless = values.headless === true;
    if (process.stdin.isTTY && !isHeadless) return runOnTerminal(agent, cwd);
    const isWanted = settings.isShared && values["no-share"] !== true;
    // A hub has started it: the profile's own gate is for what an editor starts.
    const share = isHeadless ? { isShared: isWanted } : await sharingOf(agent, isWanted);
    const { isShared, token, problem }: Sharing = share;
    if (problem !== undefined) process.stderr.write(`acp-hub: ${problem}\n`);
    const backend = await makeBackend(agent, cwd, VERSION);
    backend.start();
    const loaded = await loadBridge(home).catch(async (error: unknown) => {
      await backend.stop();
      throw error;
    });
    const { config } = loaded;
    for (const words of config.problems) process.stderr.write(`acp-hub: ${words}\n`);
    // Given by the hub that starts a headless one, so that it knows its own when it dials.
    const instanceId = (isHeadless ? process.env["ACP_HUB_INSTANCE_ID"] : undefined) ?? loaded.randomUUID();
    const paths = loaded.resolvePaths(home);
    const launch = settings.isAutostart && config.isAutostart ? launchCommand(home, share) : undefined;
    const name = values.name ?? agent.name;
    return loaded.runBridge({
      backend,
      isHeadless,
      workspace: cwd,
      version: VERSION,
      forms: config.forms,
      ...(isShared && { log: loaded.fileLog(paths, instanceId) }),
      sharing: isShared ? { instanceId, name, paths, remoteToken: token, launch } : undefined,
    });
  },
};

/** What runs a bridge, once its agent has been spawned. */
async function loadBridge(home: string | undefined) {
  const [{ runBridge }, { fileLog }, { resolvePaths }, { randomUUID }, config] = await Promise.all([
    import("../bridge/bridge.ts"),
    import("../bridge/log.ts"),
    import("../config/paths.ts"),
    import("node:crypto"),
    import("../config/bridge-config.ts").then(({ readBridgeConfig }) => readBridgeConfig(home, process.env)),
  ]);
  return { runBridge, fileLog, resolvePaths, randomUUID, config };
}

/** T4: terminal auth runs this very invocation with extra arguments; the agent gets the terminal. */
async function runOnTerminal(agent: AgentChoice, cwd: string): Promise<number> {
  if (agent.kind !== "command") {
    throw new UsageError("This profile speaks ACP on pipes: put it into your editor, or try acp-hub serve --demo");
  }
  const { runInTerminal } = await import("../bridge/terminal-agent.ts");
  return runInTerminal(agent.agent.command, agent.agent.args, environmentOf(agent.agent), cwd);
}
