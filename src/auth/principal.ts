/** Who stands behind a request, as the record of the credential says: nothing in here is the client's own claim. */
import type { DeviceKind, DeviceRecord } from "../protocol/devices.ts";
import { type DeviceId, deviceId } from "../protocol/ids.ts";
import { SCOPES, type Scope } from "../protocol/scopes.ts";

/** How the credential came. */
export type Via = "bearer" | "cookie" | "ticket" | "subprotocol" | "query" | "issuer-header" | "local";

export interface Principal {
  readonly deviceId: DeviceId;
  /** The device's recorded name: what "allowed by" shows. */
  readonly name: string;
  readonly kind: DeviceKind | "local";
  readonly scopes: ReadonlySet<Scope>;
  /** Epoch milliseconds at which a socket opened with it has to end; absent for credentials that live with their device. */
  readonly expiresAt?: number;
  readonly via: Via;
}

/** The owner on the local socket: file permissions are the credential (contract §1). */
export const LOCAL_OWNER: Principal = {
  deviceId: deviceId("local"),
  name: "this computer",
  kind: "local",
  scopes: new Set(SCOPES),
  via: "local",
};

/** `expiresAt`: of the credential that was shown; the record's own end counts too, whichever is first. */
export function principalOf(record: DeviceRecord, via: Via, expiresAt?: number): Principal {
  const ends = [expiresAt, record.expiresAt].filter((end) => end !== undefined);
  return {
    deviceId: record.deviceId,
    name: record.name,
    kind: record.kind,
    scopes: new Set(record.scopes),
    ...(ends.length > 0 && { expiresAt: Math.min(...ends) }),
    via,
  };
}
