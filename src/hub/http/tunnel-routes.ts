/** A tunnel's public address, from the command that runs it: over the local socket alone, because it widens what the hub answers for. */
import type { FastifyRequest } from "fastify";
import { isObject } from "../../protocol/json.ts";
import { owner } from "../principal.ts";
import { TUNNEL_LEASE_MS, type TunnelNames } from "../tunnel-names.ts";
import { principalOf, type Routes } from "./app.ts";
import { ADMIN } from "./needs.ts";
import { Problem } from "./problem.ts";

export function tunnelRoutes(tunnels: TunnelNames): Routes {
  return (app) => {
    app.post("/api/tunnels", ADMIN, (request, reply) => {
      const url = urlOf(request);
      if (!tunnels.renew(url)) throw new Problem(429, "Too many tunnels run at once");
      return reply.code(201).send({ url: url.href, leaseSeconds: TUNNEL_LEASE_MS / 1000 });
    });
    app.delete("/api/tunnels", ADMIN, (request, reply) => {
      tunnels.end(urlOf(request));
      return reply.code(204).send();
    });
  };
}

function urlOf(request: FastifyRequest): URL {
  if (principalOf(request) !== owner) throw new Problem(403, "Tunnels are opened on the hub's own computer");
  const { body } = request;
  const text = isObject(body) && typeof body["url"] === "string" ? body["url"] : "";
  if (!URL.canParse(text) || !/^https?:$/.test(new URL(text).protocol))
    throw new Problem(422, "url must be the http or https address of the tunnel");
  return new URL(text);
}
