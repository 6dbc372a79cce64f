/** A fresh id. `crypto.randomUUID` exists only in secure contexts; a hub on a plain LAN is not one. */
export function uniqueId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
