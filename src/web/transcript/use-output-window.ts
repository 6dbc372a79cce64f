/** Which lines of a long output are painted: the tail while it is followed, else a window that is moved. */
import { type RefObject, useCallback, useLayoutEffect, useRef, useState } from "react";
import type { Output } from "./terminal-lines.ts";

/** Shown at first. */
const TAIL_LINES = 200;

/** More are never painted: a phone would be busy with them for seconds. */
const WINDOW_LINES = 1000;

/** How far a tap moves the window. The rest stays, so that the reader keeps the place. */
const STEP_LINES = 800;

/** Nearer than this to the end is at the end: sizes are not whole numbers. */
const END_PX = 4;

export interface OutputWindow {
  readonly from: number;
  readonly to: number;
  readonly earlier: () => void;
  readonly later: () => void;
  /** Holds the window where it is; true when it has to move first, for this line is not in it. */
  readonly include: (line: number) => boolean;
  readonly onScroll: () => void;
}

export function useOutputWindow(scroller: RefObject<HTMLElement | null>, { lines }: Output): OutputWindow {
  const total = lines.length;
  const [start, setStart] = useState(() => Math.max(0, total - TAIL_LINES));
  const [isFollowing, setFollowing] = useState(true);
  const from = isFollowing ? Math.max(start, total - WINDOW_LINES) : Math.min(start, total);
  const to = Math.min(total, from + WINDOW_LINES);
  const keep = useKeptPlace(scroller, from);

  // biome-ignore lint/correctness/useExhaustiveDependencies: new lines are the reason to move
  useLayoutEffect(() => {
    const element = scroller.current;
    if (isFollowing && element !== null) element.scrollTop = element.scrollHeight;
  }, [scroller, isFollowing, lines]);

  const move = (next: number): void => {
    setFollowing(false);
    setStart(Math.max(0, Math.min(next, total - 1)));
  };
  const onScroll = useCallback(() => {
    const element = scroller.current;
    if (element === null) return;
    const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - END_PX;
    setFollowing(isAtEnd && to === total);
    setStart(from);
  }, [scroller, from, to, total]);
  return {
    from,
    to,
    earlier: () => {
      keep(from);
      move(from - STEP_LINES);
    },
    later: () => {
      keep(to - 1);
      move(Math.min(from + STEP_LINES, total - WINDOW_LINES));
    },
    include: (line) => {
      const isIn = line >= from && line < to;
      move(isIn ? from : line - TAIL_LINES / 2);
      return !isIn;
    },
    onScroll,
  };
}

/** Gives what to call before the window moves: the line then stands where it stood. */
function useKeptPlace(scroller: RefObject<HTMLElement | null>, from: number): (line: number) => void {
  const kept = useRef<{ readonly line: number; readonly top: number }>(undefined);
  const topOf = useCallback(
    (line: number) => scroller.current?.querySelector(`[data-line="${line}"]`)?.getBoundingClientRect().top,
    [scroller],
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: the moved window is the reason
  useLayoutEffect(() => {
    const place = kept.current;
    kept.current = undefined;
    const top = place === undefined ? undefined : topOf(place.line);
    if (place !== undefined && top !== undefined && scroller.current !== null)
      scroller.current.scrollTop += top - place.top;
  }, [scroller, from, topOf]);
  return (line) => {
    const top = topOf(line);
    kept.current = top === undefined ? undefined : { line, top };
  };
}
