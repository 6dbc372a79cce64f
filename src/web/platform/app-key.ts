/** The key this browser proves itself with, next to its cookie (contract §2). The hub gives it once, when pairing. */

const NAME = "acp-hub-key";

/** What the device was allowed when the hub was last asked: no screen offers, for a moment, what it may not do. */
const SCOPES = "acp-hub-scopes";

export function readAppKey(): string | undefined {
  try {
    return localStorage.getItem(NAME) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keepAppKey(key: string): void {
  localStorage.setItem(NAME, key);
}

export function forgetAppKey(): void {
  localStorage.removeItem(NAME);
  localStorage.removeItem(SCOPES);
}

export function keepScopes(scopes: readonly string[]): void {
  localStorage.setItem(SCOPES, scopes.join(" "));
}

export function readScopes(): readonly string[] | undefined {
  return localStorage.getItem(SCOPES)?.split(" ");
}
