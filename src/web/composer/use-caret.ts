/** Where the caret stands in a field whose text React writes. */
import { type RefObject, useLayoutEffect, useRef, useState } from "react";

export interface Caret {
  readonly at: number;
  readonly read: () => void;
  /** Once the text that is being written is there. */
  readonly moveTo: (at: number) => void;
}

export function useCaret(field: RefObject<HTMLTextAreaElement | null>): Caret {
  const [at, setAt] = useState(0);
  const wanted = useRef<number>(undefined);
  useLayoutEffect(() => {
    if (wanted.current === undefined) return;
    field.current?.setSelectionRange(wanted.current, wanted.current);
    wanted.current = undefined;
  });
  return {
    at,
    read: () => setAt(field.current?.selectionStart ?? 0),
    moveTo: (next) => {
      wanted.current = next;
      setAt(next);
    },
  };
}
