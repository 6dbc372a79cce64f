/** The plan of a session: its todos, or those of its groups where the flat list is empty. */
import { arrayAt, isObject, type Json, type JsonObject, stringAt } from "../../../protocol/json.ts";
import type { Update } from "./event.ts";

const STATUSES = new Set(["pending", "in_progress", "completed"]);
const PRIORITIES = new Set(["high", "medium", "low"]);

function entries(values: readonly Json[]): JsonObject[] {
  return values.flatMap((value) => {
    const content = isObject(value) ? stringAt(value, "content") : undefined;
    if (!isObject(value) || content === undefined) return [];
    const status = stringAt(value, "status") ?? "pending";
    const priority = stringAt(value, "priority") ?? "medium";
    return [
      {
        content,
        status: STATUSES.has(status) ? status : "pending",
        priority: PRIORITIES.has(priority) ? priority : "medium",
      },
    ];
  });
}

/** The plan entries of a snapshot; undefined when the snapshot does not speak of todos at all. */
export function planEntries(snapshot: JsonObject): JsonObject[] | undefined {
  const todos = arrayAt(snapshot, "todos");
  const groups = arrayAt(snapshot, "todoGroups");
  if (todos === undefined && groups === undefined) return undefined;
  const flat = entries(todos ?? []);
  if (flat.length > 0) return flat;
  return (groups ?? []).flatMap((group) =>
    isObject(group) ? entries(arrayAt(group, "todos") ?? arrayAt(group, "entries") ?? []) : [],
  );
}

export const planUpdate = (list: readonly JsonObject[]): Update => ({ sessionUpdate: "plan", entries: [...list] });

/** Equal for equal plans, whatever order the members came in (`entries` builds them in one order). */
export const planSignature = (list: readonly JsonObject[]): string => JSON.stringify(list);
