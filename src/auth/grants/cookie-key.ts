/**
 * The browser session of the hub's own app: a cookie and a key, each worth nothing alone. The cookie cannot be read by
 * scripts, but goes to every port of the host, and the agent's own dev servers run there; the key is in the app's
 * `localStorage`, which belongs to one port, but scripts can read it.
 */
import type { DeviceId } from "../../protocol/ids.ts";
import { type AuthFailure, authFailure } from "../failures.ts";
import type { Clock, CredentialStore, RandomBytes } from "../ports.ts";
import { hashSecret, isSameHash, randomSecret } from "../secrets.ts";

/** Browsers keep no cookie longer than 400 days; a session that is used is renewed by pairing only. */
const SESSION_MS = 180 * 86_400_000;
/** A page of another port may set a cookie of the same name for a narrower path: both are sent, and one is ours. */
const SAME_NAME_MAX = 4;

export interface CookieOptions {
  /** The hub's port: cookies do not know ports, so it stands in the name. */
  readonly port: number;
  /** "" or "/base". */
  readonly basePath: string;
  readonly isSecure: boolean;
}

export interface BrowserSession {
  /** A whole `Set-Cookie` value. */
  readonly setCookie: string;
  /** For `X-Acp-Hub-Key`. */
  readonly key: string;
}

export const cookieName = (port: number): string => `acp-hub-${port}`;

const attributes = ({ basePath, isSecure }: CookieOptions): string =>
  `Path=${basePath === "" ? "/" : basePath}; HttpOnly; SameSite=Strict${isSecure ? "; Secure" : ""}`;

/** Ends the session in the browser. */
export const clearedCookie = (options: CookieOptions): string =>
  `${cookieName(options.port)}=; Max-Age=0; ${attributes(options)}`;

/** The values sent under `name`, in the order of the header. */
export function cookieValues(header: string, name: string): string[] {
  return header
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1))
    .slice(0, SAME_NAME_MAX);
}

export class BrowserSessions {
  readonly #store: CredentialStore;
  readonly #clock: Clock;
  readonly #random: RandomBytes;

  constructor(store: CredentialStore, clock: Clock, random: RandomBytes) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  /** Throws when it cannot be recorded. */
  issue(deviceId: DeviceId, options: CookieOptions): BrowserSession {
    const now = this.#clock.now();
    const [cookie, key] = [randomSecret(this.#random), randomSecret(this.#random)];
    this.#store.putCredential({
      id: hashSecret(cookie),
      deviceId,
      kind: "browser",
      secretHash: hashSecret(key),
      createdAt: now,
      expiresAt: now + SESSION_MS,
    });
    const setCookie = `${cookieName(options.port)}=${cookie}; Max-Age=${SESSION_MS / 1_000}; ${attributes(options)}`;
    return { setCookie, key };
  }

  /** The device of cookie and key together. Throws when records cannot be read. */
  find(cookies: readonly string[], key: string | undefined): { readonly deviceId: DeviceId } | AuthFailure {
    if (key === undefined) return authFailure("key-missing");
    const shown = hashSecret(key);
    let isKnown = false;
    for (const cookie of cookies) {
      const record = this.#store.getCredential(hashSecret(cookie));
      if (record?.kind !== "browser" || record.secretHash === undefined) continue;
      isKnown = true;
      if (!isSameHash(record.secretHash, shown)) continue;
      const isEnded = (record.expiresAt ?? 0) <= this.#clock.now();
      return isEnded ? authFailure("expired-credential") : { deviceId: record.deviceId };
    }
    // A cookie nobody knows was revoked, far sooner than guessed: its browser must not be kept from pairing again. A wrong key
    // to a good cookie is somebody else's.
    return authFailure(isKnown ? "invalid-credential" : "expired-credential");
  }
}
