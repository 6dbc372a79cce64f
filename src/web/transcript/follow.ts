/**
 * Sticks to the end only while the reader is there. Any movement up ends it at once; reaching the end begins it again.
 */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import type { VirtualizerHandle } from "virtua";

/** Nearer than this to the end is at the end: sub-pixel sizes and late images would lose the reader otherwise. */
const END_PX = 32;

const UP_KEYS = new Set(["ArrowUp", "PageUp", "Home"]);

export interface Follow {
  readonly isFollowing: boolean;
  /** Rows that came since the reader left the end. */
  readonly newCount: number;
  readonly onScroll: (offset: number) => void;
  /** The list has measured rows: what it took them for until then is not where the end is. */
  readonly onResize: () => void;
  readonly toEnd: () => void;
}

export function useFollow(
  scroller: RefObject<HTMLElement | null>,
  list: RefObject<VirtualizerHandle | null>,
  rows: readonly { readonly key: string }[],
  startsAtEnd: boolean,
): Follow {
  const rowCount = rows.length;
  const following = useRef(startsAtEnd);
  const [isFollowing, setFollowing] = useState(startsAtEnd);
  /** The last row when the reader left the end: what stands after it is new, what is put in front is not. */
  const leftAt = useRef<string>(undefined);
  const lastKey = useRef<string>(undefined);
  lastKey.current = rows.at(-1)?.key;
  const lastOffset = useRef(0);
  const isPressed = useRef(false);

  const set = useCallback((next: boolean) => {
    if (following.current === next) return;
    following.current = next;
    leftAt.current = lastKey.current;
    setFollowing(next);
  }, []);

  // Set on the element, not asked of the list: the list would keep on scrolling while it measures, against a reader's hand.
  const pin = useCallback(() => {
    const element = scroller.current;
    if (!following.current || element === null) return;
    element.scrollTop = element.scrollHeight;
    lastOffset.current = element.scrollTop;
  }, [scroller]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a new row is the reason to move
  useLayoutEffect(pin, [pin, rowCount]);
  usePinOnGrowth(scroller, rowCount > 0, pin);
  useUpwardMoves(scroller, isPressed, set);

  const onScroll = useCallback(
    (offset: number) => {
      const handle = list.current;
      if (handle === null) return;
      // Our own move, told of a moment later: the reader may have left the end since.
      if (Math.abs(offset - lastOffset.current) < 1) return;
      const isUp = offset < lastOffset.current - 1;
      lastOffset.current = offset;
      const isAtEnd = offset + handle.viewportSize >= handle.scrollSize - END_PX;
      if (isAtEnd && !isUp) set(true);
      else if (isUp && isPressed.current) set(false);
    },
    [list, set],
  );

  const toEnd = useCallback(() => {
    set(true);
    pin();
  }, [set, pin]);

  const left = leftAt.current;
  const newCount = isFollowing || left === undefined ? 0 : rowCount - 1 - rows.findLastIndex((row) => row.key === left);
  return { isFollowing, newCount, onScroll, onResize: pin, toEnd };
}

/** What grows without a new row (streamed text, colours, a smaller window) moves the end too. */
function usePinOnGrowth(scroller: RefObject<HTMLElement | null>, hasRows: boolean, pin: () => void): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: the list stands in the scroller only when it has rows
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const observer = new ResizeObserver(pin);
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, [scroller, hasRows, pin]);
}

/** Wheel, touch and keys tell a reader's will before the position does. */
function useUpwardMoves(
  scroller: RefObject<HTMLElement | null>,
  isPressed: RefObject<boolean>,
  setFollowing: (next: boolean) => void,
): void {
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const abort = new AbortController();
    const options = { signal: abort.signal, passive: true };
    let touchY = 0;
    const canScroll = (): boolean => element.scrollHeight > element.clientHeight;
    const leave = (): void => {
      if (canScroll()) setFollowing(false);
    };
    element.addEventListener("wheel", (event) => event.deltaY < 0 && leave(), options);
    element.addEventListener("touchstart", (event) => (touchY = event.touches[0]?.clientY ?? 0), options);
    element.addEventListener("touchmove", (event) => (event.touches[0]?.clientY ?? 0) > touchY + 4 && leave(), options);
    element.addEventListener("keydown", (event) => UP_KEYS.has(event.key) && leave(), options);
    element.addEventListener("pointerdown", () => (isPressed.current = true), options);
    window.addEventListener("pointerup", () => (isPressed.current = false), options);
    return () => abort.abort();
  }, [scroller, isPressed, setFollowing]);
}
