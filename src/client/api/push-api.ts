/** Web Push of this device, over HTTP: its subscription, what it wants to be told and when, and what was delivered. */
import { isObject, type Json, type JsonObject, numberAt, stringAt } from "../../protocol/json.ts";
import { NO_PREFERENCES, type PushPreferences, readPreferences } from "../../protocol/push-preferences.ts";
import type { QuietHours } from "../../protocol/quiet-hours.ts";
import { ApiError, type HttpOptions, send, sendJson } from "./http.ts";
import { listIn, timeIn } from "./types.ts";

/** A member left out stays as it is. */
export interface PreferenceChange {
  /** null: none. */
  readonly quietHours?: QuietHours | null;
  readonly mute?: string;
  readonly unmute?: string;
}

export interface PushDelivery {
  /** Epoch milliseconds. */
  readonly at: number;
  readonly kind: string;
  /** HTTP status of the push service; undefined when it could not be reached or was not asked. */
  readonly status: number | undefined;
  /** Why it was not asked: `muted`, `quiet-hours`. */
  readonly hushed: string | undefined;
}

export class PushApi {
  readonly #http: HttpOptions;

  constructor(http: HttpOptions) {
    this.#http = http;
  }

  /** The key push subscriptions are made for; undefined when this hub sends no pushes. */
  async key(): Promise<string | undefined> {
    try {
      const answer = await sendJson(this.#http, "api/push/key");
      return isObject(answer) ? stringAt(answer, "publicKey") : undefined;
    } catch (error) {
      if (error instanceof ApiError && (error.status === 404 || error.status === 503)) return undefined;
      throw error;
    }
  }

  /** Registers or changes this device's subscription. `kinds`: "needs-you", "turn-ended". */
  async subscribe(subscription: JsonObject, kinds: readonly string[]): Promise<void> {
    await send(this.#http, "api/push/subscription", { method: "PUT", body: { subscription, kinds: [...kinds] } });
  }

  async unsubscribe(): Promise<void> {
    await send(this.#http, "api/push/subscription", { method: "DELETE" });
  }

  /** Sends a test through the real pipeline. */
  async test(): Promise<void> {
    await send(this.#http, "api/push/test", { method: "POST", body: {} });
  }

  /** Quiet hours and muted sessions of this device. */
  async preferences(): Promise<PushPreferences> {
    return preferencesIn(await sendJson(this.#http, "api/push/preferences"));
  }

  /** Members left out stay as they are; gives what holds now. */
  async changePreferences(change: PreferenceChange): Promise<PushPreferences> {
    const { quietHours, ...mutes } = change;
    const body: JsonObject = { ...mutes };
    if (quietHours !== undefined) body["quietHours"] = quietHours === null ? null : { ...quietHours };
    return preferencesIn(await sendJson(this.#http, "api/push/preferences", { method: "PATCH", body }));
  }

  /** Which session is on this device's screen: what is seen is not pushed. Undefined: none. */
  async tellSeen(sessionId: string | undefined): Promise<void> {
    const body: JsonObject = sessionId === undefined ? {} : { sessionId };
    await send(this.#http, "api/push/seen", { method: "PUT", body, keepalive: true });
  }

  /** The last deliveries to this device, newest first. */
  async deliveries(): Promise<readonly PushDelivery[]> {
    const list = listIn(await sendJson(this.#http, "api/push/deliveries"), "deliveries");
    return list.map((entry) => ({
      at: timeIn(entry, "at"),
      kind: stringAt(entry, "kind") ?? "",
      status: numberAt(entry, "status"),
      hushed: stringAt(entry, "hushed"),
    }));
  }
}

const preferencesIn = (value: Json | undefined): PushPreferences =>
  isObject(value) ? readPreferences(value) : NO_PREFERENCES;
