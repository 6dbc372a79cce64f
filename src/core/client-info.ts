/** What of a client's own words about itself others are told. Pure. */
import { isObject, type Json, type JsonObject, stringAt } from "../protocol/json.ts";

/** Longer is no name: every reader of the session is sent it. */
const CHARS_MAX = 64;

/** The members of `clientInfo` that name a program; null when there is none. */
export function publicClientInfo(clientInfo: Json | undefined): JsonObject | null {
  if (!isObject(clientInfo)) return null;
  const named: JsonObject = {};
  for (const key of ["name", "title", "version"]) {
    const value = stringAt(clientInfo, key);
    if (value !== undefined) named[key] = value.slice(0, CHARS_MAX);
  }
  return named;
}
