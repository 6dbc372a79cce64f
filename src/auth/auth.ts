/** Authentication put together: what the hub's routes and sockets, and the CLI through them, ask for. */
import { randomBytes } from "node:crypto";
import type { DeviceRecord } from "../protocol/devices.ts";
import type { DeviceId } from "../protocol/ids.ts";
import { LIMITS } from "../protocol/limits.ts";
import type { Scope } from "../protocol/scopes.ts";
import type { Carrier } from "./carrier.ts";
import { Credentials } from "./credentials.ts";
import { Devices, type RevokedListener } from "./devices.ts";
import { type ExternalIssuer, ExternalIssuers, type MakeKeySet } from "./external-issuer.ts";
import { type AuthFailure, authFailure, isAuthFailure, isGuess } from "./failures.ts";
import { type BrowserSession, BrowserSessions, type CookieOptions } from "./grants/cookie-key.ts";
import { type MadePairing, type PairingLimits, type PairingRequest, Pairings } from "./grants/pairing.ts";
import { type Ticket, Tickets } from "./grants/tickets.ts";
import type { Actor, AuditSink, Clock, CredentialStore, RandomBytes } from "./ports.ts";
import type { Principal } from "./principal.ts";
import { RateLimit } from "./rate-limit.ts";
import { AccessTokens } from "./tokens/access-tokens.ts";
import { type Jwks, KeyRing } from "./tokens/keys.ts";
import { LONG_LIVED_MS_MAX, LongLivedTokens, longLivedMs } from "./tokens/long-lived.ts";
import { RefreshTokens } from "./tokens/refresh.ts";
import { RemoteTokens } from "./tokens/remote-token.ts";

/** Contract §6. */
export interface AuthLimits extends PairingLimits {
  readonly failuresPerAddress: number;
  readonly failuresMs: number;
}

export interface AuthOptions {
  /** `keys/` of the home. */
  readonly keysDir: string;
  readonly store: CredentialStore;
  readonly audit: AuditSink;
  readonly issuers?: readonly ExternalIssuer[];
  readonly limits?: AuthLimits;
  readonly clock?: Clock;
  readonly random?: RandomBytes;
  readonly makeKeySet?: MakeKeySet;
  /** Faults of the store, which callers see as 503. */
  onError(error: unknown): void;
}

/** `POST /api/pair` and `POST /api/token`. */
export interface TokenPair {
  readonly deviceId: DeviceId;
  readonly scopes: readonly Scope[];
  readonly accessToken: string;
  readonly refreshToken: string;
  /** Seconds the access token lives. */
  readonly expiresIn: number;
}

export interface BrowserPairing extends BrowserSession {
  readonly deviceId: DeviceId;
  readonly scopes: readonly Scope[];
}

export interface PairAttempt {
  readonly code: string;
  readonly name: string | undefined;
  readonly address: string;
}

export interface NewToken {
  readonly name: string;
  readonly scopes: readonly Scope[];
  readonly ttlMs?: number;
  /** Also taken as `?token=`. */
  readonly queryAllowed?: boolean;
}

const actorOf = ({ deviceId, name }: Principal, address?: string): Actor => ({
  deviceId,
  name,
  ...(address !== undefined && { address }),
});

const THE_HUB: Actor = { deviceId: "hub", name: "the hub" };

export class Auth {
  readonly devices: Devices;
  readonly keys: KeyRing;
  /** Header names of external issuers, for `readCarrier`. */
  readonly issuerHeaders: readonly string[];
  readonly #clock: Clock;
  readonly #audit: AuditSink;
  readonly #onError: (error: unknown) => void;
  readonly #credentials: Credentials;
  readonly #pairings: Pairings;
  readonly #tickets: Tickets;
  readonly #browser: BrowserSessions;
  readonly #access: AccessTokens;
  readonly #longLived: LongLivedTokens;
  readonly #refresh: RefreshTokens;
  readonly #remote: RemoteTokens;
  readonly #limit: RateLimit;

