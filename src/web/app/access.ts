/** Whether this browser may use the hub, learned from the hub's answers. */
import { ApiError, type Device, type HubApi, Observable } from "../../client/index.ts";
import { isScope, type Scope } from "../../protocol/scopes.ts";
import { forgetAppKey, keepAppKey, keepScopes, readAppKey, readScopes } from "../platform/app-key.ts";

export type Access =
  /** The device has a key and the hub has not said yet that it is good: taken for paired, with the rights it had. */
  | { readonly kind: "checking"; readonly scopes: readonly string[] | undefined }
  /** No credential, or the hub does not know it (any more). */
  | { readonly kind: "unpaired"; readonly wasRevoked: boolean }
  | { readonly kind: "paired"; readonly self: Device | undefined; readonly devices: readonly Device[] }
  /** The hub does not answer: what is on the device can be read. */
  | { readonly kind: "unreachable" };

export class AccessStore {
  readonly access: Observable<Access> = new Observable<Access>(
    readAppKey() === undefined ? { kind: "unpaired", wasRevoked: false } : { kind: "checking", scopes: readScopes() },
  );
  readonly #api: HubApi;

  constructor(api: HubApi) {
    this.#api = api;
  }

  /** Asks the hub who we are. Never throws. */
  async check(): Promise<void> {
    if (readAppKey() === undefined) {
      if (this.access.value.kind !== "unpaired") this.access.set({ kind: "unpaired", wasRevoked: false });
      return;
    }
    try {
      const devices = await this.#api.devices();
      const self = devices.find((device) => device.isSelf) ?? (devices.length === 1 ? devices[0] : undefined);
      this.access.set({ kind: "paired", self, devices });
      if (self !== undefined) keepScopes(self.scopes);
    } catch (error) {
      this.#failed(error);
    }
  }

  /** Uses a pairing code. Throws what the hub said. */
  async pair(code: string, name: string): Promise<void> {
    keepAppKey(await this.#api.pairBrowser(code, name));
    await this.check();
  }

  /** The hub refused our credential while we were using it. */
  revoked(): void {
    const wasRevoked = readAppKey() !== undefined;
    forgetAppKey();
    if (this.access.value.kind !== "unpaired") this.access.set({ kind: "unpaired", wasRevoked });
  }

  async logout(): Promise<void> {
    await this.#api.logout();
    forgetAppKey();
    this.access.set({ kind: "unpaired", wasRevoked: false });
  }

  #failed(error: unknown): void {
    if (!(error instanceof ApiError)) throw error;
    // 403: paired, but without the right to read devices.
    if (error.status === 401) this.revoked();
    else if (error.status === 403) this.access.set({ kind: "paired", self: undefined, devices: [] });
    else if (this.access.value.kind !== "paired") this.access.set({ kind: "unreachable" });
  }
}

/** Undefined while the rights are unknown: then the hub is asked and says no itself. */
export function scopesOf(access: Access): ReadonlySet<Scope> | undefined {
  const scopes =
    access.kind === "checking" ? access.scopes : access.kind === "paired" ? access.self?.scopes : undefined;
  return scopes === undefined ? undefined : new Set(scopes.filter(isScope));
}
