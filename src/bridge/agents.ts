/** The agents a bridge can own: a command of any kind, or one of our own backends. Heavy ones are loaded only when asked for. */
import { acpBackend } from "../backends/acp/acp-backend.ts";
import { agentEnv } from "../backends/acp/agent-env.ts";
import type { Backend } from "../backends/backend.ts";

export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

export type AgentChoice =
  | { readonly kind: "command"; readonly agent: AgentCommand; readonly name: string }
  | { readonly kind: "demo"; readonly name: string }
  /** `config`: the `zcode` section of the configuration, as it stands there. */
  | { readonly kind: "zcode"; readonly name: string; readonly config: object };

/** Starts nothing yet. */
export async function makeBackend(agent: AgentChoice, cwd: string, version: string): Promise<Backend> {
  switch (agent.kind) {
    case "command": {
      const { command, args, env } = agent.agent;
      const own = env === undefined ? {} : { env: { ...process.env, ...env } };
      return acpBackend({ command, args, cwd, name: agent.name, ...own });
    }
    case "demo":
      return (await import("../backends/demo/demo-backend.ts")).demoBackend();
    case "zcode":
      return (await import("../backends/zcode/backend.ts")).zcodeBackend({ config: agent.config, version });
  }
}

export interface Sharing {
  readonly isShared: boolean;
  /** The token clients of the predecessor present. */
  readonly token?: string | undefined;
  /** Where a hub that this bridge starts is to listen, where the profile has a word in it. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  /** Words for a person when something was asked for and cannot be had. */
  readonly problem?: string | undefined;
}

/** Whether to share: the zcode profile has a gate of its own in the environment (contract §1), the others only `--no-share`. */
export async function sharingOf(agent: AgentChoice, isWanted: boolean): Promise<Sharing> {
  if (!isWanted || agent.kind !== "zcode") return { isShared: isWanted };
  const { zcodeRemoteGate } = await import("../backends/zcode/remote-gate.ts");
  const { share, ...gate } = zcodeRemoteGate(process.env);
  return { isShared: share, ...gate };
}

/** The environment an agent gets: nothing of the hub's own is in it (contract §2). */
export const environmentOf = (agent: AgentCommand): NodeJS.ProcessEnv => agentEnv({ ...process.env, ...agent.env });
