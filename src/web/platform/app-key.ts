/** The key this browser proves itself with, next to its cookie (contract §2). The hub gives it once, when pairing. */

const NAME = "acp-hub-key";

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
}
