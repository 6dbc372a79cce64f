/** Who stands behind a request, as its credential says (contract §2). */
import { type DeviceId, deviceId } from "../protocol/ids.ts";
import { SCOPES, type Scope } from "../protocol/scopes.ts";

export interface Principal {
  readonly deviceId: DeviceId;
  /** The device's recorded name: what "allowed by" shows. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  /** Epoch milliseconds; only for tokens of an external issuer, whose sockets end then. */
  readonly expiresAt?: number;
}

/** The owner on the local socket: file permissions are the credential (contract §1). */
export const owner: Principal = { deviceId: deviceId("local"), name: "this computer", scopes: new Set(SCOPES) };
