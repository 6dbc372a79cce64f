/**
 * ZCode's envelopes: one JSON object per line, without `jsonrpc`. The other side refuses a frame with any other
 * top-level key (-32600), so frames are built here and nowhere else.
 */
import { isTooDeep } from "../../../protocol/depth.ts";
import { isObject, type Json, type JsonObject } from "../../../protocol/json.ts";

export type ZId = string | number;

export interface ZError {
  readonly code: number;
  readonly message: string;
  readonly data?: Json;
}

export type ZFrame =
  | { readonly kind: "request"; readonly id: ZId; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "notification"; readonly method: string; readonly params: JsonObject }
  | { readonly kind: "result"; readonly id: ZId; readonly result: Json }
  | { readonly kind: "error"; readonly id: ZId; readonly error: ZError };

const isId = (value: unknown): value is ZId => typeof value === "string" || typeof value === "number";

function errorOf(value: Json | undefined): ZError {
  if (!isObject(value)) return { code: 0, message: "error without a description" };
  const code = typeof value["code"] === "number" ? value["code"] : 0;
  const message = typeof value["message"] === "string" ? value["message"] : "error without a message";
  return value["data"] === undefined ? { code, message } : { code, message, data: value["data"] };
}

/** Reads one line; undefined for anything that is no ZCode frame (a stray log line, a half line). */
export function readFrame(line: string): ZFrame | undefined {
  if (isTooDeep(line)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isObject(value)) return undefined;
  const id = value["id"];
  const method = value["method"];
  if (typeof method === "string") {
    const params = isObject(value["params"]) ? value["params"] : {};
    return isId(id) ? { kind: "request", id, method, params } : { kind: "notification", method, params };
  }
  if (!isId(id)) return undefined;
  if ("error" in value) return { kind: "error", id, error: errorOf(value["error"]) };
  return { kind: "result", id, result: value["result"] ?? null };
}

export const requestLine = (id: ZId, method: string, params: JsonObject): string =>
  JSON.stringify({ id, method, params });
export const resultLine = (id: ZId, result: Json): string => JSON.stringify({ id, result });
export const errorLine = (id: ZId, code: number, message: string): string =>
  JSON.stringify({ id, error: { code, message } });
