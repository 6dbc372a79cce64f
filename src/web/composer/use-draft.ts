/** The draft of a session, kept on the device. A text handed over comes before what was typed. */
import { useEffect, useRef, useState } from "react";
import { useServices } from "../app/hooks.ts";
import { type Draft, EMPTY_DRAFT, readDraft, writeDraft } from "./drafts.ts";

export function useDraft(sessionId: string, handed: Draft | undefined): readonly [Draft, (draft: Draft) => void] {
  const { storage } = useServices();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const isTouched = useRef(false);
  const change = (next: Draft): void => {
    isTouched.current = true;
    setDraft(next);
    writeDraft(storage, sessionId, next);
  };
  useEffect(() => {
    isTouched.current = false;
    void readDraft(storage, sessionId).then((kept) => {
      if (!isTouched.current) setDraft(kept);
    });
  }, [storage, sessionId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new hand-over changes the text
  useEffect(() => {
    if (handed === undefined) return;
    const text = draft.text === "" ? handed.text : `${handed.text}\n${draft.text}`;
    change({ text, mentions: [...handed.mentions, ...draft.mentions] });
  }, [handed]);
  return [draft, change];
}
