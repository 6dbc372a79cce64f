/** Access tokens: 15 minutes, the device as subject. They carry no rights: those are read from the device's record. */
import { type DeviceId, deviceId } from "../../protocol/ids.ts";
import { type AuthFailure, isAuthFailure } from "../failures.ts";
import type { Clock, RandomBytes } from "../ports.ts";
import { randomSecret } from "../secrets.ts";
import { signToken, verifyToken } from "./jwt.ts";
import type { KeyRing } from "./keys.ts";

export const ACCESS_TOKEN_MS = 900_000;

export interface AccessToken {
  readonly accessToken: string;
  /** Seconds. */
  readonly expiresIn: number;
}

export class AccessTokens {
  readonly #keys: KeyRing;
  readonly #clock: Clock;
  readonly #random: RandomBytes;

  constructor(keys: KeyRing, clock: Clock, random: RandomBytes) {
    this.#keys = keys;
    this.#clock = clock;
    this.#random = random;
  }

  async issue(device: DeviceId): Promise<AccessToken> {
    const now = this.#clock.now();
    const claims = { deviceId: device, jti: randomSecret(this.#random, 16), expiresAt: now + ACCESS_TOKEN_MS };
    const accessToken = await signToken(this.#keys, "at+jwt", claims, now);
    return { accessToken, expiresIn: ACCESS_TOKEN_MS / 1_000 };
  }

  /** The device it was made for. Whether that device still has rights is the caller's question. */
  async verify(token: string): Promise<{ readonly deviceId: DeviceId } | AuthFailure> {
    const claims = await verifyToken(this.#keys, "at+jwt", token, this.#clock);
    return isAuthFailure(claims) ? claims : { deviceId: deviceId(claims.deviceId) };
  }
}
