/** A session's name across instances and hub restarts (S9): equal ids of other agents or directories are others. */
declare const brand: unique symbol;
export type SessionKey = string & { readonly [brand]: "SessionKey" };

export interface SessionName {
  readonly agent: string;
  readonly cwd: string;
  readonly sessionId: string;
}

/** The one maker. JSON keeps the parts apart whatever they hold. */
export const sessionKey = (name: SessionName): SessionKey =>
  JSON.stringify([name.agent, name.cwd, name.sessionId]) as SessionKey;

/** The one parser; undefined for what is no key. */
export function parseSessionKey(text: string): SessionName | undefined {
  let parts: unknown;
  try {
    parts = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(parts) || parts.length !== 3) return undefined;
  const [agent, cwd, sessionId] = parts as readonly unknown[];
  if (typeof agent !== "string" || typeof cwd !== "string" || typeof sessionId !== "string") return undefined;
  return { agent, cwd, sessionId };
}
