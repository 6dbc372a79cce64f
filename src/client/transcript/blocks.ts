/** Joins content blocks of one message: neighbouring plain text is one block, so a million tokens are one string. */
import { isObject, type Json, type JsonObject } from "../../protocol/json.ts";

interface TextBlock extends JsonObject {
  readonly type: "text";
  readonly text: string;
}

export const isText = (block: JsonObject | undefined): block is TextBlock =>
  block?.["type"] === "text" && typeof block["text"] === "string";

const isPlain = (block: JsonObject | undefined): block is TextBlock => isText(block) && Object.keys(block).length === 2;

/**
 * `blocks` with `content` appended. Text with annotations or `_meta` stands alone: joining would spread them.
 * Not by spreading: engines leave room for sixteen more behind a spread, and every message would keep it.
 */
export function appendBlock(blocks: readonly JsonObject[], content: Json | undefined): readonly JsonObject[] {
  if (!isObject(content)) return blocks;
  const last = blocks.at(-1);
  if (!isPlain(last) || !isPlain(content)) return blocks.concat(content);
  const joined: JsonObject = { type: "text", text: last.text + content.text };
  return blocks.slice(0, -1).concat(joined);
}

/** Older blocks before newer ones of the same message, joined at the seam. */
export function joinBlocks(older: readonly JsonObject[], newer: readonly JsonObject[]): readonly JsonObject[] {
  return newer.reduce<readonly JsonObject[]>((blocks, block) => appendBlock(blocks, block), older);
}

/** All text of `blocks`, without a separator. */
export function textOf(blocks: readonly JsonObject[]): string {
  return blocks
    .filter(isText)
    .map((block) => block.text)
    .join("");
}
