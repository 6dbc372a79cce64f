/**
 * Which session each device has on its screen right now, as its app says. Being attached is not looking: a phone in a pocket
 * keeps its socket for a while, and scripts and editors attach without anybody watching (users' complaint 34).
 */

const DEVICES_MAX = 1024;

export class SeenSessions {
  readonly #byDevice = new Map<string, string>();

  /** Undefined: the app is hidden, or shows something else. */
  set(deviceId: string, sessionId: string | undefined): void {
    this.#byDevice.delete(deviceId);
    if (sessionId === undefined) return;
    this.#byDevice.set(deviceId, sessionId);
    const oldest = this.#byDevice.keys().next().value;
    if (this.#byDevice.size > DEVICES_MAX && oldest !== undefined) this.#byDevice.delete(oldest);
  }

  has(deviceId: string, sessionId: string): boolean {
    return this.#byDevice.get(deviceId) === sessionId;
  }
}
