/** The draft of a session, kept on the device. A text handed over comes before what was typed. */
import { useCallback, useEffect, useRef, useState } from "react";
import { useServices } from "../app/hooks.ts";
import { type Draft, EMPTY_DRAFT, readDraft, writeDraft } from "./drafts.ts";

/** A part of a draft, by what stands there then: an image takes a while to be read, and meanwhile somebody types. */
export type ChangeDraft = (change: (before: Draft) => Partial<Draft>) => void;

export function useDraft(sessionId: string, handed: Draft | undefined): readonly [Draft, ChangeDraft] {
  const { storage } = useServices();
  const [draft, setDraft] = useState(EMPTY_DRAFT);
  const latest = useRef(EMPTY_DRAFT);
  const isTouched = useRef(false);
  const change = useCallback<ChangeDraft>(
    (part) => {
      isTouched.current = true;
      latest.current = { ...latest.current, ...part(latest.current) };
      setDraft(latest.current);
      writeDraft(storage, sessionId, latest.current);
    },
    [storage, sessionId],
  );
  useEffect(() => {
    isTouched.current = false;
    void readDraft(storage, sessionId).then((kept) => {
      if (isTouched.current) return;
      latest.current = kept;
      setDraft(kept);
    });
  }, [storage, sessionId]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a new hand-over changes the text
  useEffect(() => {
    if (handed === undefined) return;
    change(({ text, mentions, images }) => ({
      text: text === "" ? handed.text : `${handed.text}\n${text}`,
      mentions: [...handed.mentions, ...mentions],
      images: [...handed.images, ...images],
    }));
  }, [handed]);
  return [draft, change];
}
