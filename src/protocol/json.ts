/** JSON as it comes off a wire. Unknown members are kept everywhere: a newer peer's extras must survive every hop (B7). */
export type Json = string | number | boolean | null | Json[] | JsonObject;

/** A JSON object. Index access is always possibly undefined (`noUncheckedIndexedAccess`). */
export interface JsonObject {
  [key: string]: Json | undefined;
}

/** JSON that is only written. Our own shapes fit it when they are type aliases: an interface has no index. */
export type Written = string | number | boolean | null | readonly Written[] | WrittenObject;

export type WrittenObject = { readonly [key: string]: Written | undefined };

/** What we say ourselves, as messages carry it. Nobody changes what has been said. */
export const asJson = (said: WrittenObject): JsonObject => said as JsonObject;

/** True for a plain JSON object: not null, not an array. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The string under `key`, or undefined when absent or of another type. */
export function stringAt(object: JsonObject | undefined, key: string): string | undefined {
  const value = object?.[key];
  return typeof value === "string" ? value : undefined;
}

/** The object under `key`, or undefined when absent or of another type. */
export function objectAt(object: JsonObject | undefined, key: string): JsonObject | undefined {
  const value = object?.[key];
  return isObject(value) ? value : undefined;
}

/** The array under `key`, or undefined when absent or of another type. */
export function arrayAt(object: JsonObject | undefined, key: string): Json[] | undefined {
  const value = object?.[key];
  return Array.isArray(value) ? value : undefined;
}

/** The finite number under `key`, or undefined when absent or of another type. */
export function numberAt(object: JsonObject | undefined, key: string): number | undefined {
  const value = object?.[key];
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** Sets an own member, `__proto__` included: plain assignment under that key would change the prototype instead. */
export function put(target: JsonObject, key: string, value: Json | undefined): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}
