/** Why a file or terminal request of the agent failed, in words an agent can act on. */
import type { RpcError } from "../../protocol/envelope.ts";
import { RPC } from "../../protocol/errors.ts";
import { PlaceError } from "./open-inside.ts";

/** `params`: the request is wrong. `unknown`: what it names does not exist. `cancelled`: taken back. `failed`: the system said no. */
export type HostErrorCode = "params" | "unknown" | "cancelled" | "failed";

export class HostError extends Error {
  override readonly name = "HostError";
  readonly code: HostErrorCode;

  constructor(code: HostErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const CODES: Readonly<Record<HostErrorCode, number>> = {
  params: RPC.invalidParams,
  unknown: RPC.resourceNotFound,
  cancelled: RPC.requestCancelled,
  failed: RPC.internalError,
};

/** What the agent is answered. */
export function hostErrorToRpc(error: unknown): RpcError {
  if (error instanceof HostError) return { code: CODES[error.code], message: error.message };
  if (error instanceof PlaceError) {
    const code = error.code === "missing" ? RPC.resourceNotFound : RPC.invalidParams;
    return { code, message: error.message, data: { reason: error.code } };
  }
  return { code: RPC.internalError, message: error instanceof Error ? error.message : "The request failed" };
}
