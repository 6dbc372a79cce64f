/** The colours of a language on the lines of a diff. Pure. */
import type { Span } from "../markdown/span.ts";
import type { DiffLine, DiffWord } from "./diff-lines.ts";

/** A piece of a line in one colour. */
export interface DiffPiece extends DiffWord {
  readonly className: string | undefined;
}

/** The coloured lines of both texts. */
export interface DiffColours {
  readonly before: readonly (readonly Span[])[];
  readonly after: readonly (readonly Span[])[];
}

/** Spans of a whole text → those of each of its lines. */
export function spansByLine(spans: readonly Span[]): readonly (readonly Span[])[] {
  let line: Span[] = [];
  const lines = [line];
  for (const { className, text } of spans) {
    for (const [index, part] of text.split("\n").entries()) {
      if (index > 0) {
        line = [];
        lines.push(line);
      }
      if (part !== "") line.push({ className, text: part });
    }
  }
  return lines;
}

/** A line in its colours. A changed word keeps the colour of text: on the ground of its mark no other can be read. */
export function piecesOf(line: DiffLine, colours: DiffColours | undefined): readonly DiffPiece[] {
  const spans = spansOf(line, colours);
  const plain = line.words.map((word) => ({ ...word, className: undefined }));
  // What does not fit was coloured for another text.
  if (spans === undefined || joined(spans) !== joined(line.words)) return plain;
  const pieces: DiffPiece[] = [];
  let at = 0;
  for (const word of plain) {
    const end = at + word.text.length;
    if (word.isChanged) pieces.push(word);
    else pieces.push(...cut(spans, at, end).map((span) => ({ ...span, isChanged: false })));
    at = end;
  }
  return pieces;
}

function spansOf(line: DiffLine, colours: DiffColours | undefined): readonly Span[] | undefined {
  if (line.newNumber !== undefined) return colours?.after[line.newNumber - 1];
  return line.oldNumber === undefined ? undefined : colours?.before[line.oldNumber - 1];
}

/** What of them stands between these two columns. */
function cut(spans: readonly Span[], from: number, to: number): readonly Span[] {
  const parts: Span[] = [];
  let at = 0;
  for (const { className, text } of spans) {
    const part = text.slice(Math.max(0, from - at), Math.max(0, to - at));
    if (part !== "") parts.push({ className, text: part });
    at += text.length;
  }
  return parts;
}

const joined = (parts: readonly { readonly text: string }[]): string => parts.map(({ text }) => text).join("");
