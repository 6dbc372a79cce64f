/** Journal items as the messages a reader gets, stamped. */

import { HUB } from "../../protocol/hub-methods.ts";
import { type JsonObject, objectAt } from "../../protocol/json.ts";
import { withHubMeta } from "../../protocol/meta.ts";
import { type Audience, audienceOf, substituteFor } from "../audience.ts";
import { stampedNotification, stampObject } from "../stamp.ts";
import { itemParams, type JournalItem } from "./item.ts";

export interface FrameMarks {
  readonly replay?: true;
  readonly page?: true;
}

const marksOf = (item: JournalItem, epoch: string, marks: FrameMarks) => ({
  epoch,
  seq: item.last,
  ts: item.ts,
  ...(item.first !== item.last && { from: item.first }),
  ...(item.by !== undefined && { by: item.by }),
  ...(item.promptId !== undefined && { promptId: item.promptId }),
  ...(item.synthetic !== undefined && { synthetic: item.synthetic }),
  ...marks,
});

/** An item for a client. */
export function itemText(item: JournalItem, epoch: string, marks: FrameMarks = {}): string {
  return stampedNotification(item.method, itemParams(item), marksOf(item, epoch, marks));
}

/** An item for a client of these audiences; undefined: it is not for that client. */
export function itemTextFor(
  audiences: ReadonlySet<Audience>,
  item: JournalItem,
  epoch: string,
  marks: FrameMarks = {},
): string | undefined {
  if (item.run !== undefined || audiences.has(audienceOf(item.method, item.params)))
    return itemText(item, epoch, marks);
  const update = substituteFor(objectAt(item.params, "update"));
  return update === undefined ? undefined : itemText({ ...item, params: { ...item.params, update } }, epoch, marks);
}

/** An item for a mirror: joined text keeps its piece lengths, so that the copy is as exact as the original (J4). */
export function itemLinkText(item: JournalItem, epoch: string, marks: FrameMarks = {}): string {
  if (item.run === undefined || item.run.pieces.length < 2) return itemText(item, epoch, marks);
  const stamp: JsonObject = { ...stampObject(marksOf(item, epoch, marks)), pieces: item.run.pieces };
  return JSON.stringify({ jsonrpc: "2.0", method: item.method, params: withHubMeta(itemParams(item), stamp) });
}

/** An item for a client that speaks plain ACP: no stamp at all (the primary). */
export function itemPlainText(item: JournalItem): string {
  return JSON.stringify({ jsonrpc: "2.0", method: item.method, params: itemParams(item) });
}

/** True for items only clients that understand `_acp-hub/*` get (B4). */
export const isExtendedOnly = (item: JournalItem): boolean =>
  item.method === HUB.turn || item.method === HUB.interactionSettled;
