/** Under which names the device keeps what a page shows first. */

export const HOME_KEY = "home";

export const sessionKey = (sessionId: string): string => SESSION_PREFIX + sessionId;

export const SESSION_PREFIX = "session/";
