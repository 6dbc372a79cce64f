/**
 * Anybody's text as one plain line for a list: nothing in it breaks the line, moves a cursor, turns the direction of writing or hides.
 * Pure.
 */

/** Longer ones end in an ellipsis. */
export const LINE_CHARS_MAX = 160;
/** Of a line as it came: what is behind could not be shown anyway. */
const RAW_CHARS_MAX = 1_024;

/** Colours and titles of a terminal: gone whole, or their letters would stay. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding them is the point
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?)/g;
/** What opens a heading, a quote or a list entry. */
const BLOCK_MARK = /^\s*(?:(?:#{1,6}|>|[-*+])\s+)+/;
const BOLD = /\*\*(\S(?:[^*]*\S)?)\*\*/g;
const CODE = /(`+)([^`]+)\1/g;
const LINK = /!?\[([^\][]*)\]\([^()\s]*\)/g;
/** The byte order mark counts as one, and is none. */
const SPACES = /[^\S\ufeff]+/g;
/** Controls, halves of characters, and what has no shape of its own: bidirectional, zero-width, fillers, tags. */
const SHAPELESS = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\ufff9-\ufffb]/gu;
/** The joiner and the picture selector belong to emoji; after one they hide nothing. */
const EMOJI_BEFORE = /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]*$/u;

export function plainLine(text: string): string {
  const bare = text
    .slice(0, RAW_CHARS_MAX)
    .replace(ESCAPES, "")
    .replace(BLOCK_MARK, "")
    .replace(LINK, "$1")
    .replace(BOLD, "$1")
    .replace(CODE, "$2");
  const shaped = bare
    .replace(SPACES, " ")
    .replace(SHAPELESS, (char, at: number, whole: string) => (isEmojiPart(whole, at, char) ? char : ""));
  // What was taken out may have stood between two spaces.
  return shortened(shaped.replace(/ {2,}/g, " ").trim());
}

function isEmojiPart(text: string, at: number, char: string): boolean {
  return (char === "\u200d" || char === "\ufe0f") && EMOJI_BEFORE.test(text.slice(Math.max(0, at - 8), at));
}

function shortened(line: string): string {
  if (line.length <= LINE_CHARS_MAX) return line;
  // Never half of a character.
  return `${line.slice(0, LINE_CHARS_MAX - 1).replace(/[\ud800-\udbff]$/, "")}…`;
}
