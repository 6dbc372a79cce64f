/** Turning Web Push on and off for the device that asks, and testing it (the app's notifications page). */
import type { FastifyRequest } from "fastify";
import { isObject, type JsonObject, stringAt } from "../../protocol/json.ts";
import type { PushPreferences } from "../../protocol/push-preferences.ts";
import type { QuietHours } from "../../protocol/quiet-hours.ts";
import { changedPreferences, type PreferenceStore, SESSION_ID_CHARS_MAX } from "../push/preferences.ts";
import type { Pusher } from "../push/pusher.ts";
import type { SeenSessions } from "../push/seen.ts";
import { readSubscription, type Subscriptions } from "../push/subscriptions.ts";
import { principalOf, type Routes } from "./app.ts";
import { READ } from "./needs.ts";
import { Problem } from "./problem.ts";

export interface PushRoutePorts {
  readonly publicKey: string;
  readonly subscriptions: Subscriptions;
  readonly preferences: PreferenceStore;
  readonly seen: SeenSessions;
  readonly pusher: Pusher;
}

const bodyOf = (request: FastifyRequest): JsonObject => (isObject(request.body) ? request.body : {});

export function pushRoutes({ publicKey, subscriptions, preferences, seen, pusher }: PushRoutePorts): Routes {
  return (app) => {
    app.get("/api/push/key", READ, () => ({ publicKey }));
    app.put("/api/push/subscription", READ, async (request, reply) => {
      const record = readSubscription(principalOf(request).deviceId, bodyOf(request));
      if (typeof record === "string") throw new Problem(400, record);
      await subscriptions.put(record);
      return reply.code(204).send();
    });
    app.delete("/api/push/subscription", READ, async (request, reply) => {
      await subscriptions.remove(principalOf(request).deviceId);
      return reply.code(204).send();
    });
    app.get("/api/push/preferences", READ, (request) => viewOf(preferences.of(principalOf(request).deviceId)));
    app.patch("/api/push/preferences", READ, async (request) => {
      const { deviceId } = principalOf(request);
      const changed = changedPreferences(preferences.of(deviceId), bodyOf(request));
      if (typeof changed === "string") throw new Problem(400, changed);
      await preferences.put(deviceId, changed);
      return viewOf(changed);
    });
    // Not kept: what is on a screen ends with the screen.
    app.put("/api/push/seen", READ, (request, reply) => {
      const sessionId = stringAt(bodyOf(request), "sessionId");
      if (sessionId !== undefined && sessionId.length > SESSION_ID_CHARS_MAX)
        throw new Problem(400, '"sessionId" must be the id of a session');
      seen.set(principalOf(request).deviceId, sessionId);
      return reply.code(204).send();
    });
    app.post("/api/push/test", READ, async (request, reply) => {
      if (!(await pusher.test(principalOf(request).deviceId)))
        throw new Problem(404, "This device has no push subscription");
      return reply.code(202).send({});
    });
    app.get("/api/push/deliveries", READ, (request) => ({
      deliveries: pusher.deliveries(principalOf(request).deviceId),
    }));
  };
}

export interface PushPreferencesView {
  readonly quietHours: QuietHours | null;
  readonly mutedSessions: readonly string[];
}

const viewOf = ({ quietHours, mutedSessions }: PushPreferences): PushPreferencesView => ({
  quietHours: quietHours ?? null,
  mutedSessions,
});
