/** The found places of the painted lines. Pure. */
import { lowerBound } from "./find-text.ts";
import type { Output } from "./terminal-lines.ts";

/** A found place, by columns of the line. */
export interface Mark {
  readonly from: number;
  readonly to: number;
  readonly isCurrent: boolean;
}

/** More places are not painted at once: those around the current one are. */
const MARKS_MAX = 1000;

export interface Matches {
  readonly matches: readonly number[];
  readonly length: number;
  readonly current: number;
}

/** By line. */
export function marksOf(
  output: Output,
  from: number,
  to: number,
  found: Matches,
): ReadonlyMap<number, readonly Mark[]> {
  const marks = new Map<number, Mark[]>();
  const { matches, length, current } = found;
  const begin = output.starts[from] ?? 0;
  const end = output.starts[to] ?? output.plain.length;
  const first = Math.max(lowerBound(matches, begin - length + 1), current - MARKS_MAX / 2);
  const last = Math.min(lowerBound(matches, end), first + MARKS_MAX);
  for (let index = first; index < last; index += 1) {
    const at = matches[index] ?? 0;
    for (
      let line = Math.max(from, lineAt(output, at));
      line < to && (output.starts[line] ?? end) < at + length;
      line += 1
    ) {
      const start = output.starts[line] ?? 0;
      const mark = { from: Math.max(0, at - start), to: at + length - start, isCurrent: index === current };
      const marked = marks.get(line);
      if (marked === undefined) marks.set(line, [mark]);
      else marked.push(mark);
    }
  }
  return marks;
}

/** The line in which a place of the plain text is. */
export const lineAt = ({ starts }: Output, at: number): number => Math.max(0, lowerBound(starts, at + 1) - 1);
