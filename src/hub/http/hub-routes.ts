/** The hub about itself, and making room for a newer one: the latter over the local socket alone, because it ends this hub. */
import type { FastifyRequest } from "fastify";
import { owner } from "../principal.ts";
import { isAlive } from "../process-alive.ts";
import type { Succession, SuccessionRefusal, Successor } from "../succession.ts";
import { successorBody } from "./api/bodies.ts";
import type { AboutHub } from "./api/shapes.ts";
import { principalOf, type Routes } from "./app.ts";
import { ADMIN } from "./needs.ts";
import { Problem } from "./problem.ts";
import { readBody } from "./read-body.ts";

export interface HubRoutePorts {
  readonly version: string;
  readonly startedAt: number;
  readonly succession: Succession;
}

const REFUSALS: Readonly<Record<SuccessionRefusal, string>> = {
  "not-newer": "This hub is as new or newer",
  "making-room": "This hub is making room already",
  "by-hand": "This hub was started by hand: whoever started it ends it",
  supervised: "This hub is a service: it starts again by itself when its program is newer",
};

export function hubRoutes({ version, startedAt, succession }: HubRoutePorts): Routes {
  return (app) => {
    app.get(
      "/api/hub",
      ADMIN,
      (): AboutHub => ({
        version,
        startedAt,
        startedBy: succession.startedBy,
        state: succession.isMakingRoom ? "draining" : "serving",
        newerBridge: succession.newestBridge ?? null,
      }),
    );
    app.post("/api/hub/successor", ADMIN, (request, reply) => {
      const successor = successorOf(request);
      const answer = succession.ask(successor);
      if (typeof answer === "string") throw new Problem(409, REFUSALS[answer], { code: answer });
      // Not before the successor knows: what ends this hub ends its connections too.
      reply.raw.once("close", () => succession.begin(answer));
      return reply.code(202).send({ handOver: answer.kind });
    });
  };
}

function successorOf(request: FastifyRequest): Successor {
  if (principalOf(request) !== owner) throw new Problem(403, "A hub is succeeded on its own computer");
  const successor = readBody(successorBody, request);
  if (!isAlive(successor.pid)) throw new Problem(400, '"pid" must be that of a running process');
  return successor;
}
