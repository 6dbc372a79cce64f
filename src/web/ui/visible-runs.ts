/** Splits text into what can be seen and characters that cannot, with their names. Pure. */

export type VisibleRun =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "hidden"; readonly name: string };

const NAMES = new Map<number, string>([
  [0x00, "NUL"],
  [0x07, "BEL"],
  [0x08, "BS"],
  [0x0d, "CR"],
  [0x1b, "ESC"],
  [0x7f, "DEL"],
  [0xa0, "NBSP"],
  [0xad, "SHY"],
  [0x061c, "ALM"],
  [0x200b, "ZWSP"],
  [0x200c, "ZWNJ"],
  [0x200d, "ZWJ"],
  [0x200e, "LRM"],
  [0x200f, "RLM"],
  [0x2028, "LS"],
  [0x2029, "PS"],
  [0x202a, "LRE"],
  [0x202b, "RLE"],
  [0x202c, "PDF"],
  [0x202d, "LRO"],
  [0x202e, "RLO"],
  [0x2060, "WJ"],
  [0x2066, "LRI"],
  [0x2067, "RLI"],
  [0x2068, "FSI"],
  [0x2069, "PDI"],
  [0xfeff, "BOM"],
]);

// Controls but tab and newline, format and separator characters, unassigned spaces, tags, variation selectors, fillers.
const HIDDEN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is looked for by itself
  /[\u0000-\u0008\u000b-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/u;

const ALL = new RegExp(HIDDEN.source, "gu");

export function splitVisible(text: string): readonly VisibleRun[] {
  const runs: VisibleRun[] = [];
  let at = 0;
  for (const match of text.matchAll(ALL)) {
    if (isEmojiPart(text, match.index, match[0])) continue;
    if (match.index > at) runs.push({ kind: "text", text: text.slice(at, match.index) });
    runs.push({ kind: "hidden", name: nameOf(match[0]) });
    at = match.index + match[0].length;
  }
  if (at < text.length) runs.push({ kind: "text", text: text.slice(at) });
  return runs;
}

export const hasHidden = (text: string): boolean => splitVisible(text).some((run) => run.kind === "hidden");

/** The joiner and the picture selector belong to emoji; after one they hide nothing. */
function isEmojiPart(text: string, index: number, char: string): boolean {
  if (char !== "\u200d" && char !== "\ufe0f") return false;
  return /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]*$/u.test(text.slice(Math.max(0, index - 8), index));
}

function nameOf(char: string): string {
  const code = char.codePointAt(0) ?? 0;
  return NAMES.get(code) ?? `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
}
