/** Whether a person could have read all of what is decided about: its end was on screen, and nothing of it is folded. */
import { type RefObject, useEffect, useState } from "react";

/** `folded`: a part waits to be opened (`data-more`). */
export type Reading = "unseen" | "folded" | "seen";

/** What is slack of rounding and padding. */
const SLACK_PX = 24;

/** `subject` names what is shown; another one has to be seen anew. */
export function useEndSeen(body: RefObject<HTMLElement | null>, subject: string): Reading {
  const [reading, setReading] = useState<{ readonly subject: string; readonly state: Reading }>();
  useEffect(() => {
    const element = body.current;
    if (element === null) return;
    const look = (): void => {
      // A diff that is still on its way has no end yet.
      if (element.querySelector("[data-loading]") !== null) return;
      const isAtEnd = element.scrollTop + element.clientHeight >= element.scrollHeight - SLACK_PX;
      const state = element.querySelector("[data-more]") !== null ? "folded" : isAtEnd ? "seen" : "unseen";
      // What was seen stays seen.
      setReading((before) =>
        before?.subject === subject && (before.state === "seen" || before.state === state)
          ? before
          : { subject, state },
      );
    };
    const sizes = new ResizeObserver(look);
    const parts = new MutationObserver(look);
    sizes.observe(element);
    parts.observe(element, { childList: true, subtree: true });
    element.addEventListener("scroll", look, { passive: true });
    return () => {
      sizes.disconnect();
      parts.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, [body, subject]);
  return reading?.subject === subject ? reading.state : "unseen";
}
