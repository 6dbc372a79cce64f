/**
 * The one way in: every credential, however it came, becomes a principal here or is refused here. HTTP, WebSocket, event
 * streams and the static app all ask this.
 */
import type { DeviceRecord } from "../protocol/devices.ts";
import type { DeviceId } from "../protocol/ids.ts";
import type { Carrier } from "./carrier.ts";
import { cleanName, type Devices } from "./devices.ts";
import type { ExternalIssuers } from "./external-issuer.ts";
import { type AuthFailure, authFailure, isAuthFailure, isGuess } from "./failures.ts";
import type { BrowserSessions } from "./grants/cookie-key.ts";
import type { Tickets } from "./grants/tickets.ts";
import type { Clock } from "./ports.ts";
import { type Principal, principalOf, type Via } from "./principal.ts";
import type { RateLimit } from "./rate-limit.ts";
import type { AccessTokens } from "./tokens/access-tokens.ts";
import { typeOf } from "./tokens/jwt.ts";
import type { LongLivedTokens } from "./tokens/long-lived.ts";
import type { RemoteTokens } from "./tokens/remote-token.ts";

export interface CredentialParts {
  readonly clock: Clock;
  readonly devices: Devices;
  readonly access: AccessTokens;
  readonly longLived: LongLivedTokens;
  readonly remote: RemoteTokens;
  readonly browser: BrowserSessions;
  readonly tickets: Tickets;
  readonly issuers: ExternalIssuers;
  readonly limit: RateLimit;
  /** A store that fails is told; the caller gets a 503. */
  onError(error: unknown): void;
}

type Found = { readonly deviceId: DeviceId } | AuthFailure;

export class Credentials {
  readonly #parts: CredentialParts;

  constructor(parts: CredentialParts) {
    this.#parts = parts;
  }

  /** Rejects never. A good credential always passes; an address that only guesses is told to wait. */
  async authenticate(carrier: Carrier): Promise<Principal | AuthFailure> {
    let answer: Principal | AuthFailure;
    try {
      answer = await this.#read(carrier);
    } catch (error) {
      this.#parts.onError(error);
      return authFailure("store-unavailable", { retryAfterSeconds: 5 });
    }
    if (isAuthFailure(answer)) return this.#count(answer, carrier.address);
    this.#parts.devices.seen(answer.deviceId, carrier.address);
    return answer;
  }

  #count(failure: AuthFailure, address: string): AuthFailure {
    if (!isGuess(failure)) return failure;
    const retryAfterSeconds = this.#parts.limit.retryAfterSeconds(address);
    if (retryAfterSeconds > 0) return authFailure("rate-limited", { retryAfterSeconds });
    this.#parts.limit.onFailure(address);
    return failure;
  }

  /** What stands in the request by intent counts before what a browser adds by itself. The first one found decides. */
  async #read(carrier: Carrier): Promise<Principal | AuthFailure> {
    const { bearer, tickets, subprotocolTokens, queryTokens, issuerTokens, cookies } = carrier;
    if ([tickets, subprotocolTokens, queryTokens].some((list) => list.length > 1)) {
      return authFailure("malformed-credential");
    }
    if (bearer !== undefined) return await this.#token(bearer, "bearer");
    const [ticket] = tickets;
    if (ticket !== undefined) return this.#ticket(ticket);
    const [subprotocol] = subprotocolTokens;
    if (subprotocol !== undefined) return await this.#token(subprotocol, "subprotocol");
    const [query] = queryTokens;
    if (query !== undefined) return await this.#token(query, "query");
    const [issued] = issuerTokens;
    if (issued !== undefined) return await this.#issuerHeader(issued, carrier);
    return cookies.length > 0 ? this.#browser(carrier) : authFailure("missing-credential");
  }

  async #token(token: string, via: Via): Promise<Principal | AuthFailure> {
    if (this.#parts.issuers.claims(token)) {
      return via === "query" ? authFailure("query-not-allowed") : await this.#external(token, via);
    }
    const record = this.#live(await this.#find(token));
    if (isAuthFailure(record)) return record;
    return via === "query" && !record.queryAllowed ? authFailure("query-not-allowed") : principalOf(record, via);
  }

  async #find(token: string): Promise<Found> {
    switch (typeOf(token)) {
      case "at+jwt":
        return await this.#parts.access.verify(token);
      case "acp-hub-token+jwt":
        return await this.#parts.longLived.verify(token);
      case undefined:
        return this.#parts.remote.find(token);
      default:
        return authFailure("invalid-credential");
    }
  }

  #live(found: Found): DeviceRecord | AuthFailure {
    return isAuthFailure(found) ? found : this.#parts.devices.live(found.deviceId);
  }

  #ticket(ticket: string): Principal | AuthFailure {
    const holder = this.#parts.tickets.take(ticket);
    if (isAuthFailure(holder)) return holder;
    // Made for this device half a minute ago at most; what it may do is read again.
    const record = this.#parts.devices.live(holder.deviceId);
    return isAuthFailure(record) ? record : principalOf(record, "ticket", holder.expiresAt);
  }

  /** A proxy adds the header to whatever a browser sends through it, so it proves no more than a cookie does. */
  async #issuerHeader(token: string, carrier: Carrier): Promise<Principal | AuthFailure> {
    if (carrier.hasOrigin && !carrier.isFromOwnPage) return authFailure("origin-refused");
    return await this.#external(token, "issuer-header");
  }

  async #external(token: string, via: Via): Promise<Principal | AuthFailure> {
    const { issuers, devices, clock } = this.#parts;
    const subject = await issuers.verify(token);
    if (isAuthFailure(subject)) return subject;
    const known = devices.get(subject.deviceId);
    if (known?.revokedAt !== undefined) return authFailure("revoked-device");
    const { deviceId, scopes } = subject;
    const name = cleanName(subject.name, "external user");
    const base = known ?? { deviceId, kind: "external", queryAllowed: false, createdAt: clock.now() };
    const record: DeviceRecord = { ...base, name: known?.name ?? name, scopes };
    const isSame = known !== undefined && known.scopes.join() === scopes.join();
    if (!isSame) devices.replace(record);
    return principalOf(record, via, subject.expiresAt);
  }

  #browser(carrier: Carrier): Principal | AuthFailure {
    if (!carrier.isFromOwnPage) return authFailure("origin-refused");
    const record = this.#live(this.#parts.browser.find(carrier.cookies, carrier.key));
    return isAuthFailure(record) ? record : principalOf(record, "cookie");
  }
}
