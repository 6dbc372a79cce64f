/**
 * Gives the focus back after a decision that was taken by keyboard: what was pressed is gone, and the page would begin at its top.
 * A finger is left alone: on a phone the focus would bring the keyboard up.
 */
import { type FocusEvent, useEffect, useRef } from "react";

export interface FocusReturn {
  readonly onFocus: (event: FocusEvent) => void;
  readonly onBlur: (event: FocusEvent) => void;
}

/** `subject` names what is decided about; `next` gives what takes the focus where it did not come from anywhere that is left. */
export function useFocusReturn(subject: string | undefined, next: () => HTMLElement | null): FocusReturn {
  const cameFrom = useRef<Element | null>(null);
  const isInside = useRef(false);
  const latest = useRef(next);
  latest.current = next;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another subject is the reason to look
  useEffect(() => {
    // Before another is shown, or none.
    return () => {
      const back = cameFrom.current;
      if (!isInside.current || document.activeElement !== document.body) return;
      isInside.current = false;
      queueMicrotask(() => {
        const other = latest.current();
        // What is next to be decided is still part of it: the way back stays.
        isInside.current = other !== null;
        (other ?? (back?.isConnected === true && back instanceof HTMLElement ? back : undefined))?.focus();
      });
    };
  }, [subject]);
  return {
    onFocus: ({ target, relatedTarget, currentTarget }) => {
      if (!target.matches(":focus-visible")) isInside.current = false;
      else if (!isInside.current) {
        isInside.current = true;
        if (!currentTarget.contains(relatedTarget)) cameFrom.current = relatedTarget;
      }
    },
    onBlur: ({ relatedTarget, currentTarget }) => {
      if (relatedTarget !== null && !currentTarget.contains(relatedTarget)) isInside.current = false;
    },
  };
}
