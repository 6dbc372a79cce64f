/**
 * Tokens of an issuer the configuration trusts: OpenID Connect, Cloudflare Access. Its keys are read from its JWKS; one claim
 * says which preset the subject gets here. The subject becomes a device, so that it is listed and can be revoked.
 */
import { createHash } from "node:crypto";
import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from "jose";
import { type DeviceId, deviceId } from "../protocol/ids.ts";
import { PRESETS, type Preset, type Scope } from "../protocol/scopes.ts";
import { type AuthFailure, authFailure } from "./failures.ts";
import type { Clock } from "./ports.ts";
import { TOKEN_CHARS_MAX } from "./tokens/jwt.ts";

export interface ExternalIssuer {
  /** The exact `iss`. */
  readonly issuer: string;
  readonly audience: string | readonly string[];
  readonly jwksUrl: string;
  /** The claim that decides; a string or a list of strings. `email` when absent. */
  readonly claim?: string;
  /** The claim's value → preset. The widest one that fits counts. */
  readonly presets: Readonly<Record<string, Preset>>;
  /** For subjects no value fits; nothing when absent. */
  readonly fallback?: Preset;
  /** A header the issuer's proxy puts the token into, e.g. `cf-access-jwt-assertion`. */
  readonly header?: string;
}

export interface ExternalSubject {
  readonly deviceId: DeviceId;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Epoch milliseconds: a socket opened with the token ends then (4401). */
  readonly expiresAt: number;
}

/** Symmetric ones are left out: an issuer's public key must never serve as a shared secret. */
const ALGORITHMS = [
  "EdDSA",
  "Ed25519",
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
];
const WIDEST_FIRST: readonly Preset[] = ["owner", "driver", "approver", "viewer"];
/** Issuers' tokens carry group lists and grow larger than ours. */
const CHARS_MAX = 4 * TOKEN_CHARS_MAX;
const TOLERANCE_SECONDS = 30;
const FETCH_MS = 5_000;

/** For tests: where keys come from. */
export type MakeKeySet = (url: URL) => JWTVerifyGetKey;

const remoteKeySet: MakeKeySet = (url) => createRemoteJWKSet(url, { timeoutDuration: FETCH_MS });

export class ExternalIssuers {
  readonly #clock: Clock;
  readonly #issuers: ReadonlyMap<string, { readonly issuer: ExternalIssuer; readonly keys: JWTVerifyGetKey }>;

  constructor(issuers: readonly ExternalIssuer[], clock: Clock, makeKeySet: MakeKeySet = remoteKeySet) {
    this.#clock = clock;
    this.#issuers = new Map(
      issuers.map((issuer) => [issuer.issuer, { issuer, keys: makeKeySet(new URL(issuer.jwksUrl)) }]),
    );
  }

  /** Headers that may carry a token, lower case. */
  get headers(): readonly string[] {
    return [...this.#issuers.values()].flatMap(({ issuer }) => issuer.header?.toLowerCase() ?? []);
  }

  /** True when the token says it is from an issuer we trust. Nothing is verified by this. */
  claims(token: string): boolean {
    return this.#issuers.has(issuerOf(token) ?? "");
  }

  /** Never rejects: what cannot be verified is a failure value. */
  async verify(token: string): Promise<ExternalSubject | AuthFailure> {
    const known = this.#issuers.get(issuerOf(token) ?? "");
    if (known === undefined) return authFailure("invalid-credential");
    const { issuer, keys } = known;
    try {
      const { payload } = await jwtVerify(token, keys, {
        algorithms: ALGORITHMS,
        issuer: issuer.issuer,
        audience: typeof issuer.audience === "string" ? issuer.audience : [...issuer.audience],
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(this.#clock.now()),
        requiredClaims: ["exp"],
      });
      return subjectOf(issuer, payload);
    } catch (error) {
      return authFailure(codeOf(error));
    }
  }
}

function codeOf(error: unknown): AuthFailure["code"] {
  if (error instanceof errors.JWTExpired) return "expired-credential";
  const isAboutToken =
    error instanceof errors.JWTClaimValidationFailed ||
    error instanceof errors.JWTInvalid ||
    error instanceof errors.JWSInvalid ||
    error instanceof errors.JWSSignatureVerificationFailed ||
    error instanceof errors.JOSEAlgNotAllowed ||
    error instanceof errors.JOSENotSupported ||
    error instanceof errors.JWKSNoMatchingKey ||
    error instanceof errors.JWKSMultipleMatchingKeys;
  // Everything else is a fetch that failed: no fault of who shows the token.
  return isAboutToken ? "invalid-credential" : "issuer-unavailable";
}

function issuerOf(token: string): string | undefined {
  if (token.length > CHARS_MAX) return undefined;
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === "string" && value !== "" ? value : undefined);

function presetOf(issuer: ExternalIssuer, payload: JWTPayload): Preset | undefined {
  const name = issuer.claim ?? "email";
  // An address its owner never confirmed is anybody's.
  if (name === "email" && payload["email_verified"] === false) return issuer.fallback;
  const claim = payload[name];
  const values = (Array.isArray(claim) ? claim : [claim]).flatMap((value) => textOf(value) ?? []);
  const presets = values.flatMap((value) =>
    Object.hasOwn(issuer.presets, value) ? (issuer.presets[value] ?? []) : [],
  );
  return WIDEST_FIRST.find((preset) => presets.includes(preset)) ?? issuer.fallback;
}

function subjectOf(issuer: ExternalIssuer, payload: JWTPayload): ExternalSubject | AuthFailure {
  // Service tokens of Cloudflare Access have an empty subject and a `common_name`.
  const subject = textOf(payload.sub) ?? textOf(payload["common_name"]) ?? textOf(payload["email"]);
  const preset = presetOf(issuer, payload);
  if (subject === undefined || payload.exp === undefined) return authFailure("invalid-credential");
  if (preset === undefined) return authFailure("no-preset");
  const hash = createHash("sha256")
    .update(JSON.stringify([issuer.issuer, subject]))
    .digest("base64url");
  const name = textOf(payload["email"]) ?? textOf(payload["name"]) ?? textOf(payload["preferred_username"]) ?? subject;
  return {
    deviceId: deviceId(`x_${hash.slice(0, 22)}`),
    name,
    scopes: PRESETS[preset],
    expiresAt: payload.exp * 1_000,
  };
}
