/**
 * Who may be sent what: ACP gates some content by what a client declared, and an agent is told of the editor alone or of all
 * clients together. What a client did not declare it does not get (I3). Pure.
 */
import { ACP } from "../protocol/acp.ts";
import { HUB } from "../protocol/hub-methods.ts";
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";

/** `extended`: declared `_meta["acp-hub"]` (B4). The others: the capability of that name. */
export type Audience = "all" | "extended" | "notices" | "compaction" | "plans" | "subagents" | "booleanOptions";

const GATED: ReadonlyMap<string, Audience> = new Map([
  ["notice", "notices"],
  ["compaction_update", "compaction"],
  ["compaction_summary_chunk", "compaction"],
  ["plan_update", "plans"],
  ["plan_removed", "plans"],
  ["subagent_update", "subagents"],
  ["session_message", "subagents"],
  ["session_message_chunk", "subagents"],
]);

/** Live words to the person at the screen: never recorded, never replayed. */
export const isLiveOnly = (kind: string | undefined): boolean => kind === "notice";

export function audienceOf(method: string, params: JsonObject | undefined): Audience {
  if (method === HUB.turn || method === HUB.interactionSettled) return "extended";
  const update = method === ACP.sessionUpdate ? objectAt(params, "update") : undefined;
  const kind = stringAt(update, "sessionUpdate");
  if (kind === "config_option_update") return hasBooleans(update?.["configOptions"]) ? "booleanOptions" : "all";
  return kind === undefined ? "all" : (GATED.get(kind) ?? "all");
}

/** What stands in the place of an update for who may not be sent it; undefined: nothing does. */
export function substituteFor(update: JsonObject | undefined): JsonObject | undefined {
  const kind = stringAt(update, "sessionUpdate");
  if (update === undefined || (kind !== "config_option_update" && kind !== "plan_update")) return undefined;
  if (kind === "config_option_update") return withoutBooleans(update);
  const plan = objectAt(update, "plan");
  const entries = plan?.["type"] === "items" ? arrayAt(plan, "entries") : undefined;
  return entries === undefined ? undefined : { sessionUpdate: "plan", entries };
}

/** An update as a client of these audiences gets it; undefined: not at all. */
export function updateFor(audiences: ReadonlySet<Audience>, update: JsonObject): JsonObject | undefined {
  return audiences.has(audienceOf(ACP.sessionUpdate, { update })) ? update : substituteFor(update);
}

const isBoolean = (option: Json): boolean => isObject(option) && option["type"] === "boolean";
const hasBooleans = (options: Json | undefined): boolean => Array.isArray(options) && options.some(isBoolean);

/** A result or update without the options only some clients know. The same object where it has none. */
export function withoutBooleans(holder: JsonObject): JsonObject {
  const options = arrayAt(holder, "configOptions");
  if (options === undefined || !hasBooleans(options)) return holder;
  return { ...holder, configOptions: options.filter((option) => !isBoolean(option)) };
}

/** An agent's initialize result for a client: a login in a terminal is offered to who can run one. */
export function withoutTerminalLogin(result: JsonObject, canRun: boolean): JsonObject {
  const methods = arrayAt(result, "authMethods");
  if (methods === undefined || canRun) return result;
  return { ...result, authMethods: methods.filter((method) => !isObject(method) || method["type"] !== "terminal") };
}
