/** How many items a page of older history has. Pure. */
import { type JsonObject, numberAt } from "../../protocol/json.ts";

const PAGE_MAX = 500;
/** The predecessor's. */
const PAGE_DEFAULT = 50;

export function pageLimit(params: JsonObject): number {
  const limit = numberAt(params, "limit") ?? PAGE_DEFAULT;
  return Number.isFinite(limit) ? Math.min(Math.max(1, Math.floor(limit)), PAGE_MAX) : PAGE_DEFAULT;
}
