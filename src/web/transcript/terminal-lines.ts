/**
 * Terminal output as lines that can be painted in parts, and as the plain text they make, which is what is searched and copied.
 * Only what came since is read again: output grows at its end.
 */
import { type Pen, PLAIN_PEN } from "./sgr.ts";
import { readLine, type StyledRun } from "./terminal-line.ts";

/** A line, or a piece of one too long to be painted whole. */
export interface Line {
  readonly runs: readonly StyledRun[];
  /** False where the next piece goes on in the same line. */
  readonly isEnded: boolean;
}

export interface Output {
  readonly lines: readonly Line[];
  /** Where each line begins in the plain text. */
  readonly starts: readonly number[];
  readonly plain: string;
}

/** A longer line comes in pieces: what is painted is counted in lines. */
const LINE_CHARS_MAX = 500;

interface Part {
  readonly lines: readonly Line[];
  readonly starts: readonly number[];
  readonly plain: string;
  readonly pen: Pen;
}

const NOTHING: Part = { lines: [], starts: [], plain: "", pen: PLAIN_PEN };

export class TerminalReader {
  #raw = "";
  /** What ended with a newline, and where in the raw text the line after it begins. */
  #done = NOTHING;
  #doneTo = 0;

  read(raw: string): Output {
    if (!raw.startsWith(this.#raw.slice(0, this.#doneTo))) {
      this.#done = NOTHING;
      this.#doneTo = 0;
    }
    this.#raw = raw;
    const end = raw.lastIndexOf("\n") + 1;
    if (end > this.#doneTo) {
      this.#done = append(this.#done, raw.slice(this.#doneTo, end - 1).split("\n"), true);
      this.#doneTo = end;
    }
    const { lines, starts, plain } = end === raw.length ? this.#done : append(this.#done, [raw.slice(end)], false);
    return { lines, starts, plain };
  }
}

function append(part: Part, rawLines: readonly string[], isEnded: boolean): Part {
  const lines = [...part.lines];
  const starts = [...part.starts];
  const texts: string[] = [];
  let { pen } = part;
  let at = part.plain.length;
  for (const raw of rawLines) {
    const line = readLine(raw, pen);
    pen = line.pen;
    for (const piece of pieces(line.runs, isEnded)) {
      lines.push(piece);
      starts.push(at);
      for (const run of piece.runs) at += run.text.length;
    }
    texts.push(line.text, isEnded ? "\n" : "");
    if (isEnded) at += 1;
  }
  return { lines, starts, plain: part.plain + texts.join(""), pen };
}

function pieces(runs: readonly StyledRun[], isEnded: boolean): readonly Line[] {
  const made: { runs: StyledRun[]; isEnded: boolean }[] = [];
  let current: StyledRun[] = [];
  let room = LINE_CHARS_MAX;
  for (const run of runs) {
    let { text } = run;
    while (text.length > room) {
      const cut = isPairSplit(text, room) ? room - 1 : room;
      if (cut > 0) current.push({ text: text.slice(0, cut), style: run.style });
      made.push({ runs: current, isEnded: false });
      text = text.slice(cut);
      current = [];
      room = LINE_CHARS_MAX;
    }
    current.push({ text, style: run.style });
    room -= text.length;
  }
  made.push({ runs: current, isEnded });
  return made;
}

/** True between the two halves of a character outside the first plane. */
const isPairSplit = (text: string, at: number): boolean => /[\ud800-\udbff]/.test(text.charAt(at - 1));
