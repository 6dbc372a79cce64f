/** What `ESC [ … m` sets, in the order of the codes. Pure. */

/** One of the sixteen by number, or a colour of its own. */
export type Color = number | Rgb;
export type Rgb = readonly [number, number, number];

/** What is set at one place of the output. Never changed: a place after it has one of its own. */
export interface Pen {
  readonly fg: Color | undefined;
  readonly bg: Color | undefined;
  readonly marks: ReadonlySet<string>;
  readonly isReverse: boolean;
}

export const PLAIN_PEN: Pen = { fg: undefined, bg: undefined, marks: new Set(), isReverse: false };

// Neither blinking nor hidden: the one is a nuisance, the other would show less than there is.
const MARKS = new Map<number, string>([
  [1, "bold"],
  [2, "dim"],
  [3, "italic"],
  [4, "underline"],
  [9, "strike"],
]);

const ENDS = new Map<number, readonly string[]>([
  [22, ["bold", "dim"]],
  [23, ["italic"]],
  [24, ["underline"]],
  [29, ["strike"]],
]);

/** The pen after the parameters of one sequence. */
export function movePen(pen: Pen, params: string): Pen {
  const codes = params.split(";");
  let next = pen;
  for (let at = 0; at < codes.length; at += 1) {
    const code = codes[at] ?? "";
    const [first = "", ...sub] = code.split(":");
    const number = Number(first);
    if (number === 38 || number === 48) {
      const isInline = sub.length > 0;
      const { color, used } = readColor(isInline ? sub : codes.slice(at + 1));
      if (!isInline) at += used;
      if (color !== undefined) next = { ...next, [number === 38 ? "fg" : "bg"]: color };
    } else next = number === 4 && sub[0] === "0" ? withCode(next, 24) : withCode(next, number);
  }
  return next;
}

function withCode(pen: Pen, code: number): Pen {
  if (code === 0) return PLAIN_PEN;
  if (code === 7 || code === 27) return { ...pen, isReverse: code === 7 };
  const mark = MARKS.get(code);
  if (mark !== undefined) return { ...pen, marks: new Set([...pen.marks, mark]) };
  const ended = ENDS.get(code);
  if (ended !== undefined) return { ...pen, marks: new Set([...pen.marks].filter((each) => !ended.includes(each))) };
  if (code === 39) return { ...pen, fg: undefined };
  if (code === 49) return { ...pen, bg: undefined };
  const named = namedColor(code);
  return named === undefined ? pen : { ...pen, ...named };
}

function namedColor(code: number): Partial<Pen> | undefined {
  if (code >= 30 && code <= 37) return { fg: code - 30 };
  if (code >= 40 && code <= 47) return { bg: code - 40 };
  if (code >= 90 && code <= 97) return { fg: code - 82 };
  if (code >= 100 && code <= 107) return { bg: code - 92 };
  return undefined;
}

/** `5;n` or `2;r;g;b`; written with colons it may have a colour space before the three. */
function readColor(parts: readonly string[]): { readonly color: Color | undefined; readonly used: number } {
  const [kind, ...rest] = parts.map((part) => (part === "" ? 0 : Number(part)));
  if (kind === 5) return { color: paletteColor(rest[0] ?? 0), used: 2 };
  if (kind !== 2) return { color: undefined, used: 1 };
  const [r = 0, g = 0, b = 0] = rest.length === 4 && parts.length === 5 ? rest.slice(1) : rest;
  return { color: isByte(r) && isByte(g) && isByte(b) ? [r, g, b] : undefined, used: 4 };
}

const isByte = (value: number): boolean => Number.isInteger(value) && value >= 0 && value <= 255;

/** The 256 colours: the sixteen, a cube of 6 × 6 × 6, and greys. */
function paletteColor(index: number): Color | undefined {
  if (!isByte(index)) return undefined;
  if (index < 16) return index;
  if (index >= 232) {
    const grey = 8 + (index - 232) * 10;
    return [grey, grey, grey];
  }
  const level = (step: number): number => (step === 0 ? 0 : 55 + step * 40);
  const cube = index - 16;
  return [level(Math.floor(cube / 36)), level(Math.floor(cube / 6) % 6), level(cube % 6)];
}
