/** Devices and the hashes of what they hold, over SQLite. Everything here throws: see `DeviceStore`. */
import type { DeviceKind, DeviceRecord } from "../../protocol/devices.ts";
import { type DeviceId, deviceId as deviceIdOf } from "../../protocol/ids.ts";
import { isScope } from "../../protocol/scopes.ts";
import type { SqlRow, Statement } from "../driver.ts";
import { durably } from "../durable.ts";
import { StoreError } from "../errors.ts";
import type { CredentialRecord, DeviceStore, SecretChange } from "../ports.ts";
import { numberAt, optionalNumber, optionalText, stringsAt, textAt } from "./columns.ts";
import { orThrow, type StoreContext } from "./guard.ts";

const KINDS: ReadonlySet<string> = new Set<DeviceKind>(["app", "browser", "script", "remote", "external"]);
const isKind = (value: string): value is DeviceKind => KINDS.has(value);

const CREDENTIAL_KINDS: ReadonlySet<string> = new Set(["refresh", "browser", "token", "secret"]);
const isCredentialKind = (value: string): value is CredentialRecord["kind"] => CREDENTIAL_KINDS.has(value);

function checked<T extends string>(value: string, is: (value: string) => value is T): T {
  if (!is(value)) throw new StoreError("damaged", "a device record has an unknown kind");
  return value;
}

function deviceOf(row: SqlRow): DeviceRecord {
  const createdBy = optionalText(row, "created_by");
  const expiresAt = optionalNumber(row, "expires_at");
  const revokedAt = optionalNumber(row, "revoked_at");
  const revokedWhy = optionalText(row, "revoked_why");
  const lastSeenAt = optionalNumber(row, "last_seen_at");
  const lastAddress = optionalText(row, "last_address");
  return {
    deviceId: deviceIdOf(textAt(row, "id")),
    name: textAt(row, "name"),
    kind: checked(textAt(row, "kind"), isKind),
    // A scope this version does not know gives no right.
    scopes: stringsAt(row, "scopes").filter(isScope),
    queryAllowed: numberAt(row, "query_allowed") === 1,
    createdAt: numberAt(row, "created_at"),
    ...(createdBy !== undefined && { createdBy }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(revokedAt !== undefined && { revokedAt }),
    ...(revokedWhy !== undefined && { revokedWhy }),
    ...(lastSeenAt !== undefined && { lastSeenAt }),
    ...(lastAddress !== undefined && { lastAddress }),
  };
}

function credentialOf(row: SqlRow): CredentialRecord {
  const secretHash = optionalText(row, "secret_hash");
  const expiresAt = optionalNumber(row, "expires_at");
  return {
    id: textAt(row, "id"),
    deviceId: deviceIdOf(textAt(row, "device")),
    kind: checked(textAt(row, "kind"), isCredentialKind),
    ...(secretHash !== undefined && { secretHash }),
    createdAt: numberAt(row, "created_at"),
    ...(expiresAt !== undefined && { expiresAt }),
  };
}

export class SqliteDevices implements DeviceStore {
  readonly #context: StoreContext;
  readonly #put: Statement;
  readonly #get: Statement;
  readonly #list: Statement;
  readonly #seen: Statement;
  readonly #putCredential: Statement;
  readonly #getCredential: Statement;
  readonly #listCredentials: Statement;
  readonly #replace: Statement;
  readonly #deleteCredentials: Statement;
  readonly #pruneCredentials: Statement;

  constructor(context: StoreContext) {
    const { database } = context;
    this.#context = context;
    this.#put = database.prepare(
      `INSERT INTO devices (id, name, kind, scopes, query_allowed, created_at, created_by, expires_at, revoked_at,
         revoked_why, last_seen_at, last_address) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET name = excluded.name, kind = excluded.kind, scopes = excluded.scopes,
         query_allowed = excluded.query_allowed, expires_at = excluded.expires_at, revoked_at = excluded.revoked_at,
         revoked_why = excluded.revoked_why, last_seen_at = excluded.last_seen_at, last_address = excluded.last_address`,
    );
    this.#get = database.prepare("SELECT * FROM devices WHERE id = ?");
    this.#list = database.prepare("SELECT * FROM devices ORDER BY created_at, id");
    this.#seen = database.prepare("UPDATE devices SET last_seen_at = ?, last_address = ? WHERE id = ?");
    this.#putCredential = database.prepare(
      "INSERT INTO credentials (id, device, kind, secret_hash, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
    );
    this.#getCredential = database.prepare("SELECT * FROM credentials WHERE id = ?");
    this.#listCredentials = database.prepare("SELECT * FROM credentials WHERE device = ? ORDER BY created_at, id");
    this.#replace = database.prepare(
      "UPDATE credentials SET secret_hash = ?, expires_at = ? WHERE id = ? AND secret_hash = ?",
    );
    this.#deleteCredentials = database.prepare("DELETE FROM credentials WHERE device = ?");
    this.#pruneCredentials = database.prepare("DELETE FROM credentials WHERE expires_at < ?");
  }

  putDevice(record: DeviceRecord): void {
    this.#durably("writing a device", () =>
      this.#put.run(
        record.deviceId,
        record.name,
        record.kind,
        JSON.stringify(record.scopes),
        record.queryAllowed ? 1 : 0,
        record.createdAt,
        record.createdBy ?? null,
        record.expiresAt ?? null,
        record.revokedAt ?? null,
        record.revokedWhy ?? null,
        record.lastSeenAt ?? null,
        record.lastAddress ?? null,
      ),
    );
  }

  getDevice(deviceId: DeviceId): DeviceRecord | undefined {
    return orThrow(this.#context, "reading a device", () => {
      const row = this.#get.get(deviceId);
      return row === undefined ? undefined : deviceOf(row);
    });
  }

  listDevices(): readonly DeviceRecord[] {
    return orThrow(this.#context, "listing devices", () => this.#list.all().map(deviceOf));
  }

  seen(deviceId: DeviceId, at: number, address: string): void {
    orThrow(this.#context, "noting a visit", () => this.#seen.run(at, address, deviceId));
  }

  putCredential(record: CredentialRecord): void {
    const { id, deviceId, kind, secretHash, createdAt, expiresAt } = record;
    this.#durably("writing a credential", () =>
      this.#putCredential.run(id, deviceId, kind, secretHash ?? null, createdAt, expiresAt ?? null),
    );
  }

  getCredential(id: string): CredentialRecord | undefined {
    return orThrow(this.#context, "reading a credential", () => {
      const row = this.#getCredential.get(id);
      return row === undefined ? undefined : credentialOf(row);
    });
  }

  listCredentials(deviceId: DeviceId): readonly CredentialRecord[] {
    return orThrow(this.#context, "listing credentials", () => this.#listCredentials.all(deviceId).map(credentialOf));
  }

  replaceSecret(id: string, from: string, to: SecretChange): boolean {
    return this.#durably(
      "replacing a secret",
      () => this.#replace.run(to.secretHash, to.expiresAt, id, from).changes === 1,
    );
  }

  deleteCredentials(deviceId: DeviceId): void {
    this.#durably("deleting credentials", () => this.#deleteCredentials.run(deviceId));
  }

  pruneCredentials(now: number): number {
    return orThrow(this.#context, "pruning credentials", () => this.#pruneCredentials.run(now).changes);
  }

  /** A right that was taken must not come back with the power, and a credential that was given out must not be gone. */
  #durably<T>(doing: string, work: () => T): T {
    return orThrow(this.#context, doing, () => durably(this.#context.database, work));
  }
}
