/** Tokens of `token create`: a signed JWT tied to a record. Without the record it is nothing, so revoking works at once. */
import { type DeviceId, deviceId } from "../../protocol/ids.ts";
import { type AuthFailure, authFailure, isAuthFailure } from "../failures.ts";
import type { Clock, CredentialStore, RandomBytes } from "../ports.ts";
import { randomSecret } from "../secrets.ts";
import { signToken, verifyToken } from "./jwt.ts";
import type { KeyRing } from "./keys.ts";

const DAY_MS = 86_400_000;
/** No token lives longer: a retired key has to end some day. */
export const LONG_LIVED_MS_MAX: number = 366 * DAY_MS;
export const LONG_LIVED_MS_DEFAULT: number = 365 * DAY_MS;

/** The life a caller asked for, within the bounds; at least a minute. */
export const longLivedMs = (ttlMs: number = LONG_LIVED_MS_DEFAULT): number =>
  Math.min(Math.max(ttlMs, 60_000), LONG_LIVED_MS_MAX);

export class LongLivedTokens {
  readonly #keys: KeyRing;
  readonly #store: CredentialStore;
  readonly #clock: Clock;
  readonly #random: RandomBytes;

  constructor(keys: KeyRing, store: CredentialStore, clock: Clock, random: RandomBytes) {
    this.#keys = keys;
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  /** A token for a device that is recorded already. Throws when the record cannot be written: then there is no token. */
  async issue(device: DeviceId, expiresAt: number): Promise<string> {
    const now = this.#clock.now();
    const jti = randomSecret(this.#random, 16);
    this.#store.putCredential({ id: jti, deviceId: device, kind: "token", createdAt: now, expiresAt });
    return await signToken(this.#keys, "acp-hub-token+jwt", { deviceId: device, jti, expiresAt }, now);
  }

  /** The device of its record. Throws when records cannot be read. */
  async verify(token: string): Promise<{ readonly deviceId: DeviceId } | AuthFailure> {
    const claims = await verifyToken(this.#keys, "acp-hub-token+jwt", token, this.#clock);
    if (isAuthFailure(claims)) return claims;
    const record = this.#store.getCredential(claims.jti);
    if (record?.kind !== "token") return authFailure("revoked-device");
    if (record.deviceId !== deviceId(claims.deviceId)) return authFailure("invalid-credential");
    return { deviceId: record.deviceId };
  }
}
