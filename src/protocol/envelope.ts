/**
 * JSON-RPC 2.0 envelopes as this project reads them: parsed once per hop, never validated deeper than the envelope.
 * Ids are kept as sent (P5): `1` and `"1"` differ; `0`, `""`, negative and null are ids.
 */
import { readChunk } from "./chunk-frame.ts";
import { DEPTH_MAX, isTooDeep } from "./depth.ts";
import { RPC } from "./errors.ts";
import { isObject, type Json, type JsonObject } from "./json.ts";

export type RpcId = string | number | null;

export type RpcError = {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
};

export type RpcRequest = {
  readonly jsonrpc: "2.0";
  readonly id: RpcId;
  readonly method: string;
  readonly params?: Json;
};

export type RpcNotification = {
  readonly jsonrpc: "2.0";
  readonly method: string;
  readonly params?: Json;
};

export type RpcResult = {
  readonly jsonrpc: "2.0";
  readonly id: RpcId;
  readonly result: Json;
};

export type RpcFailure = {
  readonly jsonrpc: "2.0";
  readonly id: RpcId;
  readonly error: RpcError;
};

export type RpcResponse = RpcResult | RpcFailure;
export type RpcMessage = RpcRequest | RpcNotification | RpcResponse;

export type Envelope =
  | { readonly kind: "request"; readonly msg: RpcRequest }
  | { readonly kind: "notification"; readonly msg: RpcNotification }
  | { readonly kind: "response"; readonly msg: RpcResponse };

/** A message that arrived: its envelope, and the text it came as, so that it can go on without being written anew. */
export type Frame = Envelope & { readonly text: string };

export type ParsedFrame =
  | { readonly ok: true; readonly frame: Frame }
  | { readonly ok: false; readonly reply: RpcFailure };

const refuse = (code: number, message: string): ParsedFrame => ({
  ok: false,
  reply: { jsonrpc: "2.0", id: null, error: { code, message } },
});

/** An id is kept while its request waits, and stands in the answer again: nobody needs one this long. */
const ID_CHARS_MAX = 1024;

/** True for an id that goes through JSON and back unchanged. Numbers past 2^53 do not (P5). */
function isExactId(id: unknown): id is RpcId {
  if (typeof id === "string") return id.length <= ID_CHARS_MAX;
  if (id === null) return true;
  return typeof id === "number" && Number.isFinite(id) && Math.abs(id) <= Number.MAX_SAFE_INTEGER;
}

function envelopeOf(value: JsonObject): Envelope | string {
  if (value["jsonrpc"] !== "2.0") return 'the member "jsonrpc" must be "2.0"';
  const hasId = "id" in value;
  if (hasId && !isExactId(value["id"]))
    return 'the member "id" must be a string of at most 1024 characters, an exactly representable number or null';
  if ("method" in value) {
    if (typeof value["method"] !== "string") return 'the member "method" must be a string';
    const params = value["params"];
    // Some write what they leave out as null.
    if (params === null) return envelopeOf(withoutParams(value));
    if (params !== undefined && typeof params !== "object") {
      return 'the member "params" must be an object or an array';
    }
    return hasId
      ? { kind: "request", msg: value as RpcRequest }
      : { kind: "notification", msg: value as RpcNotification };
  }
  if (!hasId) return 'a message needs "method" or "id"';
  return { kind: "response", msg: responseOf(value) };
}

function withoutParams({ params: _null, ...rest }: JsonObject): JsonObject {
  return rest;
}

/**
 * The answer as it is meant: refused, it would leave who asked waiting for ever. Many programs spell out the member they do not
 * have as null, some leave out a result that is nothing, or tell an error badly.
 */
function responseOf(value: JsonObject): RpcResponse {
  const hasResult = "result" in value;
  if ("error" in value ? !hasResult && isRpcError(value["error"]) : hasResult) return value as RpcResponse;
  const { result: said, error, ...rest } = value;
  const isError = "error" in value && (error !== null || !hasResult);
  return (isError ? { ...rest, error: asRpcError(error) } : { ...rest, result: said ?? null }) as RpcResponse;
}

function isRpcError(value: unknown): value is RpcError {
  return isObject(value) && typeof value["code"] === "number" && typeof value["message"] === "string";
}

function asRpcError(error: Json | undefined): RpcError {
  if (isRpcError(error)) return error;
  const told = isObject(error) ? error : { message: error ?? "" };
  const code = typeof told["code"] === "number" ? told["code"] : RPC.internalError;
  return { ...told, code, message: typeof told["message"] === "string" ? told["message"] : "" };
}

/**
 * Reads one message. Never throws: junk is -32700, a batch or a broken envelope -32600, both under id null (T1).
 * The refusal never quotes the input: parse errors of Node 20 do, and the input may carry secrets.
 */
export function parseFrame(text: string): ParsedFrame {
  const chunk = readChunk(text);
  if (chunk !== undefined) return { ok: true, frame: framed(chunk, text) };
  if (isTooDeep(text)) return refuse(RPC.invalidRequest, `Invalid request: nested deeper than ${DEPTH_MAX} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(RPC.parseError, "Parse error: not JSON");
  }
  if (Array.isArray(value)) return refuse(RPC.invalidRequest, "Invalid request: batches are not supported");
  if (!isObject(value)) return refuse(RPC.invalidRequest, "Invalid request: not an object");
  const envelope = envelopeOf(value);
  if (typeof envelope === "string") return refuse(RPC.invalidRequest, `Invalid request: ${envelope}`);
  return { ok: true, frame: framed(envelope, envelope.msg === value ? text : JSON.stringify(envelope.msg)) };
}

/** Written out by kind: a spread costs more than all the checks, and this runs for every message. */
function framed(envelope: Envelope, text: string): Frame {
  switch (envelope.kind) {
    case "request":
      return { kind: envelope.kind, msg: envelope.msg, text };
    case "notification":
      return { kind: envelope.kind, msg: envelope.msg, text };
    case "response":
      return { kind: envelope.kind, msg: envelope.msg, text };
  }
}

/** Makes a frame of a message of our own. */
export function frameOf(msg: RpcMessage): Frame {
  const text = JSON.stringify(msg);
  if ("method" in msg) return "id" in msg ? { kind: "request", msg, text } : { kind: "notification", msg, text };
  return { kind: "response", msg, text };
}

export const request = (id: RpcId, method: string, params?: Json): RpcRequest =>
  params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params };

export const notification = (method: string, params?: Json): RpcNotification =>
  params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params };

export const result = (id: RpcId, value: Json): RpcResult => ({ jsonrpc: "2.0", id, result: value });

export const failure = (id: RpcId, error: RpcError): RpcFailure => ({ jsonrpc: "2.0", id, error });

/** The params of a message when they are an object; undefined for absent or positional ones. */
export function paramsOf(msg: { readonly params?: Json }): JsonObject | undefined {
  return isObject(msg.params) ? msg.params : undefined;
}

/** A map key that keeps ids apart by type and value (P5): `1` is not `"1"`. */
export function idKey(id: RpcId): string {
  return typeof id === "string" ? `s${id}` : `${typeof id === "number" ? "n" : "0"}${String(id)}`;
}
