/** Who did what from where: read-only, for `admin` (`acp-hub audit`). */
import type { Store } from "../../store/ports.ts";
import type { Routes } from "./app.ts";
import { ADMIN } from "./needs.ts";
import { Problem } from "./problem.ts";

const LIMIT_MAX = 1000;

export function auditRoutes(store: Store): Routes {
  return (app) => {
    app.get<{ Querystring: { after?: string; limit?: string } }>("/api/audit", ADMIN, (request) => {
      const { after, limit } = request.query;
      const count = Math.min(readCount("limit", limit) ?? 100, LIMIT_MAX);
      const from = readCount("after", after);
      return { entries: from === undefined ? store.audit.tail(count) : store.audit.read(from, count) };
    });
  };
}

function readCount(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const value = Number(text);
  if (Number.isInteger(value) && value >= 0) return value;
  throw new Problem(400, `"${name}" takes a whole number`);
}
