/** Where `attach` dials, and with what (contract §1): the hub of this computer by its socket, another by address and token. */
import { readFile, stat } from "node:fs/promises";
import { isLoopback } from "../../hub/edge.ts";
import { UsageError } from "../exit.ts";
import type { HubTarget } from "./hub-socket.ts";

export interface TargetWanted {
  readonly instance: string | undefined;
  readonly session: string | undefined;
  readonly url: string | undefined;
  readonly tokenFile: string | undefined;
  /** `ACP_HUB_TOKEN`. */
  readonly token: string | undefined;
  readonly apiSocket: string;
}

export interface FoundTarget extends HubTarget {
  /** What a person should know. */
  readonly warnings: readonly string[];
}

/** What a WebSocket subprotocol may hold; tokens of hubs do. */
const TOKEN = /^[A-Za-z0-9._~+-]+$/;

export async function findTarget(wanted: TargetWanted): Promise<FoundTarget> {
  const query = new URLSearchParams();
  if (wanted.instance !== undefined) query.set("instance", wanted.instance);
  if (wanted.session !== undefined) query.set("session", wanted.session);
  const search = query.size === 0 ? "" : `?${query.toString()}`;
  if (wanted.url === undefined) {
    const warnings =
      wanted.tokenFile === undefined ? [] : ["a token is only used with --url: this computer's hub needs none"];
    return { url: `ws+unix://${wanted.apiSocket}:/acp${search}`, protocols: ["acp"], warnings };
  }
  const url = acpUrl(wanted.url);
  const warnings: string[] = [];
  if (url.protocol === "ws:" && !isLoopback(url.hostname.replace(/^\[|\]$/g, "")))
    warnings.push("the token and everything said travel unencrypted: use an https address beyond your own network");
  const token = await readToken(wanted, warnings);
  return { url: `${url.href}${search}`, protocols: ["acp", `bearer.${token}`], warnings };
}

/** `https://host/base` → `wss://host/base/acp`. */
function acpUrl(text: string): URL {
  const address = URL.canParse(text) ? new URL(text) : undefined;
  const protocol = { "http:": "ws:", "https:": "wss:", "ws:": "ws:", "wss:": "wss:" }[address?.protocol ?? ""];
  if (address === undefined || protocol === undefined)
    throw new UsageError(`--url takes the address of a hub, such as https://hub.example, not "${text}"`);
  if (address.username !== "" || address.password !== "" || address.search !== "" || address.hash !== "")
    throw new UsageError("--url takes an address alone: the token belongs into ACP_HUB_TOKEN or a file");
  const path = address.pathname.replace(/\/+$/, "");
  return new URL(`${protocol}//${address.host}${path.endsWith("/acp") ? path : `${path}/acp`}`);
}

async function readToken(wanted: TargetWanted, warnings: string[]): Promise<string> {
  const token = (
    wanted.tokenFile === undefined ? wanted.token : await readTokenFile(wanted.tokenFile, warnings)
  )?.trim();
  if (token === undefined || token === "")
    throw new UsageError(
      "A hub at an address needs a token: put it into ACP_HUB_TOKEN, or into a file for --token-file",
    );
  if (!TOKEN.test(token)) throw new UsageError("The token holds characters that no token of a hub has");
  return token;
}

async function readTokenFile(path: string, warnings: string[]): Promise<string> {
  try {
    if (process.platform !== "win32" && ((await stat(path)).mode & 0o077) !== 0)
      warnings.push(`others can read ${path}: chmod 600 it`);
    return await readFile(path, "utf8");
  } catch (error) {
    throw new UsageError(`The token file cannot be read (${(error as NodeJS.ErrnoException).code ?? "failed"})`);
  }
}
