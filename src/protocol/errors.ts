/**
 * The one table of wire error codes. JSON-RPC and ACP numbers first, ours in `data.code` (a closed union):
 * numbers tell a machine the class, `data.code` tells it the case, `message` tells a person what to do.
 */
import type { RpcError } from "./envelope.ts";
import type { JsonObject } from "./json.ts";

/** Codes of JSON-RPC 2.0 and ACP v1. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
  authRequired: -32000,
  resourceNotFound: -32002,
  /** The credential lacks the scope, or a parameter would carry power it may not (contract §2). */
  forbidden: -32003,
  /** The session is readable but not live: history only (S1 d). */
  readOnly: -32004,
  requestCancelled: -32800,
} as const;

/** What went wrong, for programs: `error.data.code`. */
export type HubErrorCode =
  | "agent-exited"
  | "agent-not-ready"
  | "ambiguous-session"
  | "cursor-expired"
  | "duplicate-request-id"
  | "forbidden-parameter"
  | "instance-gone"
  | "instance-required"
  | "lane-full"
  | "link-lost"
  | "missing-scope"
  | "not-initialized"
  | "outcome-unknown"
  | "prompt-mismatch"
  | "session-not-live"
  | "session-running"
  | "too-large"
  | "too-many-requests"
  | "unknown-prompt"
  | "unknown-session";

/** A wire error of ours. `extra` members stand beside `code` in `data`; never user text or secrets. */
export function hubError(code: number, hubCode: HubErrorCode, message: string, extra: JsonObject = {}): RpcError {
  return { code, message, data: { code: hubCode, ...extra } };
}

export const methodNotFound = (method: string): RpcError => ({
  code: RPC.methodNotFound,
  message: `Method not found: ${method}`,
  data: { method },
});

export const invalidParams = (field: string, expected: string): RpcError => ({
  code: RPC.invalidParams,
  message: `Invalid params: "${field}" ${expected}`,
  data: { field },
});
