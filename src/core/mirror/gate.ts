/** What a remote connection may do (contract §2): scopes per method, and no power in the parameters of a session. Pure. */
import { ACP } from "../../protocol/acp.ts";
import type { RpcError } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import {
  meets,
  missingScopes,
  type Requirement,
  requirementOf,
  type Scope,
  standardName,
} from "../../protocol/scopes.ts";

/** Methods that may or may not reach the agent; when they do they need this as well. */
const TO_AGENT: Requirement = [["sessions:prompt"]];

function refusal(scopes: ReadonlySet<Scope>, requirement: Requirement, method: string): RpcError {
  const missing = missingScopes(scopes, requirement);
  return hubError(RPC.forbidden, "missing-scope", `This credential may not ${method}: it lacks ${missing.join(", ")}`, {
    method,
    missing,
  });
}

/** Undefined when `method` is allowed, else the error to answer with. */
export function checkMethod(scopes: ReadonlySet<Scope>, method: string): RpcError | undefined {
  const requirement = requirementOf(method);
  return meets(scopes, requirement) ? undefined : refusal(scopes, requirement, method);
}

/** Asked when a load, resume or close turns out to reach the agent. */
export function checkReachesAgent(scopes: ReadonlySet<Scope>, method: string): RpcError | undefined {
  return meets(scopes, TO_AGENT) ? undefined : refusal(scopes, TO_AGENT, method);
}

/** Methods whose parameters an agent may take as process options. */
export const OPENS_SESSION: ReadonlySet<string> = new Set([
  ACP.sessionNew,
  ACP.sessionLoad,
  ACP.sessionResume,
  ACP.sessionFork,
]);

/** What the multiplexer answers itself or judges on its way: under any other name it would pass unseen. */
const OURS: ReadonlySet<string> = new Set([
  ...OPENS_SESSION,
  ACP.initialize,
  ACP.sessionList,
  ACP.sessionPrompt,
  ACP.sessionClose,
]);

/** True for a method an agent may take for one of ours: `_vendor/session/new` would carry parameters nobody has looked at. */
export const isDisguised = (method: string): boolean => !OURS.has(method) && OURS.has(standardName(method));

const REQUESTS_ONLY: ReadonlySet<string> = new Set([
  ...OURS,
  ACP.authenticate,
  ACP.logout,
  ACP.sessionDelete,
  ACP.sessionSetMode,
  ACP.sessionSetModel,
  ACP.sessionSetConfigOption,
]);

/**
 * True when a notification may go on to the agent. ACP's requests are none, and an agent that took one for a request would act on
 * parameters that were never judged; everything unknown needs what an unknown request needs.
 */
export function mayNotify(scopes: ReadonlySet<Scope>, method: string): boolean {
  if (REQUESTS_ONLY.has(standardName(method)) || method.startsWith("_acp-hub/")) return false;
  if (method === ACP.sessionCancel) return checkMethod(scopes, method) === undefined;
  return meets(scopes, TO_AGENT) && checkMethod(scopes, method) === undefined;
}

export type ParamsVerdict =
  | { readonly ok: true; readonly params: JsonObject; readonly ignored: readonly string[] }
  | { readonly ok: false; readonly error: RpcError };

/** Judges the parameters of a remote new, load, resume or fork that reaches the agent; provided by the hub (it knows paths). */
export type ParamsFilter = (method: string, params: JsonObject, scopes: ReadonlySet<Scope>) => ParamsVerdict;
