/** What a fresh copy of a transcript has that the one before it had not. Pure. */
import type { Transcript, TranscriptItem } from "./item.ts";

export interface TranscriptChanges {
  readonly added: number;
  readonly changed: number;
}

/** Of the stretch that both show: a copy may begin later or earlier than the other. */
export function changesBetween(before: Transcript, after: Transcript): TranscriptChanges {
  const known = new Map(before.items.map((item) => [identityOf(item), textOf(item)]));
  const begin = Math.min(...before.items.map(({ from }) => from ?? Number.POSITIVE_INFINITY));
  let [added, changed] = [0, 0];
  for (const item of after.items) {
    const text = known.get(identityOf(item));
    if (text !== undefined) changed += text === textOf(item) ? 0 : 1;
    else if (known.size === 0 || (item.from ?? 0) >= begin) added += 1;
  }
  return { added, changed };
}

/** A message of this device has another key as an echo than in the journal, and the same prompt. */
const identityOf = (item: TranscriptItem): string =>
  item.kind === "user" && item.promptId !== undefined ? `prompt ${item.promptId}` : item.key;

/** What of an item is read. When it came is told otherwise by an echo. */
function textOf(item: TranscriptItem): string {
  switch (item.kind) {
    case "user":
    case "agent":
    case "thought":
      return JSON.stringify(item.blocks);
    case "tool":
      return JSON.stringify(item.card);
    case "turn-end":
    case "settled":
      return JSON.stringify(item.notice);
    case "mark":
      return item.mark;
    case "raw":
      return JSON.stringify(item.update);
  }
}
