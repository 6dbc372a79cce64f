/**
 * The environment an agent gets: ours without what belongs to the hub. An agent runs commands a model thought of, and
 * none of them may find a credential of the hub there (contract §2).
 */
export function agentEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !isOurs(name.toUpperCase())));
}

const isOurs = (name: string): boolean => name.startsWith("ACP_HUB_") || name === "ZCODE_ACP_REMOTE_TOKEN";
