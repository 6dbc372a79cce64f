/** Why a credential was not taken: a closed set of codes, each with its HTTP status and words that say what to do. */

export type AuthFailureCode =
  | "missing-credential"
  | "malformed-credential"
  | "invalid-credential"
  | "expired-credential"
  | "revoked-device"
  | "query-not-allowed"
  | "origin-refused"
  | "key-missing"
  | "no-preset"
  | "issuer-unavailable"
  | "pairing-refused"
  | "scope-exceeds-issuer"
  | "too-many-pairings"
  | "weak-token"
  | "rate-limited"
  | "store-unavailable";

export interface AuthFailure {
  readonly status: 400 | 401 | 403 | 429 | 503;
  readonly code: AuthFailureCode;
  readonly detail: string;
  readonly retryAfterSeconds?: number;
}

const TABLE: Readonly<Record<AuthFailureCode, readonly [AuthFailure["status"], string]>> = {
  "missing-credential": [401, "This needs a credential: pair this device, or send a bearer token"],
  "malformed-credential": [400, "The request carries its credential in a form the hub does not take"],
  "invalid-credential": [401, "The credential is not valid here"],
  "expired-credential": [401, "The credential has ended: refresh it, or pair this device again"],
  "revoked-device": [401, "This device was revoked: pair it again"],
  "query-not-allowed": [401, "This token may not stand in a URL: send it as a bearer token, or make one with --query"],
  "origin-refused": [403, "The browser session is only taken from the hub's own pages"],
  "key-missing": [401, "The browser session needs its X-Acp-Hub-Key"],
  "no-preset": [403, "The issuer's token gives no rights here: map one of its claims to a preset"],
  "issuer-unavailable": [503, "The keys of the token's issuer cannot be read right now"],
  "pairing-refused": [401, "The pairing code is not valid: it is used once, for a few minutes; ask for a new one"],
  "scope-exceeds-issuer": [403, "A pairing can give no more than the device that makes it has"],
  "too-many-pairings": [429, "Too many pairing codes are open: use one, or wait until they end"],
  "weak-token": [400, "The token is too easy to guess"],
  "rate-limited": [429, "Too many failed tries from this address"],
  "store-unavailable": [503, "The hub cannot look up credentials right now"],
};

/** Codes that mean somebody may be guessing. An expired or revoked credential was real once: its owner is no attacker. */
const GUESSES: ReadonlySet<AuthFailureCode> = new Set([
  "invalid-credential",
  "pairing-refused",
  "malformed-credential",
]);

export const isGuess = (failure: AuthFailure): boolean => GUESSES.has(failure.code);

export function authFailure(
  code: AuthFailureCode,
  words: { detail?: string; retryAfterSeconds?: number } = {},
): AuthFailure {
  const [status, detail] = TABLE[code];
  const { retryAfterSeconds } = words;
  return {
    status,
    code,
    detail: words.detail ?? detail,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
  };
}

/** Tells a failure from whatever else a step of authentication gives. */
export function isAuthFailure(value: object): value is AuthFailure {
  return "code" in value && "status" in value && "detail" in value;
}
