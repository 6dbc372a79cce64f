/**
 * The body of a journal row: one item a line, `{"f":first,"l":last,"n":[piece lengths],"m":message}`. The numbers come first,
 * so a reader skips lines without parsing them. Joined text is most of what is written, so it stands behind its line as it
 * is, `"t"` UTF-16 units of it, and its place in the message is empty: as JSON it would cost more than SQLite does.
 */
import { isObject, type JsonObject } from "../protocol/json.ts";
import { StoreError } from "./errors.ts";
import type { JoinRule, JournalItem } from "./ports.ts";

export function encodeItem(item: JournalItem): string {
  const pieces = item.pieces === undefined ? "" : `,"n":[${item.pieces.join(",")}]`;
  return `{"f":${item.first},"l":${item.last}${pieces},"m":${JSON.stringify(item.message)}}`;
}

export interface EncodedRun {
  readonly first: number;
  readonly last: number;
  readonly pieces: readonly number[];
  /** Its text is empty. */
  readonly message: JsonObject;
  readonly text: string;
}

export function encodeRun({ first, last, pieces, message, text }: EncodedRun): string {
  const head = `{"f":${first},"l":${last},"t":${text.length},"n":[${pieces.join(",")}]`;
  return `${head},"m":${JSON.stringify(message)}}\n${text}`;
}

/** Half a character is lost in UTF-8, and a driver may end a text at NUL: such text is written as JSON. */
export const mayStandBare = (text: string): boolean => text.isWellFormed() && !text.includes("\0");

const HEAD = /\{"f":(\d+),"l":(\d+)(?:,"t":(\d+))?/y;

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

function withText(item: JournalItem, text: string, join: JoinRule): JournalItem {
  return { ...item, message: join.joined(item.message, item.message, text) };
}

export interface DecodedItem {
  readonly item: JournalItem;
  /** Length of its line and text: what page limits count. */
  readonly size: number;
}

/** Which events of a body are wanted, both inclusive. */
export interface WantedEvents {
  readonly from: number;
  readonly upTo: number;
}

export const ALL_EVENTS: WantedEvents = { from: 0, upTo: Number.MAX_SAFE_INTEGER };

/** The items of `body` that touch the wanted events, in order, parsed one by one as they are asked for. */
export function* decodeBody(body: string, wanted: WantedEvents, join: JoinRule): Generator<DecodedItem> {
  for (let start = 0; start < body.length; ) {
    const lineEnd = body.indexOf("\n", start);
    const end = lineEnd === -1 ? body.length : lineEnd;
    HEAD.lastIndex = start;
    const head = HEAD.exec(body);
    if (head === null) throw new StoreError("damaged", "a line of the journal has no numbers");
    const itemEnd = head[3] === undefined ? end : end + 1 + Number(head[3]);
    if (itemEnd > body.length) throw new StoreError("damaged", "a text of the journal is cut off");
    if (Number(head[1]) > wanted.upTo) return;
    if (Number(head[2]) >= wanted.from) {
      const item = decodeLine(body.slice(start, end));
      const whole = head[3] === undefined ? item : withText(item, body.slice(end + 1, itemEnd), join);
      yield { item: whole, size: itemEnd - start };
    }
    start = itemEnd + 1;
  }
}
