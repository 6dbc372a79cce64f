/** What authentication needs from outside: time, chance, a place for records, a place for the audit. All tiny. */
import type { DeviceRecord } from "../protocol/devices.ts";
import type { DeviceId } from "../protocol/ids.ts";
import type { JsonObject } from "../protocol/json.ts";

export interface Clock {
  /** Epoch milliseconds. */
  now(): number;
  /** Milliseconds that only grow: what lives for minutes must not live longer because a clock was set back. */
  monotonic(): number;
}

/** `count` bytes nobody can predict. */
export type RandomBytes = (count: number) => Uint8Array;

/** `id` is a hash, or the `jti` of a signed token; `secretHash` is of what has to be shown besides. */
export interface CredentialRecord {
  readonly id: string;
  readonly deviceId: DeviceId;
  readonly kind: "refresh" | "browser" | "token" | "secret";
  readonly secretHash?: string;
  readonly createdAt: number;
  readonly expiresAt?: number;
}

/** Where devices and hashes are kept. Every method may throw: a credential nobody recorded is not given out. */
export interface CredentialStore {
  putDevice(record: DeviceRecord): void;
  getDevice(deviceId: DeviceId): DeviceRecord | undefined;
  listDevices(): readonly DeviceRecord[];
  seen(deviceId: DeviceId, at: number, address: string): void;
  putCredential(record: CredentialRecord): void;
  getCredential(id: string): CredentialRecord | undefined;
  replaceSecret(id: string, from: string, to: { readonly secretHash: string; readonly expiresAt: number }): boolean;
  deleteCredentials(deviceId: DeviceId): void;
}

export interface Actor {
  readonly deviceId: string;
  readonly name: string;
  readonly address?: string;
}

/** `action` is a constant, e.g. `device.revoke`; nothing here may hold a secret. */
export interface AuditEvent {
  readonly at: number;
  readonly actor: Actor;
  readonly action: string;
  readonly target?: string;
  readonly detail?: JsonObject;
}

export interface AuditSink {
  append(event: AuditEvent): void;
}
