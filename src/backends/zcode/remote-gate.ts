/** Whether a `zcode` bridge shares its session, from the environment variables its users already have. Pure. */

export interface RemoteGate {
  readonly share: boolean;
  /** The token remote clients present; only ever handed to the hub, never logged. */
  readonly token?: string;
  readonly host?: string;
  readonly port?: number;
  /** Words for the log when something was asked for and cannot be had. */
  readonly problem?: string;
}

const ON = new Set(["1", "true", "yes", "on"]);
export const TOKEN_BITS_MIN = 128;

/**
 * An upper bound of what a token can hold, in bits: its length times the bits of the alphabet it draws from, and never
 * more than its distinct characters allow.
 */
export function tokenBits(token: string): number {
  const classes: readonly (readonly [RegExp, number])[] = [
    [/[a-z]/, 26],
    [/[A-Z]/, 26],
    [/[0-9]/, 10],
    [/[^a-zA-Z0-9]/, 32],
  ];
  const isHex = /^[0-9a-f]+$/.test(token) || /^[0-9A-F]+$/.test(token);
  const alphabet = isHex ? 16 : classes.reduce((sum, [pattern, size]) => sum + (pattern.test(token) ? size : 0), 0);
  const counts = new Map<string, number>();
  for (const char of token) counts.set(char, (counts.get(char) ?? 0) + 1);
  let perChar = 0;
  for (const count of counts.values()) perChar -= (count / token.length) * Math.log2(count / token.length);
  // A random string repeats some characters, so its own statistics run a little low: only a clear lack of variety counts.
  const isPoor = perChar < Math.log2(alphabet) * 0.6 && perChar < 3;
  return token.length * (isPoor ? perChar : Math.log2(Math.max(alphabet, 1)));
}

/** Reads `ZCODE_ACP_REMOTE`, `ZCODE_ACP_REMOTE_TOKEN`, `ZCODE_ACP_HUB_HOST` and `ZCODE_ACP_HUB_PORT`. */
export function zcodeRemoteGate(env: Readonly<Record<string, string | undefined>>): RemoteGate {
  const wish = (env["ZCODE_ACP_REMOTE"] ?? "").trim().toLowerCase();
  if (!ON.has(wish)) return { share: false };
  const host = env["ZCODE_ACP_HUB_HOST"]?.trim();
  const port = readPort(env["ZCODE_ACP_HUB_PORT"]);
  const where = {
    ...(host === undefined || host === "" ? {} : { host }),
    ...(port === undefined || port === "invalid" ? {} : { port }),
  };
  const token = env["ZCODE_ACP_REMOTE_TOKEN"]?.trim();
  const portProblem =
    port === "invalid" ? "ZCODE_ACP_HUB_PORT is no port from 1 to 65535; the default is used" : undefined;
  // Without a token of its own a bridge shares by pairing: devices hold their own credentials.
  if (token === undefined || token === "") return { share: true, ...where, ...problem(portProblem) };
  if (tokenBits(token) < TOKEN_BITS_MIN) {
    const words = `ZCODE_ACP_REMOTE_TOKEN is too easy to guess (${TOKEN_BITS_MIN} bits of entropy are needed, e.g. from "openssl rand -hex 32"); not shared`;
    return { share: false, problem: words };
  }
  return { share: true, token, ...where, ...problem(portProblem) };
}

const problem = (words: string | undefined): { problem?: string } => (words === undefined ? {} : { problem: words });

function readPort(text: string | undefined): number | "invalid" | undefined {
  if (text === undefined || text.trim() === "") return undefined;
  const port = Number(text);
  return Number.isInteger(port) && port >= 1 && port <= 65_535 ? port : "invalid";
}
