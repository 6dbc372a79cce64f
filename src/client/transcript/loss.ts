/**
 * Where a loss stands in a transcript, and what of the reader's own copy goes before it. Pure.
 *
 * A hub that has no longer everything gives all it has (S3). What the device has of earlier is kept: between the two is the gap.
 */
import type { MarkItem, Transcript, TranscriptItem } from "./item.ts";

/** The replay, and before it what the device has from before all of that. */
export function keepOlder(before: Transcript, replay: Transcript, epoch: string): Transcript {
  const oldest = Math.min(...replay.items.map((item) => seqOf(item, epoch) ?? Number.POSITIVE_INFINITY));
  const last = before.items.findLastIndex((item) => (seqOf(item, epoch) ?? Number.POSITIVE_INFINITY) < oldest);
  const kept = before.items.slice(0, last + 1).filter((item) => !isRenewed(item, replay.items));
  if (kept.length === 0) return replay;
  return { ...replay, items: [...kept, ...replay.items], settled: { ...before.settled, ...replay.settled } };
}

/** A card is given as it now stands; of a message only the rest may have come. */
const isRenewed = (item: TranscriptItem, replay: readonly TranscriptItem[]): boolean =>
  item.kind === "tool" && replay.some((newer) => newer.kind === "tool" && newer.toolCallId === item.toolCallId);

/** Puts every mark that knows its place before the first item of what came after that. */
export function placeMarks(items: readonly TranscriptItem[]): readonly TranscriptItem[] {
  const marks = items.filter((item) => item.kind === "mark");
  return marks.reduce(placed, items);
}

function placed(items: readonly TranscriptItem[], mark: MarkItem): readonly TranscriptItem[] {
  const { after } = mark;
  const others = items.filter((item) => item !== mark);
  if (after === undefined || !others.some((item) => seqOf(item, after.epoch) !== undefined)) return items;
  const next = others.findIndex((item) => (seqOf(item, after.epoch) ?? 0) > after.seq);
  return next < 0 ? [...others, mark] : [...others.slice(0, next), mark, ...others.slice(next)];
}

/** The number of an item's first event, where it is of this epoch. */
function seqOf(item: TranscriptItem, epoch: string): number | undefined {
  return item.key.startsWith(`${epoch}/`) ? item.from : undefined;
}
