/** `GET /metrics` for Prometheus: `admin`, or anyone on the local socket (contract §3). */
import type { HubMetrics } from "../metrics.ts";
import type { Routes } from "./app.ts";
import { ADMIN } from "./needs.ts";

export function metricsRoute({ metrics }: HubMetrics): Routes {
  return (app) => {
    app.get("/metrics", ADMIN, async (_request, reply) =>
      reply.type(metrics.contentType).send(await metrics.metrics()),
    );
  };
}
