/** Random secrets, and the only form in which the hub keeps them. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { RandomBytes } from "./ports.ts";

/** 256 bits as 43 characters that may stand in a header, a URL or a WebSocket subprotocol. */
export function randomSecret(random: RandomBytes, bytes = 32): string {
  return Buffer.from(random(bytes)).toString("base64url");
}

/** What is stored of a secret. Secrets have 128 bits and more, so nothing slower than one SHA-256 is needed. */
export function hashSecret(secret: string): string {
  return createHash("sha256").update(secret, "utf8").digest("base64url");
}

/** Compares in a time that does not depend on where they differ. */
export function isSameHash(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a, "latin1"), Buffer.from(b, "latin1")];
  return left.length === right.length && timingSafeEqual(left, right);
}
