/** Terminal output → coloured runs. Colours only: what would move the cursor, set titles or touch the clipboard is dropped. */
import Anser from "anser";

export interface TerminalRun {
  readonly text: string;
  /** Class names, or undefined for plain text. */
  readonly className: string | undefined;
  /** "r, g, b" for colours outside the sixteen. */
  readonly color: string | undefined;
}

// OSC (title, clipboard, links), DCS and friends, and every CSI that is not a colour.
const NOT_COLOURS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|\[[0-9;?<=>]*[ -/]*[@-ln-~]|[()*+][A-Za-z0-9]|[@-Z\\^_78=>cM])/g;

export function terminalRuns(text: string): readonly TerminalRun[] {
  const clean = foldReturns(text.replaceAll(NOT_COLOURS, ""));
  return Anser.ansiToJson(clean, { json: true, remove_empty: true, use_classes: true }).map((part) => {
    const classes = [...decorations(part), ...named(part.fg, "fg"), ...named(part.bg, "bg")];
    return {
      text: part.content,
      className: classes.length === 0 ? undefined : classes.join(" "),
      color: part.fg === "ansi-truecolor" ? part.fg_truecolor : undefined,
    };
  });
}

const decorations = (part: { readonly decorations: readonly string[] }): string[] =>
  part.decorations.map((name) => `ansi-${name}`);

const named = (color: string | null, place: "fg" | "bg"): string[] =>
  color === null || color === "ansi-truecolor" ? [] : [`${color}-${place}`];

/** A carriage return writes over the line: only what stands there in the end is shown, as in a terminal. */
function foldReturns(text: string): string {
  if (!text.includes("\r")) return text;
  return text
    .replaceAll("\r\n", "\n")
    .split("\n")
    .map((line) => line.split("\r").reduce((shown, part) => part + shown.slice(part.length), ""))
    .join("\n");
}
