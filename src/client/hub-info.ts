/** What the hub says of itself and of this connection in its initialize result (contract §4). */
import { arrayAt, isObject, type Json, type JsonObject, objectAt, stringAt } from "../protocol/json.ts";
import { HUB_META } from "../protocol/meta.ts";
import { isScope, type Scope } from "../protocol/scopes.ts";

export interface HubInfo {
  readonly version: string | undefined;
  readonly connectionId: string | undefined;
  /** Set on a connection that is bound to one instance. */
  readonly instance: string | undefined;
  readonly scopes: ReadonlySet<Scope>;
  /** The recorded name of this device. */
  readonly device: string | undefined;
  readonly deviceId: string | undefined;
  readonly features: readonly string[];
  /** The whole initialize result, for what is not read here. */
  readonly result: JsonObject;
}

const strings = (values: readonly Json[] | undefined): string[] =>
  (values ?? []).filter((value): value is string => typeof value === "string");

/** The name in a `device` member, which is a string or {id, name}. */
function deviceName(meta: JsonObject | undefined): string | undefined {
  return stringAt(meta, "device") ?? stringAt(objectAt(meta, "device"), "name");
}

export function readHubInfo(result: Json): HubInfo {
  const body = isObject(result) ? result : {};
  const meta = objectAt(objectAt(body, "_meta"), HUB_META);
  return {
    version: stringAt(meta, "version"),
    connectionId: stringAt(meta, "connectionId"),
    instance: stringAt(meta, "instance"),
    scopes: new Set(strings(arrayAt(meta, "scopes")).filter(isScope)),
    device: deviceName(meta),
    deviceId: stringAt(objectAt(meta, "device"), "id"),
    features: strings(arrayAt(meta, "features")),
    result: body,
  };
}
