/**
 * What each device wants to be told of and when. Kept apart from its subscription: browsers renew and drop subscriptions, and
 * who set quiet hours must not be woken for it.
 */
import { join } from "node:path";
import { isObject, type JsonObject, objectAt, stringAt } from "../../protocol/json.ts";
import { NO_PREFERENCES, type PushPreferences, readPreferences } from "../../protocol/push-preferences.ts";
import { readQuietHours } from "../../protocol/quiet-hours.ts";
import { PrivateFile } from "./private-file.ts";

/** Old sessions end; the oldest mute is forgotten first. */
const MUTED_MAX = 200;
export const SESSION_ID_CHARS_MAX = 1024;

/** `before` with the change a client asks for, or what is wrong with it. Members left out stay as they are. */
export function changedPreferences(before: PushPreferences, change: JsonObject): PushPreferences | string {
  let { quietHours, mutedSessions } = before;
  if (change["quietHours"] === null) quietHours = undefined;
  else if (change["quietHours"] !== undefined) {
    const read = readQuietHours(change["quietHours"]);
    if (typeof read === "string") return read;
    quietHours = read;
  }
  for (const name of ["mute", "unmute"] as const) {
    if (change[name] === undefined) continue;
    const sessionId = stringAt(change, name) ?? "";
    if (sessionId === "" || sessionId.length > SESSION_ID_CHARS_MAX) return `"${name}" must be the id of a session`;
    const others = mutedSessions.filter((each) => each !== sessionId);
    mutedSessions = name === "mute" ? [...others, sessionId].slice(-MUTED_MAX) : others;
  }
  return { quietHours, mutedSessions };
}

export class PreferenceStore {
  readonly #file: PrivateFile;
  readonly #byDevice = new Map<string, PushPreferences>();

  constructor(dataDir: string) {
    this.#file = new PrivateFile(join(dataDir, "push-preferences.json"));
  }

  async load(): Promise<void> {
    const kept = await this.#file.read();
    const devices = isObject(kept) ? objectAt(kept, "devices") : undefined;
    for (const [id, entry] of Object.entries(devices ?? {}))
      if (isObject(entry)) this.#byDevice.set(id, readPreferences(entry));
  }

  of(deviceId: string): PushPreferences {
    return this.#byDevice.get(deviceId) ?? NO_PREFERENCES;
  }

  devices(): readonly string[] {
    return [...this.#byDevice.keys()];
  }

  async put(deviceId: string, preferences: PushPreferences): Promise<void> {
    this.#byDevice.set(deviceId, preferences);
    await this.#write();
  }

  async remove(deviceId: string): Promise<void> {
    if (this.#byDevice.delete(deviceId)) await this.#write();
  }

  #write(): Promise<void> {
    return this.#file.write({ version: 1, devices: Object.fromEntries(this.#byDevice) });
  }
}
