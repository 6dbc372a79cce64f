/**
 * One line of terminal output as it stands in the end: written over at a carriage return, erased, coloured. What would move
 * through the screen, set titles, touch the clipboard or make links is dropped. Pure.
 */
import { styleOf, type TextStyle } from "./pen-style.ts";
import { movePen, type Pen } from "./sgr.ts";

export interface StyledRun {
  readonly text: string;
  readonly style: TextStyle | undefined;
}

export interface ReadLine {
  readonly text: string;
  readonly runs: readonly StyledRun[];
  /** What the next line begins with. */
  readonly pen: Pen;
}

// Colours and the rest of CSI; OSC (title, clipboard, links), DCS and friends to their end, at the latest that of the line;
// every other escape; every other control. What is cut off at the end of a stream is dropped until the rest is there.
const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /\u001b(?:\[([0-9;:?<=>]*)[ -/]*([@-~])?|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]+[0-~]?|[0-~])?|[\u0000-\u0008\u000b-\u001a\u001c-\u001f\u007f-\u009f]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: see above
const HAS_CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** A column beyond this is a mistake of the program, or malice. */
const COLUMN_MAX = 10_000;

/** What makes the end of a line stand where its beginning did. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: see above
const MOVES = /[\r\b]|\u001b\[[0-9;]*[KG]/;

export function readLine(raw: string, pen: Pen): ReadLine {
  const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
  if (!HAS_CONTROL.test(line)) return { text: line, runs: runsOf(line, pen), pen };
  return MOVES.test(line) ? overwritten(line, pen) : coloured(line, pen);
}

const runsOf = (text: string, pen: Pen): readonly StyledRun[] => (text === "" ? [] : [{ text, style: styleOf(pen) }]);

const textOf = (runs: readonly StyledRun[]): string => runs.map((run) => run.text).join("");

const isColour = (final: string | undefined, params: string): boolean => final === "m" && !/[?<=>]/.test(params);

function coloured(line: string, before: Pen): ReadLine {
  const runs: StyledRun[] = [];
  let pen = before;
  let at = 0;
  for (const match of line.matchAll(CONTROL)) {
    runs.push(...runsOf(line.slice(at, match.index), pen));
    at = match.index + match[0].length;
    if (isColour(match[2], match[1] ?? "")) pen = movePen(pen, match[1] ?? "");
  }
  runs.push(...runsOf(line.slice(at), pen));
  return { text: textOf(runs), runs, pen };
}

function overwritten(line: string, pen: Pen): ReadLine {
  const cells = new Cells(pen);
  let at = 0;
  for (const match of line.matchAll(CONTROL)) {
    cells.write(line.slice(at, match.index));
    at = match.index + match[0].length;
    cells.control(match[0], match[1] ?? "", match[2]);
  }
  cells.write(line.slice(at));
  const runs = cells.runs();
  return { text: textOf(runs), runs, pen: cells.pen };
}

/** The columns of a line while it is written. */
class Cells {
  pen: Pen;
  #style: TextStyle | undefined;
  #column = 0;
  readonly #chars: string[] = [];
  readonly #styles: (TextStyle | undefined)[] = [];

  constructor(pen: Pen) {
    this.pen = pen;
    this.#style = styleOf(pen);
  }

  write(text: string): void {
    for (const char of text) {
      while (this.#chars.length < this.#column) this.#put(this.#chars.length, " ", undefined);
      this.#put(this.#column, char, this.#style);
      this.#column += 1;
    }
  }

  control(whole: string, params: string, final: string | undefined): void {
    if (whole === "\r") this.#column = 0;
    else if (whole === "\b") this.#column = Math.max(0, this.#column - 1);
    else if (isColour(final, params)) {
      this.pen = movePen(this.pen, params);
      this.#style = styleOf(this.pen);
    } else if (final === "K") this.#erase(params);
    else if (final === "G") this.#column = Math.min(COLUMN_MAX, Math.max(0, Number(params) - 1));
  }

  runs(): readonly StyledRun[] {
    const runs: { text: string; style: TextStyle | undefined }[] = [];
    for (const [index, char] of this.#chars.entries()) {
      const style = this.#styles[index];
      const last = runs.at(-1);
      if (last !== undefined && last.style === style) last.text += char;
      else runs.push({ text: char, style });
    }
    return runs;
  }

  #put(column: number, char: string, style: TextStyle | undefined): void {
    this.#chars[column] = char;
    this.#styles[column] = style;
  }

  #erase(params: string): void {
    if (params === "1") {
      const to = Math.min(this.#column, this.#chars.length);
      for (let column = 0; column < to; column += 1) this.#put(column, " ", undefined);
      return;
    }
    const from = params === "2" ? 0 : this.#column;
    if (from < this.#chars.length) this.#chars.length = this.#styles.length = from;
  }
}
