/**
 * Sticks to the end only while the reader is there. Any movement up ends it at once; reaching the end begins it again.
 *
 * What the reader opens goes before the end: it grows downwards from where it was touched, and if the end leaves the screen by
 * that, the session is followed no more, though it be written at that moment: who opens something wants to read it. Closed again,
 * it brings the end back, and the session is followed as before.
 *
 * All this happens in the frame in which the size changes, before it is painted: a tap never meets what has just moved away.
 */
import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { flushSync } from "react-dom";
import type { VirtualizerHandle } from "virtua";
import { HeldPlace, stuckPx } from "./held-place.ts";
import { ReadingPlace } from "./reading-place.ts";

/** Nearer than this to the end is at the end: sub-pixel sizes and late images would lose the reader otherwise. */
const END_PX = 32;

/** Less than what the list draws beyond the screen. */
const FAR_PX = 100;

/** Nearer is in place: a screen has no smaller steps. */
const LEAST_PX = 0.5;

const UP_KEYS = new Set(["ArrowUp", "PageUp", "Home"]);

export interface Follow {
  readonly isFollowing: boolean;
  /** Rows that came since the reader left the end. */
  readonly newCount: number;
  readonly onScroll: (offset: number) => void;
  /** The list or the screen has another size, and nothing of it is painted yet. */
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
  const lastOffset = useRef(0);
  const isPressed = useRef(false);
  const { isTelling, tell } = useTelling();
  const [held] = useState(() => new HeldPlace());
  const [reading] = useState(() => new ReadingPlace());
  const rowsNow = useRef(rows);
  rowsNow.current = rows;

  const set = useCallback((next: boolean) => {
    if (following.current === next) return;
    following.current = next;
    leftAt.current = rowsNow.current.at(-1)?.key;
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
  useUpwardMoves(scroller, isPressed, set);
  useTouches(scroller, held, tell);

  const onResize = useCallback(() => {
    const [element, handle] = [scroller.current, list.current];
    if (element === null || handle === null) return;
    const isTouched = held.hasGrown();
    // What grows without a new row (streamed text, colours, a smaller window) moves the end too.
    if (following.current && !isTouched) pin();
    else {
      const drift = held.drift() ?? reading.drift(handle, rowsNow.current, element.scrollTop) ?? 0;
      if (Math.abs(drift) >= LEAST_PX) {
        // It has to see its own move, too, or it draws no other rows until there is one more.
        if (element.scrollTop !== handle.scrollOffset) tell(element);
        element.scrollTop += drift;
        tell(element);
      }
      if (isTouched) set(showsEnd(element));
    }
    if (Math.abs(element.scrollTop - handle.scrollOffset) > FAR_PX) tell(element);
    lastOffset.current = element.scrollTop;
    held.settle();
    reading.note(handle, rowsNow.current, element.scrollTop);
  }, [scroller, list, held, reading, set, pin, tell]);

  const onScroll = useCallback(
    (offset: number) => {
      const handle = list.current;
      if (handle === null || isTelling.current) return;
      // Our own move, told of a moment later: the reader may have left the end since.
      if (Math.abs(offset - lastOffset.current) < 1) return;
      const isUp = offset < lastOffset.current - 1;
      lastOffset.current = offset;
      const isAtEnd = offset + handle.viewportSize >= handle.scrollSize - END_PX;
      if (isAtEnd && !isUp) {
        held.release();
        set(true);
      } else if (isUp && isPressed.current) set(false);
      held.settle();
      reading.note(handle, rowsNow.current, offset);
    },
    [list, held, reading, set, isTelling],
  );

  const toEnd = useCallback(() => {
    held.release();
    set(true);
    pin();
  }, [held, set, pin]);

  const left = leftAt.current;
  const newCount = isFollowing || left === undefined ? 0 : rowCount - 1 - rows.findLastIndex((row) => row.key === left);
  return { isFollowing, newCount, onScroll, onResize, toEnd };
}

const showsEnd = ({ scrollTop, clientHeight, scrollHeight }: Element): boolean =>
  scrollTop + clientHeight >= scrollHeight - END_PX;

interface Telling {
  readonly isTelling: RefObject<boolean>;
  readonly tell: (element: HTMLElement) => void;
}

/** The list hears of a move before the browser tells it: else it would draw the rows of where it was, for a frame. */
function useTelling(): Telling {
  const isTelling = useRef(false);
  const tell = useCallback((element: HTMLElement) => {
    isTelling.current = true;
    flushSync(() => element.dispatchEvent(new Event("scroll")));
    isTelling.current = false;
  }, []);
  return { isTelling, tell };
}

/** Notes what is touched before it does anything, and looks when it has: the page's own listeners are above the list's. */
function useTouches(scroller: RefObject<HTMLElement | null>, held: HeldPlace, tell: Telling["tell"]): void {
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return;
    const abort = new AbortController();
    const { signal } = abort;
    for (const type of ["click", "keydown"] as const) {
      const take = ({ target }: Event): void => {
        const px = type === "click" ? stuckPx(target) : 0;
        if (px > 1) {
          // A card that is closed from inside of it would be gone with all its rows: its head goes under the finger first.
          element.scrollTop -= px;
          tell(element);
        }
        held.take(target);
      };
      element.addEventListener(type, take, { signal, capture: true });
      window.addEventListener(type, () => held.confirm(), { signal });
    }
    return () => abort.abort();
  }, [scroller, held, tell]);
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
