/** `_meta["acp-hub"]`: ours on every hop. Readers take only the fields they know; nobody else's `_meta` is touched. */

import { type Cursor, epoch } from "./ids.ts";
import { isObject, type Json, type JsonObject, numberAt, objectAt, put, stringAt } from "./json.ts";

export const HUB_META = "acp-hub";

/** The editor's `connectionId` and `device` in everything that names who did something. */
export const PRIMARY = "primary";

/** Who did something, as the credential says it. `connectionId` names the socket, `device` the paired thing. */
export type By = {
  readonly connectionId: string;
  readonly device: string;
  readonly name: string;
};

/** An author as the bridge is told of one; clients are told no more than `By`. */
export interface Author extends By {
  /** It is the machine's owner: all rights, and no person an outside issuer vouches for (X12). */
  readonly isOwner?: boolean;
}

/** What stands on each numbered event. `seq` is the last event covered, `from` the first when several were joined. */
export type Stamp = {
  readonly epoch: string;
  readonly seq: number;
  readonly ts: number;
  readonly from?: number;
  readonly by?: By;
  readonly promptId?: string;
  readonly replay?: true;
  readonly page?: true;
  readonly synthetic?: "local" | "root";
  /** On the link: the connection that caused it and knows already. */
  readonly except?: string;
};

/** The hub's member of a message's params, or undefined. */
export function hubMeta(params: JsonObject | undefined): JsonObject | undefined {
  return objectAt(objectAt(params, "_meta"), HUB_META);
}

/** `params` with the hub's `_meta` member replaced (or removed when `value` is undefined); other `_meta` keys stay. */
export function withHubMeta(params: JsonObject, value: JsonObject | undefined): JsonObject {
  const old = objectAt(params, "_meta");
  const rest: JsonObject = {};
  for (const [key, member] of Object.entries(old ?? {})) if (key !== HUB_META) put(rest, key, member);
  if (value !== undefined) rest[HUB_META] = value;
  const { _meta: _dropped, ...others } = params;
  if (Object.keys(rest).length === 0) return others;
  return { ...others, _meta: rest };
}

/** Reads a cursor a client sent; undefined when absent or malformed (the caller then says so). */
export function readCursor(value: Json | undefined): Cursor | undefined {
  if (!isObject(value)) return undefined;
  const name = stringAt(value, "epoch");
  const seq = numberAt(value, "seq");
  if (name === undefined || seq === undefined || !Number.isSafeInteger(seq) || seq < 0) return undefined;
  return { epoch: epoch(name), seq };
}

/** Reads an author; undefined when absent or malformed. */
export function readBy(value: Json | undefined): By | undefined {
  if (!isObject(value)) return undefined;
  const connectionId = stringAt(value, "connectionId");
  const device = stringAt(value, "device");
  const name = stringAt(value, "name");
  if (connectionId === undefined || device === undefined || name === undefined) return undefined;
  return { connectionId, device, name };
}

/** Reads the stamp of a numbered event; undefined when there is none. */
export function readStamp(params: JsonObject | undefined): Stamp | undefined {
  const meta = hubMeta(params);
  const name = stringAt(meta, "epoch");
  const seq = numberAt(meta, "seq");
  if (meta === undefined || name === undefined || seq === undefined) return undefined;
  return meta as Stamp;
}
