/** How long each method may take, in milliseconds. Anything not named gets `default`. */
export const TIMEOUT_MS: Readonly<Record<string, number>> = {
  default: 15_000,
  // A first create waits for the providers to be synchronised; giving up early would leave a session nobody owns.
  "session/create": 45_000,
  "session/read": 8_000,
  "session/messages": 8_000,
  "session/subscribe": 5_000,
  "session/compact": 30_000,
  "session/goal": 30_000,
  "session/stop": 10_000,
  "session/close": 10_000,
  "v4/command": 10_000,
};

export const timeoutOf = (method: string): number => TIMEOUT_MS[method] ?? 15_000;

/** The delivery this bridge asks for, and the only one it understands. */
export const DELIVERY = "desktop-continuous";
