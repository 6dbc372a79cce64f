/** The push routes of the fake hub, on the hub's own rules: what devices want, and what they have on screen. */
import { changedPreferences } from "../../src/hub/push/preferences.ts";
import type { JsonObject } from "../../src/protocol/json.ts";
import { NO_PREFERENCES, type PushPreferences } from "../../src/protocol/push-preferences.ts";
import type { Answer } from "./fake-hub.ts";

export class FakePush {
  readonly preferences: Map<string, PushPreferences> = new Map();
  /** By device, in the order they were told; undefined: nothing is on screen. */
  readonly seen: { readonly deviceId: string; readonly sessionId: string | undefined }[] = [];

  route(route: string, input: JsonObject, deviceId: string): Answer {
    const before = this.preferences.get(deviceId) ?? NO_PREFERENCES;
    if (route === "GET key") return { status: 200, body: { publicKey: "BA" } };
    if (route === "GET deliveries") return { status: 200, body: { deliveries: [] } };
    if (route === "GET preferences") return { status: 200, body: viewOf(before) };
    if (route === "PATCH preferences") {
      const changed = changedPreferences(before, input);
      if (typeof changed === "string") return { status: 400, body: { title: changed, status: 400 } };
      this.preferences.set(deviceId, changed);
      return { status: 200, body: viewOf(changed) };
    }
    const sessionId = typeof input["sessionId"] === "string" ? input["sessionId"] : undefined;
    if (route === "PUT seen") this.seen.push({ deviceId, sessionId });
    return { status: 204 };
  }
}

const viewOf = ({ quietHours, mutedSessions }: PushPreferences): JsonObject => ({
  quietHours: quietHours === undefined ? null : { ...quietHours },
  mutedSessions: [...mutedSessions],
});
