/** How coloured output is shown so that it can be read on the dark ground it stands on, whatever it was made for. Pure. */
import { type Pen, PLAIN_PEN, type Rgb } from "./sgr.ts";

export interface TextStyle {
  readonly className: string | undefined;
  /** "r, g, b" for colours outside the sixteen. */
  readonly color: string | undefined;
  readonly background: string | undefined;
}

const NAMES = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

/** Undefined for plain text. */
export function styleOf(pen: Pen): TextStyle | undefined {
  if (pen === PLAIN_PEN) return undefined;
  const { names, color, background } = colorsOf(pen);
  const classes = [...[...pen.marks].map((mark) => `ansi-${mark}`), ...names];
  const isPlain = classes.length === 0 && color === undefined && background === undefined;
  return isPlain ? undefined : { className: classes.length === 0 ? undefined : classes.join(" "), color, background };
}

interface Colors {
  readonly names: readonly string[];
  readonly color: string | undefined;
  readonly background: string | undefined;
}

const named = (...names: readonly string[]): Colors => ({ names, color: undefined, background: undefined });

/** A ground of its own brings the colour of its text along, unless both are known to go together. */
function colorsOf({ fg, bg, isReverse }: Pen): Colors {
  if (isReverse) return named("ansi-reverse");
  if (typeof bg === "number" && bg !== 0) return named(`ansi-${NAMES[bg % 8]}-bg`);
  if (typeof bg === "object") {
    const color =
      typeof fg === "object" && contrast(fg, bg) >= READABLE ? fg : contrast(WHITE, bg) >= READABLE ? WHITE : BLACK;
    return { names: [], color: text(color), background: text(bg) };
  }
  if (typeof fg === "object") return { names: [], color: text(lifted(fg)), background: undefined };
  return fg === undefined ? named() : named(`ansi-${NAMES[fg % 8]}-fg`);
}

const text = (color: Rgb): string => color.join(", ");

const WHITE: Rgb = [255, 255, 255];
const BLACK: Rgb = [0, 0, 0];

/** The lighter of the two grounds output is shown on. */
const GROUND: Rgb = [29, 30, 34];
const READABLE = 4.5;

/** As WCAG has it. */
function contrast(one: Rgb, other: Rgb): number {
  const [light, dark] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return ((light ?? 0) + 0.05) / ((dark ?? 0) + 0.05);
}

function luminance(color: Rgb): number {
  const [r = 0, g = 0, b = 0] = color.map((value) => {
    const part = value / 255;
    return part <= 0.039_28 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** A colour made for a white terminal is mixed with white until it can be read. */
function lifted([r, g, b]: Rgb): Rgb {
  let mixed: Rgb = [r, g, b];
  for (let step = 1; contrast(mixed, GROUND) < READABLE; step += 1) {
    const mix = (value: number): number => Math.round(value + (255 - value) * (step / 10));
    mixed = [mix(r), mix(g), mix(b)];
  }
  return mixed;
}
