/**
 * The predecessor's remote token (`ZCODE_ACP_REMOTE_TOKEN`): one secret a person chose. It is taken when it is hard enough to
 * guess, as a device of its own with `driver` and `instances:create`; then it is a credential like any other: listed, revocable.
 */
import { type DeviceId, deviceId } from "../../protocol/ids.ts";
import { PRESETS, type Scope } from "../../protocol/scopes.ts";
import { entropyBits, SECRET_BITS_MIN } from "../../protocol/secret-entropy.ts";
import { type AuthFailure, authFailure } from "../failures.ts";
import type { Clock, CredentialStore } from "../ports.ts";
import { hashSecret } from "../secrets.ts";

export const REMOTE_TOKEN_SCOPES: readonly Scope[] = [...PRESETS.driver, "instances:create"];

/** The same token is the same device on every start. */
const deviceOf = (hash: string): DeviceId => deviceId(`remote_${hash.slice(0, 22)}`);

export class RemoteTokens {
  readonly #store: CredentialStore;
  readonly #clock: Clock;

  constructor(store: CredentialStore, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Records the token if it is new. Refused when weak, or when its device was revoked. Throws when it cannot be recorded. */
  adopt(token: string): { readonly deviceId: DeviceId; readonly isNew: boolean } | AuthFailure {
    const bits = entropyBits(token);
    if (bits < SECRET_BITS_MIN) {
      const detail = `The remote token is too easy to guess (about ${bits} bits; ${SECRET_BITS_MIN} are needed). Make one with: openssl rand -hex 32`;
      return authFailure("weak-token", { detail });
    }
    const hash = hashSecret(token);
    const id = deviceOf(hash);
    const known = this.#store.getDevice(id);
    if (known?.revokedAt !== undefined) {
      return authFailure("revoked-device", { detail: "This remote token was revoked: choose another one" });
    }
    if (known !== undefined) return { deviceId: id, isNew: false };
    const createdAt = this.#clock.now();
    this.#store.putDevice({
      deviceId: id,
      name: "remote token",
      kind: "remote",
      scopes: REMOTE_TOKEN_SCOPES,
      queryAllowed: true,
      createdAt,
    });
    this.#store.putCredential({ id: hash, deviceId: id, kind: "secret", createdAt });
    return { deviceId: id, isNew: true };
  }

  /** The device of a secret somebody shows. */
  find(token: string): { readonly deviceId: DeviceId } | AuthFailure {
    const record = this.#store.getCredential(hashSecret(token));
    return record?.kind === "secret" ? { deviceId: record.deviceId } : authFailure("invalid-credential");
  }
}
