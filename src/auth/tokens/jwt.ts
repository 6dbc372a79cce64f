/**
 * JWTs of the hub's own. What a verifier accepts is fixed here, never read from the token: one algorithm, one issuer, one
 * audience, one type per kind, so a token of one kind is never taken for another.
 */
import { decodeProtectedHeader, errors, type JWTPayload, jwtVerify, SignJWT } from "jose";
import { type AuthFailure, authFailure } from "../failures.ts";
import type { Clock } from "../ports.ts";
import { ALGORITHM, type KeyRing } from "./keys.ts";

export const ISSUER = "acp-hub";
export const AUDIENCE = "acp-hub";

export type TokenType = "at+jwt" | "acp-hub-token+jwt";

/** For clocks that are a little apart. */
const TOLERANCE_SECONDS = 5;
/** Longer than any token of ours, shorter than anything worth parsing. */
export const TOKEN_CHARS_MAX = 4_096;

export interface TokenClaims {
  readonly deviceId: string;
  readonly jti: string;
  /** Epoch milliseconds. */
  readonly expiresAt: number;
}

export async function signToken(keys: KeyRing, type: TokenType, claims: TokenClaims, now: number): Promise<string> {
  const { kid, privateKey } = keys.current;
  return await new SignJWT({})
    .setProtectedHeader({ alg: ALGORITHM, kid, typ: type })
    .setIssuer(ISSUER)
    .setAudience(AUDIENCE)
    .setSubject(claims.deviceId)
    .setJti(claims.jti)
    .setIssuedAt(Math.floor(now / 1_000))
    .setExpirationTime(Math.floor(claims.expiresAt / 1_000))
    .sign(privateKey);
}

function claimsOf({ sub, jti, exp }: JWTPayload): TokenClaims | AuthFailure {
  if (sub === undefined || jti === undefined || exp === undefined) return authFailure("invalid-credential");
  return { deviceId: sub, jti, expiresAt: exp * 1_000 };
}

/** Rejects never: a bad token is a failure value. */
export async function verifyToken(
  keys: KeyRing,
  type: TokenType,
  token: string,
  clock: Clock,
): Promise<TokenClaims | AuthFailure> {
  if (token.length > TOKEN_CHARS_MAX) return authFailure("invalid-credential");
  try {
    const { payload } = await jwtVerify(
      token,
      ({ kid }) => {
        const key = keys.find(kid);
        if (key === undefined) throw new errors.JWKSNoMatchingKey();
        return key;
      },
      {
        algorithms: [ALGORITHM],
        issuer: ISSUER,
        audience: AUDIENCE,
        typ: type,
        clockTolerance: TOLERANCE_SECONDS,
        currentDate: new Date(clock.now()),
        requiredClaims: ["sub", "jti", "iat", "exp"],
      },
    );
    // A token from the future was signed by a clock that is wrong, or by nobody.
    const isFromFuture = (payload.iat ?? 0) * 1_000 > clock.now() + TOLERANCE_SECONDS * 1_000;
    return isFromFuture ? authFailure("invalid-credential") : claimsOf(payload);
  } catch (error) {
    return authFailure(error instanceof errors.JWTExpired ? "expired-credential" : "invalid-credential");
  }
}

/** The type a token says it has: which verifier to ask. Nothing is trusted yet. */
export function typeOf(token: string): string | undefined {
  if (token.length > TOKEN_CHARS_MAX) return undefined;
  try {
    return decodeProtectedHeader(token).typ;
  } catch {
    return undefined;
  }
}
