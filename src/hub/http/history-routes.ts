/** Sessions of now and before: list, search, export, and the workspaces they ran in (contract §3). */

import type { SessionHit, SessionQuery, Store } from "../../store/ports.ts";
import type { History } from "../history.ts";
import { lineOf } from "../line-note.ts";
import type { SearchTurns } from "../search-turns.ts";
import type { HistorySessionView } from "./api/shapes.ts";
import { principalOf, type Routes } from "./app.ts";
import { exportRoute } from "./export-route.ts";
import { READ } from "./needs.ts";
import { Problem } from "./problem.ts";
import { type Query, readQuery } from "./send-file.ts";
import { lineView } from "./views.ts";

const STATES: ReadonlySet<string> = new Set(["idle", "running", "waiting", "closed", "live"]);

function sessionQuery(query: Query): SessionQuery {
  const [q, workspace, state, cursor, limit] = ["q", "workspace", "state", "cursor", "limit"].map((name) =>
    readQuery(query, name),
  );
  if (state !== undefined && !STATES.has(state)) throw new Problem(400, `"state" is one of ${[...STATES].join(", ")}`);
  const count = limit === undefined ? undefined : Number(limit);
  if (count !== undefined && !(Number.isInteger(count) && count >= 1 && count <= 200)) {
    throw new Problem(400, '"limit" takes a whole number from 1 to 200');
  }
  return {
    ...(q !== undefined && q !== "" && { text: q }),
    ...(workspace !== undefined && { workspace }),
    ...(state !== undefined && { state: state as NonNullable<SessionQuery["state"]> }),
    ...(cursor !== undefined && { cursor }),
    ...(count !== undefined && { limit: count }),
  };
}

function view(hit: SessionHit): HistorySessionView {
  const { sessionId, agent, cwd, title, createdAt, updatedAt, state, closedAt, extra } = hit.session;
  return {
    sessionId,
    agent,
    cwd,
    title: title ?? null,
    createdAt,
    updatedAt,
    state,
    closedAt: closedAt ?? null,
    ...lineView(lineOf(hit.session)),
    instanceId: state === "closed" ? null : (extra["instanceId"] ?? null),
    ...(hit.snippet !== undefined && { snippet: hit.snippet }),
  };
}

export function historyRoutes(store: Store, history: History, searches: SearchTurns): Routes {
  return (app) => {
    app.get<{ Querystring: Query }>("/api/sessions", READ, async (request, reply) => {
      const query = sessionQuery(request.query);
      // An app that goes on typing has let go of the search before.
      const isWanted = (): boolean => !reply.raw.destroyed;
      const page = await searches.run(principalOf(request).deviceId, isWanted, () => store.sessions.list(query));
      return { sessions: page?.hits.map(view) ?? [], nextCursor: page?.nextCursor ?? null };
    });
    app.get("/api/projects", READ, () => store.sessions.workspaces());
    exportRoute(history)(app);
  };
}