  private constructor(options: AuthOptions, keys: KeyRing, clock: Clock) {
    const { store, audit, onError, limits = LIMITS } = options;
    const random = options.random ?? ((count) => randomBytes(count));
    this.keys = keys;
    this.#clock = clock;
    this.#audit = audit;
    this.#onError = onError;
    this.devices = new Devices({ store, audit, clock, random });
    this.#limit = new RateLimit({ clock, failuresMax: limits.failuresPerAddress, windowMs: limits.failuresMs });
    this.#tickets = new Tickets(clock, random);
    this.#browser = new BrowserSessions(store, clock, random);
    this.#access = new AccessTokens(keys, clock, random);
    this.#longLived = new LongLivedTokens(keys, store, clock, random);
    this.#refresh = new RefreshTokens(store, clock, random);
    this.#remote = new RemoteTokens(store, clock);
    this.#pairings = new Pairings({
      clock,
      random,
      limits,
      onBurned: (count) => this.#record("pairing.burned", THE_HUB, undefined, { count }),
    });
    const issuers = new ExternalIssuers(options.issuers ?? [], clock, options.makeKeySet);
    this.issuerHeaders = issuers.headers;
    this.#credentials = new Credentials({
      clock,
      devices: this.devices,
      access: this.#access,
      longLived: this.#longLived,
      remote: this.#remote,
      browser: this.#browser,
      tickets: this.#tickets,
      issuers,
      limit: this.#limit,
      onError,
    });
  }

  /** Rejects when the keys cannot be read or made. */
  static async open(options: AuthOptions): Promise<Auth> {
    const clock = options.clock ?? { now: Date.now, monotonic: () => performance.now() };
    const keys = await KeyRing.open({ dir: options.keysDir, clock, overlapMs: LONG_LIVED_MS_MAX });
    return new Auth(options, keys, clock);
  }

  authenticate(carrier: Carrier): Promise<Principal | AuthFailure> {
    return this.#credentials.authenticate(carrier);
  }

  jwks(): Jwks {
    return this.keys.jwks();
  }

  /** Called in the turn in which a device is revoked, for every device. */
  onRevoked(listener: RevokedListener): () => void {
    return this.devices.onRevoked(listener);
  }

  /** `POST /api/pairings`. The caller has checked `admin`; no more rights than its own are given. */
  createPairing(request: PairingRequest, by: Principal, address?: string): MadePairing | AuthFailure {
    const made = this.#pairings.create(request, by);
    if (!isAuthFailure(made)) {
      this.#record("pairing.create", actorOf(by, address), undefined, { scopes: [...made.scopes] });
    }
    return made;
  }

  /** `POST /api/pair`, for an app that keeps tokens. */
  async pair(attempt: PairAttempt): Promise<TokenPair | AuthFailure> {
    return await this.#guarded(attempt.address, async () => {
      const record = this.#pairDevice(attempt, "app");
      if (isAuthFailure(record)) return record;
      return await this.#tokenPair(record, this.#refresh.issue(record.deviceId));
    });
  }

  /** `POST /api/pair` in cookie mode, for the hub's own app. */
  async pairBrowser(attempt: PairAttempt, cookie: CookieOptions): Promise<BrowserPairing | AuthFailure> {
    return await this.#guarded(attempt.address, () => {
      const record = this.#pairDevice(attempt, "browser");
      if (isAuthFailure(record)) return record;
      const session = this.#browser.issue(record.deviceId, cookie);
      return { ...session, deviceId: record.deviceId, scopes: record.scopes };
    });
  }

  /** `POST /api/token`. A credential that was used before revokes its device. */
  async refresh(refreshToken: string, address: string): Promise<TokenPair | AuthFailure> {
    return await this.#guarded(address, async () => {
      const answer = this.#refresh.rotate(refreshToken);
      if (answer.kind === "refused") return answer.failure;
      if (answer.kind === "reused") {
        this.#record("refresh.reuse", { ...THE_HUB, address }, answer.deviceId);
        this.devices.revoke(answer.deviceId, "a refresh credential was used twice", THE_HUB);
        return authFailure("revoked-device");
      }
      const record = this.devices.live(answer.deviceId);
      return isAuthFailure(record) ? record : await this.#tokenPair(record, answer.refreshToken);
    });
  }

  /** `POST /api/ws-ticket`. */
  issueTicket(principal: Principal): Ticket {
    return this.#tickets.issue(principal);
  }

  /** `token create`. The token is shown once; only its record stays. */
  async createToken(
    token: NewToken,
    by: Principal,
  ): Promise<{ readonly record: DeviceRecord; readonly token: string } | AuthFailure> {
    if (token.scopes.some((scope) => !by.scopes.has(scope))) return authFailure("scope-exceeds-issuer");
    try {
      const expiresAt = this.#clock.now() + longLivedMs(token.ttlMs);
      const { name, scopes } = token;
      const queryAllowed = token.queryAllowed ?? false;
      const record = this.devices.create({ name, scopes, kind: "script", queryAllowed, expiresAt, createdBy: by.name });
      const made = await this.#longLived.issue(record.deviceId, expiresAt);
      this.#record("token.create", actorOf(by), record.deviceId, { scopes: [...scopes], queryAllowed });
      return { record, token: made };
    } catch (error) {
      return this.#unavailable(error);
    }
  }

  /**
   * Takes the predecessor's remote token as `driver` + `instances:create`, in a URL too. Another one given before ends: the
   * environment names the one that counts. A weak one is refused in words for a person.
   */
  adoptRemoteToken(token: string): { readonly deviceId: DeviceId } | AuthFailure {
    try {
      const adopted = this.#remote.adopt(token);
      if (isAuthFailure(adopted)) return adopted;
      const others = this.devices
        .list()
        .filter(({ kind, deviceId }) => kind === "remote" && deviceId !== adopted.deviceId);
      for (const { deviceId } of others) this.devices.revoke(deviceId, "another remote token was given", THE_HUB);
      if (adopted.isNew) this.#record("remote-token.adopt", THE_HUB, adopted.deviceId);
      return { deviceId: adopted.deviceId };
    } catch (error) {
      return this.#unavailable(error);
    }
  }

  /** Signs with a new key from now on; what the old one signed stays valid for its time. */
  async rotateKeys(by: Principal): Promise<void> {
    await this.keys.rotate();
    this.#record("keys.rotate", actorOf(by), this.keys.fingerprint);
  }

  #pairDevice(attempt: PairAttempt, kind: "app" | "browser"): DeviceRecord | AuthFailure {
    const grant = this.#pairings.take(attempt.code);
    if (isAuthFailure(grant)) return grant;
    const name = attempt.name ?? grant.name ?? (kind === "browser" ? "browser" : "app");
    const record = this.devices.create({ name, kind, scopes: grant.scopes, createdBy: grant.createdBy });
    // Pairing is its first visit: a list that says "never seen" of the phone in your hand is not believed.
    this.devices.seen(record.deviceId, attempt.address);
    const actor = { deviceId: record.deviceId, name: record.name, address: attempt.address };
    this.#record("device.pair", actor, record.deviceId, { scopes: [...record.scopes], by: grant.createdBy });
    return record;
  }

  async #tokenPair({ deviceId, scopes }: DeviceRecord, refreshToken: string): Promise<TokenPair> {
    return { deviceId, scopes, refreshToken, ...(await this.#access.issue(deviceId)) };
  }

  /** For steps open to anyone: an address that failed too often waits, and a store that fails is a 503. */
  async #guarded<T extends object>(
    address: string,
    step: () => Promise<T | AuthFailure> | T | AuthFailure,
  ): Promise<T | AuthFailure> {
    const retryAfterSeconds = this.#limit.retryAfterSeconds(address);
    if (retryAfterSeconds > 0) return authFailure("rate-limited", { retryAfterSeconds });
    try {
      const answer = await step();
      if (isAuthFailure(answer) && isGuess(answer)) this.#limit.onFailure(address);
      return answer;
    } catch (error) {
      return this.#unavailable(error);
    }
  }

  #unavailable(error: unknown): AuthFailure {
    this.#onError(error);
    return authFailure("store-unavailable", { retryAfterSeconds: 5 });
  }

  #record(
    action: string,
    actor: Actor,
    target?: string,
    detail?: Readonly<Record<string, string | number | boolean | string[]>>,
  ): void {
    this.#audit.append({
      at: this.#clock.now(),
      actor,
      action,
      ...(target !== undefined && { target }),
      ...(detail !== undefined && { detail: { ...detail } }),
    });
  }
}
