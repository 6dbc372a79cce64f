/** A device as the hub lists it (contract §3 `GET /api/devices`). The record holds no secret, hashed or not. */
import type { DeviceId } from "./ids.ts";
import type { Scope } from "./scopes.ts";

/**
 * `app` paired by code and holds a refresh credential, `browser` paired by code and holds a cookie and a key, `script` was
 * made with `token create`, `remote` is the predecessor's environment token, `external` is a subject of a trusted issuer.
 */
export type DeviceKind = "app" | "browser" | "script" | "remote" | "external";

/** All times are epoch milliseconds. */
export interface DeviceRecord {
  readonly deviceId: DeviceId;
  readonly name: string;
  readonly kind: DeviceKind;
  readonly scopes: readonly Scope[];
  /** True when its token is also taken as `?token=`. */
  readonly queryAllowed: boolean;
  readonly createdAt: number;
  /** The name of the device that let it in. */
  readonly createdBy?: string;
  readonly expiresAt?: number;
  readonly revokedAt?: number;
  readonly revokedWhy?: string;
  readonly lastSeenAt?: number;
  readonly lastAddress?: string;
}
