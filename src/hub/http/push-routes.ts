/** Turning Web Push on and off for the device that asks, and testing it (the app's notifications page). */
import { isObject } from "../../protocol/json.ts";
import type { Pusher } from "../push/pusher.ts";
import { readSubscription, type Subscriptions } from "../push/subscriptions.ts";
import { principalOf, type Routes } from "./app.ts";
import { READ } from "./needs.ts";
import { Problem } from "./problem.ts";

export interface PushRoutePorts {
  readonly publicKey: string;
  readonly subscriptions: Subscriptions;
  readonly pusher: Pusher;
}

export function pushRoutes({ publicKey, subscriptions, pusher }: PushRoutePorts): Routes {
  return (app) => {
    app.get("/api/push/key", READ, () => ({ publicKey }));
    app.put("/api/push/subscription", READ, async (request, reply) => {
      const record = readSubscription(principalOf(request).deviceId, isObject(request.body) ? request.body : {});
      if (typeof record === "string") throw new Problem(400, record);
      await subscriptions.put(record);
      return reply.code(204).send();
    });
    app.delete("/api/push/subscription", READ, async (request, reply) => {
      await subscriptions.remove(principalOf(request).deviceId);
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
