/** Running bridges and their sessions (contract §3). */

import type { Branches } from "../branches.ts";
import type { HubEvents } from "../events.ts";
import type { Instance } from "../instance.ts";
import type { Registry } from "../registry.ts";
import type { Routes } from "./app.ts";
import { markPosition } from "./event-routes.ts";
import { READ } from "./needs.ts";
import { Problem } from "./problem.ts";
import { type InstanceView, instanceView } from "./views.ts";

/** The instance, or the refusal: for a moment after a start an unknown one may still be dialling (L5). */
export function instanceOr404(registry: Registry, id: string, isStarting: boolean): Instance {
  const instance = registry.get(id);
  if (instance !== undefined) return instance;
  if (isStarting)
    throw new Problem(503, "The hub has just started: the instance may be on its way back", { retryAfterSeconds: 1 });
  throw new Problem(404, "No such instance");
}

export interface InstanceRoutePorts {
  readonly registry: Registry;
  readonly events: HubEvents;
  readonly branches: Branches;
  isStarting(): boolean;
}

export function instanceRoutes({ registry, events, branches, isStarting }: InstanceRoutePorts): Routes {
  const branchOf = (directory: string): string | undefined => branches.of(directory);
  const viewOf = (instance: Instance): InstanceView => instanceView(instance, { all: registry.list(), branchOf });
  return (app) => {
    app.get("/api/instances", READ, (_request, reply) => {
      markPosition(reply, events);
      return registry.list().map(viewOf);
    });
    app.get<{ Params: { id: string } }>("/api/instances/:id", READ, (request) =>
      viewOf(instanceOr404(registry, request.params.id, isStarting())),
    );
    app.get<{ Params: { id: string } }>("/api/instances/:id/status", READ, (request) => {
      const { state, sessions, clients } = viewOf(instanceOr404(registry, request.params.id, isStarting()));
      return { state, clients, sessions };
    });
  };
}
