/**
 * The body of a journal row: one item a line, `{"f":first,"l":last,"n":[piece lengths],"m":message}`. The numbers come first,
 * so a reader skips lines without parsing them.
 */
import { isObject } from "../protocol/json.ts";
import { StoreError } from "./errors.ts";
import type { JournalItem } from "./ports.ts";

export function encodeItem(item: JournalItem): string {
  const pieces = item.pieces === undefined ? "" : `,"n":[${item.pieces.join(",")}]`;
  return `{"f":${item.first},"l":${item.last}${pieces},"m":${JSON.stringify(item.message)}}`;
}

const HEAD = /\{"f":(\d+),"l":(\d+)/y;

function decodeLine(line: string): JournalItem {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (cause) {
    throw new StoreError("damaged", "a line of the journal is not JSON", { cause });
  }
  if (!isObject(value) || typeof value["f"] !== "number" || typeof value["l"] !== "number" || !isObject(value["m"])) {
    throw new StoreError("damaged", "a line of the journal is no item");
  }
  const pieces = value["n"];
  const item = { first: value["f"], last: value["l"], message: value["m"] };
  return Array.isArray(pieces) ? { ...item, pieces: pieces as number[] } : item;
}

export interface DecodedItem {
  readonly item: JournalItem;
  /** Length of its line: what page limits count. */
  readonly size: number;
}

/** The items of `body` that touch the events after..upTo, in order, parsed one by one as they are asked for. */
export function* decodeBody(body: string, after: number, upTo: number): Generator<DecodedItem> {
  for (let start = 0; start < body.length; ) {
    const lineEnd = body.indexOf("\n", start);
    const end = lineEnd === -1 ? body.length : lineEnd;
    HEAD.lastIndex = start;
    const head = HEAD.exec(body);
    if (head === null) throw new StoreError("damaged", "a line of the journal has no numbers");
    if (Number(head[1]) > upTo) return;
    if (Number(head[2]) > after) yield { item: decodeLine(body.slice(start, end)), size: end - start };
    start = end + 1;
  }
}
