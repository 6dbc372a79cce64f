/** Puts a page of older history in front of a transcript. State of the present (plan, modes, usage …) is not touched. */
import { joinBlocks } from "./blocks.ts";
import { EMPTY_TRANSCRIPT, type Transcript, type TranscriptInput, type TranscriptItem } from "./item.ts";
import { placeMarks } from "./loss.ts";
import { reduceTranscript } from "./reduce.ts";
import { mergeCard } from "./tool-card.ts";

/**
 * `page` are the older events in order. An item that began on the page and went on in `transcript` becomes one item at the
 * older place: first position wins, newer content wins.
 */
export function prependPage(transcript: Transcript, page: readonly TranscriptInput[]): Transcript {
  const older = reduceTranscript({ ...EMPTY_TRANSCRIPT, unnumbered: transcript.unnumbered }, page);
  const taken = new Set<TranscriptItem>();
  const front = older.items.map((item) => {
    const newer = transcript.items.find((other) => continues(item, other));
    if (newer === undefined) return item;
    taken.add(newer);
    return joined(item, newer);
  });
  const back = transcript.items.filter((item) => !taken.has(item));
  return {
    ...transcript,
    items: placeMarks(joinNeighbours([...front, ...back])),
    settled: mergeSettled(older.settled, transcript.settled),
    unnumbered: older.unnumbered,
  };
}

/** Text without ids that is an unbroken run once the page is in. */
function joinNeighbours(items: readonly TranscriptItem[]): readonly TranscriptItem[] {
  const out: TranscriptItem[] = [];
  for (const item of items) {
    const last = out.at(-1);
    if (last !== undefined && isOneRun(last, item)) out[out.length - 1] = joined(last, item);
    else out.push(item);
  }
  return out;
}

function isOneRun(a: TranscriptItem, b: TranscriptItem): boolean {
  if (!("blocks" in a) || !("blocks" in b) || a.kind !== b.kind) return false;
  if (a.messageId !== undefined || b.messageId !== undefined || a.isLocal || b.isLocal) return false;
  return a.promptId === b.promptId && a.by?.connectionId === b.by?.connectionId;
}

function mergeSettled(older: Transcript["settled"], newer: Transcript["settled"]): Transcript["settled"] {
  const merged = { ...older };
  for (const [toolCallId, notices] of Object.entries(newer)) {
    const known = merged[toolCallId] ?? [];
    const ids = new Set(known.map((notice) => notice.interactionId));
    merged[toolCallId] = [...known, ...notices.filter((notice) => !ids.has(notice.interactionId))];
  }
  return merged;
}

function continues(older: TranscriptItem, newer: TranscriptItem): boolean {
  if (older.key === newer.key) return true;
  if (older.kind === "tool") return newer.kind === "tool" && newer.toolCallId === older.toolCallId;
  if (older.kind !== "user" && older.kind !== "agent" && older.kind !== "thought") return false;
  return newer.kind === older.kind && older.messageId !== undefined && newer.messageId === older.messageId;
}

function joined(older: TranscriptItem, newer: TranscriptItem): TranscriptItem {
  if (older.key === newer.key) return newer;
  if (older.kind === "tool" && newer.kind === "tool")
    return { ...older, ts: newer.ts, card: mergeCard(older.card, newer.card) };
  if ("blocks" in older && "blocks" in newer)
    return { ...older, ts: newer.ts, blocks: joinBlocks(older.blocks, newer.blocks) };
  return newer;
}

/** The first event number a transcript holds: what `load_earlier` asks for is before it. Undefined when nothing is numbered. */
export function oldestSeq(transcript: Transcript): number | undefined {
  let oldest: number | undefined;
  for (const item of transcript.items) if (item.from !== undefined) oldest = Math.min(oldest ?? item.from, item.from);
  return oldest;
}
