/** The piece of a text a person is shown, with the places of the words. */
import type { JournalItem } from "./ports.ts";
import { addToPassages, type Passage } from "./search-text.ts";

export interface SnippetText {
  readonly text: string;
  readonly marks: readonly (readonly [number, number])[];
}

const BEFORE_CHARS = 60;
const AFTER_CHARS = 140;
const MARKS_MAX = 16;

/**
 * Lower case, kept at the same length so that offsets hold: the rare letter that grows (İ) stays as it is.
 * The index also ignores accents; a word found only that way is not marked.
 */
function folded(text: string): string {
  const lower = text.toLowerCase();
  return lower.length === text.length
    ? lower
    : [...text].map((c) => (c.toLowerCase().length === c.length ? c.toLowerCase() : c)).join("");
}

function placesOf(text: string, words: readonly string[]): [number, number][] {
  const places: [number, number][] = [];
  for (const word of words) {
    const wanted = folded(word);
    for (
      let at = text.indexOf(wanted);
      at !== -1 && places.length < MARKS_MAX;
      at = text.indexOf(wanted, at + wanted.length)
    ) {
      places.push([at, at + wanted.length]);
    }
  }
  return places.sort((a, b) => a[0] - b[0]);
}

/** A surrogate pair is not cut in two. */
function boundary(text: string, at: number): number {
  const isLow = at > 0 && at < text.length && (text.charCodeAt(at) & 0xfc00) === 0xdc00;
  return isLow ? at - 1 : at;
}

/** At most about 200 characters around the first word found; the start of the text when none stands there literally. */
export function snippetOf(text: string, words: readonly string[]): SnippetText {
  const places = placesOf(folded(text), words);
  const first = places[0]?.[0] ?? 0;
  const start = boundary(text, Math.max(0, first - BEFORE_CHARS));
  const end = boundary(text, Math.min(text.length, first + AFTER_CHARS));
  const lead = start > 0 ? "…" : "";
  const shift = lead.length - start;
  const marks: [number, number][] = [];
  for (const [from, to] of places) {
    const isFree = from + shift >= (marks.at(-1)?.[1] ?? 0);
    if (from >= start && to <= end && isFree) marks.push([from + shift, to + shift]);
  }
  const piece = text.slice(start, end).replace(/[\r\n\t]/g, " ");
  return { text: `${lead}${piece}${end < text.length ? "…" : ""}`, marks };
}

/** From the first of the items in which a word stands literally, else from the first of them. `seq` is where that one begins. */
export function passageSnippet(
  items: Iterable<JournalItem>,
  words: readonly string[],
): SnippetText & { readonly seq?: number } {
  let best: (SnippetText & { readonly seq: number }) | undefined;
  for (const { text, seq } of messagesOf(items)) {
    const snippet = { ...snippetOf(text, words), seq };
    if (snippet.marks.length > 0) return snippet;
    best ??= snippet;
  }
  return best ?? { text: "", marks: [] };
}

/** The items' texts, one per message: pieces of the same one are joined. */
function messagesOf(items: Iterable<JournalItem>): { readonly text: string; readonly seq: number }[] {
  const messages: { text: string; seq: number; passage: Passage }[] = [];
  for (const item of items) {
    const alone: Passage[] = [];
    addToPassages(alone, item);
    const [passage] = alone;
    if (passage === undefined) continue;
    const previous = messages.at(-1);
    const isSame = passage.joinKey !== undefined && previous?.passage.joinKey === passage.joinKey;
    if (previous !== undefined && isSame && previous.passage.last + 1 === passage.first) {
      previous.text += passage.text;
      previous.passage.last = passage.last;
    } else messages.push({ text: passage.text, seq: passage.first, passage });
  }
  return messages;
}
