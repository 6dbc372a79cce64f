/** The code people type: 8 characters of Crockford's alphabet (no I, L, O, U), 40 bits, shown as `XXXX-XXXX`. */
import type { RandomBytes } from "../ports.ts";

const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";
const LENGTH = 8;

export function makeTextCode(random: RandomBytes): string {
  // 32 divides 256: every character is equally likely.
  const code = [...random(LENGTH)].map((byte) => ALPHABET[byte % ALPHABET.length] ?? "0").join("");
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** What was meant by what was typed: case, spaces and dashes do not count, and look-alikes are read as the digit. */
export function normalizeCode(typed: string): string {
  const bare = typed.toUpperCase().replace(/[\s-]/g, "");
  if (bare.length !== LENGTH) return typed.trim();
  return bare.replace(/O/g, "0").replace(/[IL]/g, "1");
}
