/**
 * Keeps a moving layout from turning a tap into a decision: a press counts only when the thing under the finger has stood
 * still for a while.
 */
import { type RefObject, useCallback, useEffect, useRef, useState } from "react";

export const TAP_GUARD_MS = 300;

export interface TapGuard {
  readonly isOpen: boolean;
  /** Call when what is shown changed or moved. */
  readonly restart: () => void;
  /** True when a press at this time may count. */
  readonly allows: (event: { readonly timeStamp: number }) => boolean;
}

/** `subject` names what is shown; another one starts the guard anew. */
export function useTapGuard(subject: string): TapGuard {
  const openAt = useRef(performance.now() + TAP_GUARD_MS);
  const [round, setRound] = useState(0);
  const [openRound, setOpenRound] = useState(-1);
  const restart = useCallback(() => setRound((before) => before + 1), []);
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new subject or round starts the wait
  useEffect(() => {
    openAt.current = performance.now() + TAP_GUARD_MS;
    const timer = setTimeout(() => setOpenRound(round), TAP_GUARD_MS);
    return () => {
      clearTimeout(timer);
      setOpenRound(-1);
    };
  }, [subject, round]);
  const allows = useCallback((event: { readonly timeStamp: number }) => event.timeStamp >= openAt.current, []);
  return { isOpen: openRound === round, restart, allows };
}

/** A card that is pushed about by what grows above it must not be tapped in that moment. */
export function useMoveGuard(element: RefObject<HTMLElement | null>, restart: () => void): void {
  useEffect(() => {
    if (element.current === null) return;
    let isFirst = true;
    const observer = new ResizeObserver(() => {
      if (!isFirst) restart();
      isFirst = false;
    });
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, restart]);
}
