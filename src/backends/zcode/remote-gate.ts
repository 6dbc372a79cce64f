/** Whether a `zcode` bridge shares its session, from the environment variables its users already have. Pure. */
import { entropyBits, SECRET_BITS_MIN } from "../../protocol/secret-entropy.ts";

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
  if (entropyBits(token) < SECRET_BITS_MIN) {
    const words = `ZCODE_ACP_REMOTE_TOKEN is too easy to guess (${SECRET_BITS_MIN} bits of entropy are needed, e.g. from "openssl rand -hex 32"); not shared`;
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
