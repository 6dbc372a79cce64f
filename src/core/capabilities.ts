/**
 * Client capabilities: kept per connection, merged only for what the agent is told (I3, I4). Pure.
 */

import { isObject, type Json, type JsonObject, objectAt, put } from "../protocol/json.ts";
import { HUB_META } from "../protocol/meta.ts";
import type { Audience } from "./audience.ts";

/** What one client can show, read from its own `clientCapabilities`. */
export interface ClientAbilities {
  readonly hasForms: boolean;
  readonly hasUrls: boolean;
  /** It declared `_meta["acp-hub"]`: it understands `_acp-hub/*` (B4). */
  readonly isExtended: boolean;
  /** `_meta["acp-hub"].updates === "all"`: every session at once, without attaching (B1). */
  readonly wantsAll: boolean;
  /** `auth.terminal`: it can run the agent's login in a terminal. */
  readonly hasTerminalLogin: boolean;
  /** Whose updates it may be sent. */
  readonly audiences: ReadonlySet<Audience>;
}

export function abilitiesOf(capabilities: JsonObject | undefined): ClientAbilities {
  const elicitation = objectAt(capabilities, "elicitation");
  const hub = objectAt(objectAt(capabilities, "_meta"), HUB_META);
  return {
    hasForms: isObject(elicitation?.["form"]),
    hasUrls: isObject(elicitation?.["url"]),
    isExtended: hub !== undefined,
    wantsAll: hub?.["updates"] === "all",
    hasTerminalLogin: objectAt(capabilities, "auth")?.["terminal"] === true,
    audiences: audiencesOf(capabilities, hub !== undefined),
  };
}

/** ACP declares by an object; `true` is taken for one. */
const isDeclared = (value: Json | undefined): boolean => value === true || isObject(value);

function audiencesOf(capabilities: JsonObject | undefined, isExtended: boolean): ReadonlySet<Audience> {
  const session = objectAt(capabilities, "session");
  const declared: [Audience, boolean][] = [
    ["all", true],
    ["extended", isExtended],
    ["notices", isDeclared(session?.["notices"])],
    ["compaction", isDeclared(session?.["compaction"])],
    ["booleanOptions", isDeclared(objectAt(session, "configOptions")?.["boolean"])],
    ["plans", isDeclared(capabilities?.["plan"])],
    ["subagents", isDeclared(capabilities?.["subagents"])],
  ];
  return new Set(declared.flatMap(([audience, isIn]) => (isIn ? [audience] : [])));
}

/** Members that are bound to a client's own host: the primary's alone count (I4). */
const HOST_BOUND: ReadonlySet<string> = new Set(["fs", "terminal", "auth"]);

function orMerge(a: Json | undefined, b: Json | undefined): Json | undefined {
  if (a === undefined || a === null) return b;
  if (b === undefined || b === null) return a;
  if (typeof a === "boolean" && typeof b === "boolean") return a || b;
  if (isObject(a) && isObject(b)) {
    const merged: JsonObject = { ...a };
    for (const [key, value] of Object.entries(b))
      put(merged, key, orMerge(Object.hasOwn(merged, key) ? merged[key] : undefined, value));
    return merged;
  }
  return a;
}

/** `_meta` merges per key, never deeper: the first value stands (the primary's), then the latest of the others. */
function mergeMeta(first: JsonObject | undefined, others: readonly (JsonObject | undefined)[]): JsonObject | undefined {
  const merged: JsonObject = {};
  for (const other of others) for (const [key, value] of Object.entries(other ?? {})) put(merged, key, value);
  for (const [key, value] of Object.entries(first ?? {})) put(merged, key, value);
  delete merged[HUB_META];
  return Object.keys(merged).length > 0 ? merged : undefined;
}

/**
 * The OR over all connections in scope, in the order they came. `primary` undefined: headless, no host-bound members.
 * `_meta["acp-hub"]` never reaches the agent.
 */
export function mergeCapabilities(primary: JsonObject | undefined, remotes: readonly JsonObject[]): JsonObject {
  const merged: JsonObject = {};
  for (const [key, value] of Object.entries(primary ?? {})) if (key !== "_meta") put(merged, key, value);
  for (const remote of remotes) {
    for (const [key, value] of Object.entries(remote)) {
      if (key === "_meta" || HOST_BOUND.has(key)) continue;
      put(merged, key, orMerge(Object.hasOwn(merged, key) ? merged[key] : undefined, value));
    }
  }
  const meta = mergeMeta(
    objectAt(primary, "_meta"),
    remotes.map((remote) => objectAt(remote, "_meta")),
  );
  if (meta !== undefined) merged["_meta"] = meta;
  return merged;
}

/** Capabilities of a spawned agent: the primary's own plus forms, which the hub can always render (I3, X8). */
export function guaranteedCapabilities(primary: JsonObject | undefined, isFormGuaranteed: boolean): JsonObject {
  const own = mergeCapabilities(primary, []);
  if (!isFormGuaranteed) return own;
  const elicitation = objectAt(own, "elicitation") ?? {};
  return { ...own, elicitation: { ...elicitation, form: isObject(elicitation["form"]) ? elicitation["form"] : {} } };
}
