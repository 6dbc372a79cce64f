/** What a remote connection may do (contract §2): scopes per method, and no power in the parameters of a session. Pure. */
import { ACP } from "../../protocol/acp.ts";
import type { RpcError } from "../../protocol/envelope.ts";
import { hubError, RPC } from "../../protocol/errors.ts";
import type { JsonObject } from "../../protocol/json.ts";
import { meets, missingScopes, type Requirement, requirementOf, type Scope } from "../../protocol/scopes.ts";

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

export type ParamsVerdict =
  | { readonly ok: true; readonly params: JsonObject; readonly ignored: readonly string[] }
  | { readonly ok: false; readonly error: RpcError };

/** Judges the parameters of a remote new, load, resume or fork that reaches the agent; provided by the hub (it knows paths). */
export type ParamsFilter = (method: string, params: JsonObject, scopes: ReadonlySet<Scope>) => ParamsVerdict;
