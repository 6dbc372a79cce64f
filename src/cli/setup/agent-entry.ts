/** What an editor is to run: this very acp-hub, by absolute paths, because editors started from a desktop have a short PATH. */
export interface AgentEntry {
  /** As the editor shows it. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface EntryInput {
  readonly node: string;
  readonly script: string;
  readonly home: string | undefined;
  readonly name: string | undefined;
  /** A profile's name, or an agent's own command. */
  readonly agent: { readonly profile: string } | { readonly command: readonly [string, ...string[]] };
}

export function agentEntry({ node, script, home, name, agent }: EntryInput): AgentEntry {
  const own = home === undefined ? [] : ["--home", home];
  const what = "profile" in agent ? [agent.profile] : ["--", ...agent.command];
  const short = "profile" in agent ? agent.profile : agent.command[0].slice(agent.command[0].lastIndexOf("/") + 1);
  return { name: name ?? `${short} via acp-hub`, command: node, args: [script, "bridge", ...own, ...what] };
}
