/**
 * Puts the stamp of a numbered event into a message: `params._meta["acp-hub"]` (B1). The common frame is spliced, so that an
 * update is never written anew; anything unusual is re-serialised.
 */

import type { JsonObject } from "../protocol/json.ts";
import { HUB_META, type Stamp, withHubMeta } from "../protocol/meta.ts";

/** How almost every update of every agent starts. The position of the splice is certain from these bytes alone. */
const UPDATE_PREFIX = '{"jsonrpc":"2.0","method":"session/update","params":{';

/** The stamp as a JSON object, for a message that is written anew. */
export function stampObject(stamp: Stamp): JsonObject {
  const { epoch, seq, ts, from, by, promptId, replay, page, synthetic, except } = stamp;
  return {
    epoch,
    seq,
    ts,
    ...(from !== undefined && { from }),
    ...(by !== undefined && { by: { ...by } }),
    ...(promptId !== undefined && { promptId }),
    ...(replay !== undefined && { replay }),
    ...(page !== undefined && { page }),
    ...(synthetic !== undefined && { synthetic }),
    ...(except !== undefined && { except }),
  };
}

function stampText(stamp: Stamp): string {
  const { epoch, seq, ts } = stamp;
  const { from, by, replay, page, synthetic, except } = stamp;
  if ((from ?? by ?? replay ?? page ?? synthetic ?? except) !== undefined) return JSON.stringify(stampObject(stamp));
  return `{"epoch":${JSON.stringify(epoch)},"seq":${seq},"ts":${ts}}`;
}

/** The notification's text with the stamp in. `text` is the message as it came, `params` the same parsed. */
export function spliceStamp(text: string, method: string, params: JsonObject, stamp: Stamp): string {
  if (
    params["_meta"] === undefined &&
    text.startsWith(UPDATE_PREFIX) &&
    text.charCodeAt(UPDATE_PREFIX.length) === 0x22
  ) {
    return `${UPDATE_PREFIX}"_meta":{"${HUB_META}":${stampText(stamp)}},${text.slice(UPDATE_PREFIX.length)}`;
  }
  return stampedNotification(method, params, stamp);
}

/** A notification written with its stamp. */
export function stampedNotification(method: string, params: JsonObject, stamp: Stamp): string {
  return JSON.stringify({ jsonrpc: "2.0", method, params: withHubMeta(params, stampObject(stamp)) });
}
