/**
 * Shows the end of a session before the rest of it. A reader starts at the end; the list alone would draw its beginning first, to
 * find out how tall rows are, and a slow phone is busy with that for as long as with what is read.
 */
import { useEffect, useState } from "react";
import type { Row } from "./rows.ts";
import { tailCount } from "./tail-count.ts";

export interface TailFirst {
  readonly rows: readonly Row[];
  /** Rows the list is to draw wherever it thinks the reader is: it does not know before it has measured some. */
  readonly drawn: readonly number[];
}

const NONE: readonly number[] = [];

/** `isAtEnd`: the reader starts there; who comes back to a place in the middle needs everything at once. */
export function useTailFirst(all: readonly Row[], isAtEnd: boolean): TailFirst {
  const [isPainted, setPainted] = useState(!isAtEnd);
  const hasRows = all.length > 0;
  useEffect(() => {
    if (!hasRows) return;
    // The first frame is the one that shows the tail.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(() => setPainted(true));
    });
    return () => cancelAnimationFrame(frame);
  }, [hasRows]);
  if (isPainted) return { rows: all, drawn: NONE };
  const tail = tailCount(all, window.innerHeight);
  return { rows: all.slice(all.length - tail), drawn: Array.from({ length: tail }, (_, index) => index) };
}
