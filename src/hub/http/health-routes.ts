/** Is it alive, is it ready: without a credential, and without detail (contract §3). */
import type { Routes } from "./app.ts";
import { Problem } from "./problem.ts";

export function healthRoutes(isReady: () => boolean): Routes {
  return (app) => {
    app.get("/healthz", () => ({ status: "ok" }));
    app.get("/readyz", () => {
      if (!isReady()) throw new Problem(503, "The hub is starting or stopping", { retryAfterSeconds: 1 });
      return { status: "ready" };
    });
    app.get("/api/health", (_request, reply) => reply.type("text/plain").send("ok"));
  };
}
