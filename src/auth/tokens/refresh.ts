/**
 * Refresh credentials: `family.secret`, both random, kept as hashes. The secret changes at every use; the family stays.
 * Whoever shows a family with another secret than its newest holds one that was used before: either they or the device
 * stole it, nobody can tell which, so the device is revoked (reuse revokes the device, contract §2).
 */
import type { DeviceId } from "../../protocol/ids.ts";
import { type AuthFailure, authFailure } from "../failures.ts";
import type { Clock, CredentialRecord, CredentialStore, RandomBytes } from "../ports.ts";
import { hashSecret, isSameHash, randomSecret } from "../secrets.ts";

/** A device that stays away longer pairs again. */
export const REFRESH_MS: number = 90 * 86_400_000;

const FORM = /^ahr_([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/;

export type Refreshed =
  | { readonly kind: "rotated"; readonly deviceId: DeviceId; readonly refreshToken: string }
  /** Somebody used it before: the caller revokes the device. */
  | { readonly kind: "reused"; readonly deviceId: DeviceId }
  | { readonly kind: "refused"; readonly failure: AuthFailure };

const refused = (failure: AuthFailure): Refreshed => ({ kind: "refused", failure });

export class RefreshTokens {
  readonly #store: CredentialStore;
  readonly #clock: Clock;
  readonly #random: RandomBytes;

  constructor(store: CredentialStore, clock: Clock, random: RandomBytes) {
    this.#store = store;
    this.#clock = clock;
    this.#random = random;
  }

  /** A first one for a device. Throws when it cannot be recorded. */
  issue(deviceId: DeviceId): string {
    const now = this.#clock.now();
    const [family, secret] = [randomSecret(this.#random, 16), randomSecret(this.#random)];
    this.#store.putCredential({
      id: hashSecret(family),
      deviceId,
      kind: "refresh",
      secretHash: hashSecret(secret),
      createdAt: now,
      expiresAt: now + REFRESH_MS,
    });
    return `ahr_${family}.${secret}`;
  }

  /** Takes one and gives the next. Throws when records cannot be read or written. */
  rotate(token: string): Refreshed {
    const [, family, secret] = FORM.exec(token) ?? [];
    if (family === undefined || secret === undefined) return refused(authFailure("invalid-credential"));
    const record = this.#store.getCredential(hashSecret(family));
    if (record?.kind !== "refresh" || record.secretHash === undefined)
      return refused(authFailure("invalid-credential"));
    if ((record.expiresAt ?? 0) <= this.#clock.now()) return refused(authFailure("expired-credential"));
    const shown = hashSecret(secret);
    if (!isSameHash(shown, record.secretHash)) return { kind: "reused", deviceId: record.deviceId };
    return this.#replace(record, shown, family);
  }

  #replace(record: CredentialRecord, shown: string, family: string): Refreshed {
    const secret = randomSecret(this.#random);
    const change = { secretHash: hashSecret(secret), expiresAt: this.#clock.now() + REFRESH_MS };
    // Compared again by the store: of two uses at the same time the second is a reuse.
    if (!this.#store.replaceSecret(record.id, shown, change)) return { kind: "reused", deviceId: record.deviceId };
    return { kind: "rotated", deviceId: record.deviceId, refreshToken: `ahr_${family}.${secret}` };
  }
}
