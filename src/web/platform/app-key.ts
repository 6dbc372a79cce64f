/** The random key this browser proves itself with, next to its cookie (contract §2). Made when pairing, kept in localStorage. */

const NAME = "acp-hub-key";

export function readAppKey(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

/** Makes and keeps a new key: 256 bits, base64url. */
export function makeAppKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32));
  const key = btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
  localStorage.setItem(NAME, key);
  return key;
}

export function forgetAppKey(): void {
  localStorage.removeItem(NAME);
}
