/** `acp-hub bridge`: the editor's agent command. Kept lean: the agent is spawned before anything heavy is loaded. */
import { randomUUID } from "node:crypto";
import { acpBackend } from "../backends/acp/acp-backend.ts";
import type { Backend } from "../backends/backend.ts";
import { runBridge } from "../bridge/bridge.ts";
import { fileLog } from "../bridge/log.ts";
import { bridgeSettings } from "../config/bridge-settings.ts";
import { resolvePaths } from "../config/paths.ts";
import { VERSION } from "../protocol/version.ts";
import { readArgs } from "./args.ts";
import type { Command } from "./command.ts";
import { UsageError } from "./exit.ts";

const USAGE =
  "acp-hub bridge [--name N] [--home DIR] [--no-share] [--headless] <profile>\n       acp-hub bridge [options] -- <command> [args…]";

const OPTIONS = {
  name: { type: "string" },
  home: { type: "string" },
  cwd: { type: "string" },
  "no-share": { type: "boolean" },
  headless: { type: "boolean" },
} as const;

interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

type Agent =
  | { readonly kind: "command"; readonly agent: AgentCommand; readonly name: string }
  | { readonly kind: "builtin"; readonly name: "demo" | "zcode" };

/** What to run: the words after `--`, a built-in profile, or one of the configuration. */
async function chooseAgent(
  before: readonly string[],
  after: readonly string[] | undefined,
  home: string | undefined,
): Promise<Agent> {
  if (after !== undefined) {
    const [command, ...args] = after;
    if (before.length > 0)
      throw new UsageError(`Give a profile or a command, not both ("${before[0]}")\nUsage: ${USAGE}`);
    if (command === undefined) throw new UsageError(`Name the agent's command after --\nUsage: ${USAGE}`);
    return { kind: "command", agent: { command, args }, name: command.slice(command.lastIndexOf("/") + 1) };
  }
  const [profile, extra] = before;
  if (profile === undefined) throw new UsageError(`Name the agent to run\nUsage: ${USAGE}`);
  if (profile === "demo" || profile === "zcode") return { kind: "builtin", name: profile };
  if (extra !== undefined)
    throw new UsageError(`An agent's command stands after --: acp-hub bridge -- ${before.join(" ")}`);
  const { findProfile } = await import("./profiles.ts");
  return { kind: "command", agent: await findProfile(profile, home), name: profile };
}

async function makeBackend(agent: Agent, cwd: string, home: string | undefined): Promise<Backend> {
  if (agent.kind === "command") {
    const { command, args, env } = agent.agent;
    return acpBackend({
      command,
      args,
      cwd,
      name: agent.name,
      ...(env !== undefined && { env: { ...process.env, ...env } }),
    });
  }
  if (agent.name === "demo") return (await import("../backends/demo/demo-backend.ts")).demoBackend();
  const { zcodeBackend } = await import("../backends/zcode/backend.ts");
  const { zcodeConfig } = await import("./profiles.ts");
  return zcodeBackend({ config: await zcodeConfig(home), version: VERSION });
}

/** Whether to share, and the token clients of the predecessor present (contract §1): only the zcode profile has a say. */
async function sharingOf(
  agent: Agent,
  isWanted: boolean,
): Promise<{ readonly isShared: boolean; readonly token?: string | undefined }> {
  if (!isWanted || agent.kind !== "builtin" || agent.name !== "zcode") return { isShared: isWanted };
  const { zcodeRemoteGate } = await import("../backends/zcode/remote-gate.ts");
  const { share, token, problem } = zcodeRemoteGate(process.env);
  if (problem !== undefined) process.stderr.write(`acp-hub: ${problem}\n`);
  return { isShared: share, token };
}

/** How to start a hub of this very installation. */
function launchCommand(home: string | undefined) {
  const script = process.argv[1] ?? "";
  const args = [...process.execArgv, script, "serve", "--on-demand", ...(home === undefined ? [] : ["--home", home])];
  return { command: process.execPath, args, env: process.env };
}

export const command: Command = {
  usage: USAGE,
  async run(argv) {
    const split = argv.indexOf("--");
    const own = split < 0 ? argv : argv.slice(0, split);
    const after = split < 0 ? undefined : argv.slice(split + 1);
    const { values, positionals } = readArgs(own, OPTIONS, USAGE);
    const settings = bridgeSettings(process.env);
    const home = values.home ?? settings.home;
    const agent = await chooseAgent(positionals, after, home);
    const cwd = values.cwd ?? process.cwd();
    if (process.stdin.isTTY && values.headless !== true) return runOnTerminal(agent, cwd);
    // Given by the hub that starts a headless one, so that it knows its own when it dials.
    const instanceId = (values.headless === true ? process.env["ACP_HUB_INSTANCE_ID"] : undefined) ?? randomUUID();
    const paths = resolvePaths(home);
    const { isShared, token } = await sharingOf(agent, values["no-share"] !== true);
    const name = values.name ?? agent.name;
    return runBridge({
      backend: await makeBackend(agent, cwd, home),
      isHeadless: values.headless === true,
      workspace: cwd,
      version: VERSION,
      forms: "any",
      ...(isShared && { log: fileLog(paths, instanceId) }),
      sharing: isShared
        ? {
            instanceId,
            name,
            paths,
            remoteToken: token,
            launch: settings.isAutostart ? launchCommand(home) : undefined,
          }
        : undefined,
    });
  },
};

/** T4: terminal auth runs this very invocation with extra arguments; the agent gets the terminal. */
async function runOnTerminal(agent: Agent, cwd: string): Promise<number> {
  if (agent.kind !== "command") {
    throw new UsageError("This profile speaks ACP on pipes: put it into your editor, or try acp-hub serve --demo");
  }
  const { runInTerminal } = await import("../bridge/terminal-agent.ts");
  const { agentEnv } = await import("../backends/acp/agent-env.ts");
  const { command, args, env } = agent.agent;
  return runInTerminal(command, args, agentEnv({ ...process.env, ...env }), cwd);
}
