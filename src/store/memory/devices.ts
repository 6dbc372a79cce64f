/** Devices and credentials in memory. */
import type { DeviceRecord } from "../../protocol/devices.ts";
import type { DeviceId } from "../../protocol/ids.ts";
import { StoreError } from "../errors.ts";
import type { CredentialRecord, DeviceStore, SecretChange } from "../ports.ts";

export class MemoryDevices implements DeviceStore {
  readonly #devices = new Map<DeviceId, DeviceRecord>();
  readonly #credentials = new Map<string, CredentialRecord>();

  putDevice(record: DeviceRecord): void {
    this.#devices.set(record.deviceId, structuredClone(record));
  }

  getDevice(deviceId: DeviceId): DeviceRecord | undefined {
    return this.#devices.get(deviceId);
  }

  listDevices(): readonly DeviceRecord[] {
    return [...this.#devices.values()].sort((a, b) => a.createdAt - b.createdAt || (a.deviceId < b.deviceId ? -1 : 1));
  }

  seen(deviceId: DeviceId, at: number, address: string): void {
    const record = this.#devices.get(deviceId);
    if (record !== undefined) this.#devices.set(deviceId, { ...record, lastSeenAt: at, lastAddress: address });
  }

  putCredential(record: CredentialRecord): void {
    if (this.#credentials.has(record.id) || !this.#devices.has(record.deviceId)) {
      throw new StoreError("constraint", "a credential needs a device and an id of its own");
    }
    this.#credentials.set(record.id, structuredClone(record));
  }

  getCredential(id: string): CredentialRecord | undefined {
    return this.#credentials.get(id);
  }

  listCredentials(deviceId: DeviceId): readonly CredentialRecord[] {
    const found = [...this.#credentials.values()].filter((record) => record.deviceId === deviceId);
    return found.sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  replaceSecret(id: string, from: string, to: SecretChange): boolean {
    const record = this.#credentials.get(id);
    if (record?.secretHash !== from) return false;
    this.#credentials.set(id, { ...record, ...to });
    return true;
  }

  deleteCredentials(deviceId: DeviceId): void {
    for (const record of this.listCredentials(deviceId)) this.#credentials.delete(record.id);
  }

  pruneCredentials(now: number): number {
    const due = [...this.#credentials.values()].filter(({ expiresAt }) => expiresAt !== undefined && expiresAt < now);
    for (const record of due) this.#credentials.delete(record.id);
    return due.length;
  }
}
