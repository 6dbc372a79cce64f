/** What a call of this client can fail with. Wire errors keep their code; everything else is one of a closed set. */
import type { RpcError } from "../protocol/envelope.ts";
import { isObject, type Json } from "../protocol/json.ts";

export type ClientErrorCode = "aborted" | "connection-lost" | "not-connected" | "timeout" | "outbox-full" | "not-open";

export class ClientError extends Error {
  override readonly name = "ClientError";
  readonly code: ClientErrorCode;

  constructor(code: ClientErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The peer answered a request with an error. `hubCode` is the hub's own name for it (`HubErrorCode`), where it gave one. */
export class CallError extends Error {
  override readonly name = "CallError";
  readonly code: number;
  readonly hubCode: string | undefined;
  readonly data: Json | undefined;

  constructor(error: RpcError) {
    super(error.message);
    this.code = error.code;
    this.data = error.data;
    const code = isObject(error.data) ? error.data["code"] : undefined;
    this.hubCode = typeof code === "string" ? code : undefined;
  }
}

/** True for the failures that a new socket can mend. */
export function isLinkFailure(error: unknown): boolean {
  return error instanceof ClientError && (error.code === "connection-lost" || error.code === "not-connected");
}
