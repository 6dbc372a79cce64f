/**
 * Where a reader was, per session, for as long as the page lives. Kept as a row, not as a distance from the top: that changes
 * with every page of older rows, and the word of the scroll that makes up for it comes too late for who leaves at once.
 */
import { type RefObject, useEffect, useRef } from "react";
import type { VirtualizerHandle } from "virtua";

export interface Place {
  readonly key: string;
  /** How much of the row is above the edge. */
  readonly px: number;
}

type Keyed = readonly { readonly key: string }[];

const places = new Map<string, Place>();
const PLACES_MAX = 50;

/** Undefined: at the end. */
export const placeIn = (sessionId: string): Place | undefined => places.get(sessionId);

/** `offset` counts from `headPx` above the first row. */
export function remember(
  sessionId: string,
  { offset, headPx, rows }: { readonly offset: number; readonly headPx: number; readonly rows: Keyed },
  list: VirtualizerHandle | null,
): void {
  if (list === null) return;
  places.delete(sessionId);
  const isAtEnd = offset + list.viewportSize >= list.scrollSize - 40;
  const index = list.findItemIndex(offset);
  const row = rows[index];
  if (!isAtEnd && row !== undefined)
    places.set(sessionId, { key: row.key, px: offset - headPx - list.getItemOffset(index) });
  const oldest = places.keys().next().value;
  if (places.size > PLACES_MAX && oldest !== undefined) places.delete(oldest);
}

/** Back to where the reader left off, once there is something to go back in. */
export function useReturn(list: RefObject<VirtualizerHandle | null>, place: Place | undefined, rows: Keyed): void {
  const isDone = useRef(false);
  useEffect(() => {
    if (place === undefined || rows.length === 0 || isDone.current) return;
    isDone.current = true;
    const index = rows.findIndex((row) => row.key === place.key);
    // The device keeps only so much: the first of it is the nearest there is.
    if (index === -1) list.current?.scrollToIndex(0);
    else list.current?.scrollToIndex(index, { align: "start", offset: place.px });
  }, [list, place, rows]);
}
