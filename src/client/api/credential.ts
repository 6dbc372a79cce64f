/** How a client proves who it is over HTTP. Sockets and event streams of the app use one-use tickets instead. */
import { isObject, stringAt } from "../../protocol/json.ts";
import { KEY_HEADER } from "../../protocol/key-header.ts";
import type { Fetch } from "./http.ts";

export interface Credential {
  headers(): Readonly<Record<string, string>>;
  /** After a 401: true when the call is worth one more try. */
  renew(): Promise<boolean>;
}

/** Cookie (sent by the browser itself) plus the key. */
export function cookieCredential(key: () => string | undefined): Credential {
  return {
    headers: () => {
      const value = key();
      return value === undefined ? {} : { [KEY_HEADER]: value };
    },
    renew: () => Promise.resolve(false),
  };
}

/** A long-lived token (`token create`). */
export function bearerCredential(token: string): Credential {
  return { headers: () => ({ Authorization: `Bearer ${token}` }), renew: () => Promise.resolve(false) };
}

export interface TokenPair {
  readonly accessToken: string;
  readonly refreshToken: string;
}

/**
 * A short access token with a rotating refresh token. Renewals are single flight: reusing a refresh token revokes the
 * device. `save` runs before the new pair is used.
 */
export function refreshingCredential(
  initial: TokenPair,
  options: { readonly baseUrl: string; readonly fetch: Fetch; readonly save: (pair: TokenPair) => Promise<void> },
): Credential {
  let pair = initial;
  let renewal: Promise<boolean> | undefined;
  const renewOnce = async (): Promise<boolean> => {
    const response = await options.fetch(`${options.baseUrl}api/token`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ refreshToken: pair.refreshToken }),
    });
    if (!response.ok) return false;
    const next = readTokenPair(await response.json());
    if (next === undefined) return false;
    await options.save(next);
    pair = next;
    return true;
  };
  return {
    headers: () => ({ Authorization: `Bearer ${pair.accessToken}` }),
    renew: () => {
      renewal ??= renewOnce()
        .catch(() => false)
        .finally(() => {
          renewal = undefined;
        });
      return renewal;
    },
  };
}

export function readTokenPair(value: unknown): TokenPair | undefined {
  if (!isObject(value)) return undefined;
  const accessToken = stringAt(value, "accessToken");
  const refreshToken = stringAt(value, "refreshToken");
  return accessToken === undefined || refreshToken === undefined ? undefined : { accessToken, refreshToken };
}
