/** The devices: who may come in, with which rights, and the moment they may not any more. */
import type { DeviceKind, DeviceRecord } from "../protocol/devices.ts";
import { type DeviceId, deviceId } from "../protocol/ids.ts";
import type { Scope } from "../protocol/scopes.ts";
import { type AuthFailure, authFailure } from "./failures.ts";
import type { Actor, AuditSink, Clock, CredentialStore, RandomBytes } from "./ports.ts";
import { randomSecret } from "./secrets.ts";

export interface NewDevice {
  readonly name: string;
  readonly kind: DeviceKind;
  readonly scopes: readonly Scope[];
  readonly queryAllowed?: boolean;
  readonly expiresAt?: number;
  readonly createdBy?: string;
}

export type RevokedListener = (deviceId: DeviceId) => void;

export type ScopesListener = (deviceId: DeviceId, scopes: readonly Scope[]) => void;

export interface DevicesOptions {
  readonly store: CredentialStore;
  readonly audit: AuditSink;
  readonly clock: Clock;
  readonly random: RandomBytes;
}

/** A visit is written down this often; more would be a write for every request. */
const SEEN_EVERY_MS = 60_000;
const SEEN_KNOWN_MAX = 4_096;
const NAME_CHARS_MAX = 64;

/** Names come from other devices and are shown beside "allowed by": nothing invisible, nothing that turns text around. */
export function cleanName(name: string, fallback: string): string {
  const visible = name.normalize("NFC").replace(/[\p{C}\p{Zl}\p{Zp}]/gu, " ");
  return [...visible.replace(/\s+/g, " ").trim()].slice(0, NAME_CHARS_MAX).join("").trim() || fallback;
}

export class Devices {
  readonly #options: DevicesOptions;
  readonly #listeners = new Set<RevokedListener>();
  readonly #scopesListeners = new Set<ScopesListener>();
  readonly #seenAt = new Map<DeviceId, number>();

  constructor(options: DevicesOptions) {
    this.#options = options;
  }

  /** Throws when it cannot be recorded. */
  create(device: NewDevice): DeviceRecord {
    const { store, clock, random } = this.#options;
    const { queryAllowed, expiresAt, createdBy } = device;
    const record: DeviceRecord = {
      deviceId: deviceId(`d_${randomSecret(random, 12)}`),
      name: cleanName(device.name, "unnamed device"),
      kind: device.kind,
      scopes: [...device.scopes],
      queryAllowed: queryAllowed ?? false,
      createdAt: clock.now(),
      ...(createdBy !== undefined && { createdBy }),
      ...(expiresAt !== undefined && { expiresAt }),
    };
    store.putDevice(record);
    return record;
  }

  /** All of them, revoked ones too, in the order they were made. */
  list(): readonly DeviceRecord[] {
    return this.#options.store.listDevices();
  }

  get(id: DeviceId): DeviceRecord | undefined {
    return this.#options.store.getDevice(id);
  }

  /** The record while it gives rights; else why not. Read anew each time: rights end at once. */
  live(id: DeviceId): DeviceRecord | AuthFailure {
    const record = this.#options.store.getDevice(id);
    if (record === undefined || record.revokedAt !== undefined) return authFailure("revoked-device");
    const isEnded = record.expiresAt !== undefined && record.expiresAt <= this.#options.clock.now();
    return isEnded ? authFailure("expired-credential") : record;
  }

  /** False when there is no such device. */
  rename(id: DeviceId, name: string, by: Actor): boolean {
    const record = this.get(id);
    if (record === undefined) return false;
    const renamed = { ...record, name: cleanName(name, record.name) };
    this.#options.store.putDevice(renamed);
    this.#audit("device.rename", id, by, { from: record.name, to: renamed.name });
    return true;
  }

  /** Replaces a record as it is, e.g. with the rights an issuer gives today. */
  replace(record: DeviceRecord): void {
    const before = this.get(record.deviceId)?.scopes;
    this.#options.store.putDevice(record);
    const isSame = before?.length === record.scopes.length && before.every((scope) => record.scopes.includes(scope));
    if (before === undefined || isSame) return;
    for (const listener of [...this.#scopesListeners]) listener(record.deviceId, record.scopes);
  }

  /** Calls back in the same turn in which the rights of a device have become others. Gives the end of it. */
  onScopesChanged(listener: ScopesListener): () => void {
    this.#scopesListeners.add(listener);
    return () => this.#scopesListeners.delete(listener);
  }

  /** Ends its rights, through the listeners its sockets, and its credentials. False when there is none, or none left. */
  revoke(id: DeviceId, why: string, by: Actor): boolean {
    const { store, clock } = this.#options;
    const record = this.get(id);
    if (record === undefined || record.revokedAt !== undefined) return false;
    store.putDevice({ ...record, revokedAt: clock.now(), revokedWhy: why });
    this.#audit("device.revoke", id, by, { why });
    this.#seenAt.delete(id);
    for (const listener of [...this.#listeners]) listener(id);
    // Without the device they open nothing. Last, so that who revoked it is on the disk with it.
    store.deleteCredentials(id);
    return true;
  }

  /** Calls back in the same turn in which a device is revoked. Gives the end of it. */
  onRevoked(listener: RevokedListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Notes a visit, now and then. A full disk keeps nobody out. */
  seen(id: DeviceId, address: string): void {
    const { clock } = this.#options;
    const now = clock.monotonic();
    if (now - (this.#seenAt.get(id) ?? Number.NEGATIVE_INFINITY) < SEEN_EVERY_MS) return;
    if (this.#seenAt.size >= SEEN_KNOWN_MAX) this.#seenAt.clear();
    this.#seenAt.set(id, now);
    try {
      this.#options.store.seen(id, clock.now(), address);
    } catch {
      // The store tells its owner; the visitor's rights do not hang on this.
    }
  }

  #audit(action: string, target: DeviceId, actor: Actor, detail: Record<string, string>): void {
    this.#options.audit.append({ at: this.#options.clock.now(), actor, action, target, detail });
  }
}
