/** How many rows fill a screen, before any of them was drawn. Pure. */
import { textOf } from "../../client/index.ts";
import type { Row } from "./rows.ts";

/** The rows at the end that fill `height`, going by what they hold. */
export function tailCount(rows: readonly Row[], height: number): number {
  let count = 0;
  for (let sum = 0; sum < height && count < rows.length; count += 1) sum += roughHeight(rows[rows.length - 1 - count]);
  return count;
}

const LINE_PX = 24;
const LINE_CHARS = 45;

/** Rather too little: a row too many costs less than a gap above the first. */
function roughHeight(row: Row | undefined): number {
  const blocks = row?.kind === "item" && "blocks" in row.item && row.item.kind !== "thought" ? row.item.blocks : [];
  return 40 + LINE_PX * Math.floor(textOf(blocks).length / LINE_CHARS);
}
