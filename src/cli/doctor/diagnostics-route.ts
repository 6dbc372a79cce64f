/** `GET /api/diagnostics[?only=a,b]` for admins: what `acp-hub doctor` finds, seen from the hub's own process. */
import type { Paths } from "../../config/paths.ts";
import type { DiscoveryState } from "../../hub/discovery.ts";
import type { Routes } from "../../hub/http/app.ts";
import { ADMIN } from "../../hub/http/needs.ts";
import type { StorageState } from "../../hub/storage-state.ts";

export interface DiagnosticsParts {
  readonly paths: Paths;
  readonly env: NodeJS.ProcessEnv;
  /** How the announcement stands now; undefined before it began. */
  discovery(): DiscoveryState | undefined;
  /** Whether the database is being written; undefined before the hub runs. */
  storage(): StorageState | undefined;
}

/** Answers {discovery, storage, findings}. `only=none` runs no check. */
export function diagnosticsRoutes({ paths, env, discovery, storage }: DiagnosticsParts): Routes {
  return (app) => {
    app.get<{ Querystring: { only?: string } }>("/api/diagnostics", ADMIN, async ({ query }) => {
      const only = query.only === undefined ? undefined : new Set(query.only.split(","));
      // Loaded when asked for: no hub pays for it at its start.
      const { diagnose } = await import("./diagnose.ts");
      // Asking ourselves for our own state would never end.
      const state = discovery() ?? { kind: "off" as const, reason: "stopped" as const };
      const health = storage();
      const known = { discovery: state, ...(health !== undefined && { storage: health }) };
      return { ...known, findings: await diagnose({ paths, env, ...known }, only) };
    });
  };
}
