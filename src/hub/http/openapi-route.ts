/** The OpenAPI document of this very hub: any credential may read it, whatever its scopes. */
import type { Requirement } from "../../protocol/scopes.ts";
import type { Routes } from "./app.ts";
import { ANY } from "./needs.ts";

export interface OpenApiPorts {
  readonly version: string;
  readonly basePath: string;
  readonly routes: () => ReadonlyMap<string, Requirement | undefined>;
}

export function openApiRoute({ version, basePath, routes }: OpenApiPorts): Routes {
  let text: string | undefined;
  return (app) => {
    app.get("/api/openapi.json", ANY, async (_request, reply) => {
      // Made when it is first asked for: no hub pays for it at its start.
      const { openApiDocument } = await import("./api/document.ts");
      text ??= JSON.stringify(openApiDocument({ version, basePath, routes: routes() }));
      return reply.type("application/json").send(text);
    });
  };
}
