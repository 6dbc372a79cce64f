/** Searching one output: what is looked for, where it stands, and which place is the current one. */
import { useDeferredValue, useMemo, useState } from "react";
import { findAll, foldCase, lowerBound } from "./find-text.ts";
import type { Output } from "./terminal-lines.ts";

export interface Find {
  readonly isOpen: boolean;
  readonly query: string;
  readonly matches: readonly number[];
  /** Length of every match. */
  readonly length: number;
  /** Index of the current match; -1 without one. */
  readonly current: number;
  /** Counts what a person asked for: only that moves the reader, not output that comes. */
  readonly asked: number;
  /** False while what stands in the field is still looked for. */
  readonly isSettled: boolean;
  /** `at` is where the reader is: the search goes on from there. */
  readonly open: (at: number) => void;
  readonly close: () => void;
  readonly look: (query: string) => void;
  readonly step: (by: number) => void;
}

const NONE: readonly number[] = [];

export function useFind({ plain }: Output): Find {
  const [isOpen, setOpen] = useState(false);
  const [query, setQuery] = useState("");
  /** A place in the text, not a number in the list: the list grows with the output. */
  const [place, setPlace] = useState(0);
  const [asked, setAsked] = useState(0);
  // Typing goes first: the field shows a letter before it is looked for.
  const sought = useDeferredValue(isOpen ? query : "");
  const wanted = foldCase(sought);
  const folded = useMemo(() => (isOpen ? foldCase(plain) : ""), [isOpen, plain]);
  const matches = useMemo(() => (wanted === "" ? NONE : findAll(folded, wanted)), [folded, wanted]);
  const next = lowerBound(matches, place);
  const current = matches.length === 0 ? -1 : next % matches.length;
  const ask = (): void => setAsked((before) => before + 1);
  return {
    isOpen,
    query,
    matches,
    length: wanted.length,
    current,
    asked,
    isSettled: sought === (isOpen ? query : ""),
    open: (at) => {
      setPlace(at);
      setOpen(true);
      ask();
    },
    close: () => setOpen(false),
    look: (next) => {
      setQuery(next);
      ask();
    },
    step: (by) => {
      setPlace(matches.at((current + by) % matches.length) ?? place);
      ask();
    },
  };
}
