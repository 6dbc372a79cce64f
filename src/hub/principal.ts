/** Who stands behind a request, as its credential says (contract §2). */

import type { Person } from "../core/interaction/url-owner.ts";
import type { DeviceKind } from "../protocol/devices.ts";
import { type DeviceId, deviceId } from "../protocol/ids.ts";
import type { Author } from "../protocol/meta.ts";
import { SCOPES, type Scope } from "../protocol/scopes.ts";

export interface Principal {
  readonly deviceId: DeviceId;
  /** The device's recorded name: what "allowed by" shows. */
  readonly name: string;
  readonly scopes: ReadonlySet<Scope>;
  readonly kind?: DeviceKind | "local";
  /** Epoch milliseconds; only for tokens of an external issuer, whose sockets end then. */
  readonly expiresAt?: number;
}

/**
 * Who is behind it (X12): all rights are the machine's owner's, but for an outside issuer's subjects. Each of those is a person of
 * its own.
 */
export function personOf({ deviceId: device, kind, scopes }: Omit<Principal, "name">): Person {
  return { device, isOwner: kind !== "external" && scopes.has("admin") };
}

/** The author of what it asks for over HTTP. */
export function authorOf(principal: Principal): Author {
  const { device, isOwner } = personOf(principal);
  return { connectionId: `http:${device}`, device, name: principal.name, isOwner };
}

/** The owner on the local socket: file permissions are the credential (contract §1). */
export const owner: Principal = { deviceId: deviceId("local"), name: "this computer", scopes: new Set(SCOPES) };
