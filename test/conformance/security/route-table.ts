/** Every HTTP route of the hub and who may use it (contract §3), written down apart from the code: what the matrix checks. */
import type { Scope } from "../../../src/protocol/scopes.ts";

export interface RouteEntry {
  /** As the framework names it: `GET /api/instances/:id`. */
  readonly route: string;
  /** What the credential needs: a scope, "any" credential, or "nobody": no credential at all. */
  readonly needs: Scope | "any" | "nobody";
  /** The target to ask for; `{id}` is a device made for this request alone. */
  readonly path?: string;
  readonly body?: unknown;
  /** Who has the scope may still be told no, by this code of the problem. */
  readonly refusedAnyway?: string;
  /** A stream: only its head is read. */
  readonly isStream?: true;
}

const INSTANCE = "/api/instances/i-0";
const FILES = `${INSTANCE}/fs`;

export const ROUTES: readonly RouteEntry[] = [
  { route: "GET /healthz", needs: "nobody" },
  { route: "GET /readyz", needs: "nobody" },
  { route: "GET /api/health", needs: "nobody" },
  { route: "GET /.well-known/jwks.json", needs: "nobody" },
  // The app itself: pages without any of the owner's data.
  { route: "GET /", needs: "nobody" },
  { route: "GET /*", needs: "nobody", path: "/no/such/asset" },
  { route: "POST /api/pair", needs: "nobody", body: { code: 7 } },
  { route: "POST /api/token", needs: "nobody", body: { refreshToken: 7 } },
  { route: "GET /metrics", needs: "admin" },
  { route: "GET /api/hub", needs: "admin" },
  // On the local socket alone, as tunnels are.
  {
    route: "POST /api/hub/successor",
    needs: "admin",
    body: { version: "99.0.0", pid: process.pid, startedBy: "bridge" },
    refusedAnyway: "local",
  },
  { route: "GET /api/audit", needs: "admin" },
  { route: "GET /api/diagnostics", needs: "admin", path: "/api/diagnostics?only=none" },
  { route: "POST /api/pairings", needs: "admin", body: { scope: "viewer" } },
  { route: "POST /api/tokens", needs: "admin", body: { scope: "viewer", name: "made by a test" } },
  // On the local socket alone; the network's owner is told so.
  { route: "POST /api/tunnels", needs: "admin", body: { url: "https://tunnel.example" }, refusedAnyway: "tunnels" },
  { route: "DELETE /api/tunnels", needs: "admin", body: { url: "https://tunnel.example" }, refusedAnyway: "tunnels" },
  { route: "POST /api/ws-ticket", needs: "any" },
  { route: "POST /api/logout", needs: "any" },
  { route: "GET /api/openapi.json", needs: "any" },
  { route: "GET /api/devices", needs: "any" },
  // Its own device by any credential; another one's needs `admin`.
  { route: "PATCH /api/devices/:id", needs: "admin", path: "/api/devices/{id}", body: { name: "renamed" } },
  { route: "DELETE /api/devices/:id", needs: "admin", path: "/api/devices/{id}" },
  { route: "GET /api/instances", needs: "sessions:read" },
  { route: "GET /api/instances/:id", needs: "sessions:read", path: INSTANCE },
  { route: "GET /api/instances/:id/status", needs: "sessions:read", path: `${INSTANCE}/status` },
  { route: "GET /api/interactions", needs: "sessions:read" },
  { route: "GET /api/events", needs: "sessions:read", isStream: true },
  { route: "GET /api/push/key", needs: "sessions:read" },
  { route: "PUT /api/push/subscription", needs: "sessions:read", body: {} },
  { route: "DELETE /api/push/subscription", needs: "sessions:read" },
  { route: "GET /api/push/preferences", needs: "sessions:read" },
  { route: "PATCH /api/push/preferences", needs: "sessions:read", body: {} },
  { route: "PUT /api/push/seen", needs: "sessions:read", body: {} },
  { route: "POST /api/push/test", needs: "sessions:read" },
  { route: "GET /api/push/deliveries", needs: "sessions:read" },
  { route: "GET /api/sessions", needs: "sessions:read" },
  { route: "GET /api/projects", needs: "sessions:read" },
  { route: "GET /api/sessions/:sid/export", needs: "sessions:read", path: "/api/sessions/s1/export" },
  {
    route: "POST /api/interactions/:id/answer",
    needs: "interactions:answer",
    path: "/api/interactions/none/answer",
    body: { answer: { optionId: "x" } },
  },
  { route: "GET /api/instances/:id/fs/list", needs: "files:read", path: `${FILES}/list?sessionId=s1` },
  { route: "GET /api/instances/:id/fs/file", needs: "files:read", path: `${FILES}/file?sessionId=s1&path=a.txt` },
  { route: "GET /api/instances/:id/fs/search", needs: "files:read", path: `${FILES}/search?sessionId=s1&q=a` },
  {
    route: "POST /api/instances/:id/sessions/:sid/close",
    needs: "sessions:prompt",
    path: `${INSTANCE}/sessions/none/close`,
    body: {},
  },
  {
    route: "POST /api/instances/:id/sessions/:sid/rename",
    needs: "sessions:prompt",
    path: `${INSTANCE}/sessions/s1/rename`,
    body: { title: "renamed" },
  },
  {
    route: "POST /api/instances",
    needs: "instances:create",
    body: { workspacePath: "/nowhere" },
    // `create.roots` is empty: nobody may.
    refusedAnyway: "off",
  },
  { route: "DELETE /api/instances/:id", needs: "instances:create", path: INSTANCE, refusedAnyway: "not-headless" },
];

export const pathOf = ({ route, path }: RouteEntry): string => path ?? route.slice(route.indexOf(" ") + 1);
export const methodOf = ({ route }: RouteEntry): string => route.slice(0, route.indexOf(" "));
