/**
 * Whom a url elicitation is for (X12): an address that signs somebody in is shown to the person whose request led to it, and to
 * nobody else. Pure; the root says whose it is, the mirror who that is among its clients.
 */
import { ACP } from "../../protocol/acp.ts";
import { isObject, type Json, type JsonObject, stringAt } from "../../protocol/json.ts";
import { PRIMARY } from "../../protocol/meta.ts";

/** One device; `isMachines`: the machine's owner, at the editor and at every device with all rights. */
export interface UrlOwner {
  readonly device: string;
  readonly isMachines: boolean;
}

export interface Person {
  readonly device: string;
  readonly isOwner: boolean;
}

export const MACHINES_OWNER: UrlOwner = { device: PRIMARY, isMachines: true };

export const ownerOf = ({ device, isOwner }: Person): UrlOwner => ({ device, isMachines: isOwner });

/** True for a question that is `owner`'s alone to see. Without an owner it is anybody's. */
export function isFor(owner: UrlOwner | undefined, { device, isOwner }: Person): boolean {
  return owner === undefined || device === owner.device || (owner.isMachines && isOwner);
}

export const isUrlElicitation = (method: string, params: JsonObject): boolean =>
  method === ACP.elicitationCreate && params["mode"] === "url";

/** As it stands on the link. A url elicitation whose owner is not told is the machine's owner's. */
export function readUrlOwner(method: string, params: JsonObject, value: Json | undefined): UrlOwner | undefined {
  if (!isUrlElicitation(method, params)) return undefined;
  const device = isObject(value) ? stringAt(value, "device") : undefined;
  if (device === undefined || !isObject(value)) return MACHINES_OWNER;
  return { device, isMachines: value["isMachines"] === true };
}
