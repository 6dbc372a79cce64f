/** Two texts → the lines a unified diff shows, with the changed words marked. Pure; loaded when a diff is first seen. */
import { diffWordsWithSpace, structuredPatch } from "diff";

export interface DiffWord {
  readonly text: string;
  readonly isChanged: boolean;
}

export interface DiffLine {
  readonly kind: "same" | "added" | "removed";
  readonly oldNumber: number | undefined;
  readonly newNumber: number | undefined;
  readonly words: readonly DiffWord[];
}

export interface DiffHunk {
  /** Lines left out before this hunk. */
  readonly skipped: number;
  readonly lines: readonly DiffLine[];
}

/** Beyond this a word-level comparison of two lines is not worth its time. */
const WORD_CHARS_MAX = 2000;

const CONTEXT_LINES = 3;

export function diffHunks(before: string, after: string): readonly DiffHunk[] {
  const patch = structuredPatch("", "", before, after, "", "", { context: CONTEXT_LINES });
  let reached = 0;
  return patch.hunks.map((hunk) => {
    const skipped = Math.max(0, hunk.oldStart - 1 - reached);
    reached = hunk.oldStart - 1 + hunk.oldLines;
    return { skipped, lines: readLines(hunk.lines, hunk.oldStart, hunk.newStart) };
  });
}

/** The first `limit` lines. */
export function firstLines(hunks: readonly DiffHunk[], limit: number): readonly DiffHunk[] {
  const shown: DiffHunk[] = [];
  let left = limit;
  for (const hunk of hunks) {
    if (left <= 0) break;
    shown.push({ ...hunk, lines: hunk.lines.slice(0, left) });
    left -= hunk.lines.length;
  }
  return shown;
}

/** The first line of every stretch of changed lines. */
export function changeStarts(hunks: readonly DiffHunk[]): readonly DiffLine[] {
  return hunks.flatMap(({ lines }) =>
    lines.filter((line, index) => line.kind !== "same" && (lines[index - 1]?.kind ?? "same") === "same"),
  );
}

function readLines(lines: readonly string[], oldStart: number, newStart: number): readonly DiffLine[] {
  const out: DiffLine[] = [];
  let [oldNumber, newNumber] = [oldStart, newStart];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = (): void => {
    const pairs = removed.map((line, index) => wordsOf(line, added[index]));
    for (const pair of pairs)
      out.push({ kind: "removed", oldNumber: oldNumber++, newNumber: undefined, words: pair.before });
    for (const [index, line] of added.entries()) {
      const words = pairs[index]?.after ?? plain(line);
      out.push({ kind: "added", oldNumber: undefined, newNumber: newNumber++, words });
    }
    removed = [];
    added = [];
  };
  for (const line of lines) {
    const text = line.slice(1);
    if (line.startsWith("-")) removed.push(text);
    else if (line.startsWith("+")) added.push(text);
    else if (line.startsWith(" ")) {
      flush();
      out.push({ kind: "same", oldNumber: oldNumber++, newNumber: newNumber++, words: plain(text) });
    }
  }
  flush();
  return out;
}

const plain = (text: string): readonly DiffWord[] => [{ text, isChanged: false }];

/** The two sides of a changed line. Lines with little in common are marked by their colour alone. */
function wordsOf(
  before: string,
  after: string | undefined,
): { readonly before: readonly DiffWord[]; readonly after: readonly DiffWord[] } {
  if (after === undefined || before.length + after.length > WORD_CHARS_MAX) {
    return { before: plain(before), after: plain(after ?? "") };
  }
  const parts = diffWordsWithSpace(before, after);
  const same = parts
    .filter((part) => !part.added && !part.removed)
    .reduce((sum, part) => sum + part.value.trim().length, 0);
  if (same < Math.min(before.length, after.length) / 4) return { before: plain(before), after: plain(after) };
  return {
    before: parts.filter((part) => !part.added).map((part) => ({ text: part.value, isChanged: part.removed })),
    after: parts.filter((part) => !part.removed).map((part) => ({ text: part.value, isChanged: part.added })),
  };
}
