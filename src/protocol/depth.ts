/**
 * How deep a message may be. Parsers read any depth; whatever writes, walks or checks it again recurses, and a few kilobytes of
 * brackets would end the process of everybody. Checked on the text, before it is parsed.
 */

/** Levels of objects and lists. Far over what any client sends, far under what overflows a stack. */
export const DEPTH_MAX = 512;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

export function isTooDeep(text: string): boolean {
  // Most messages have not even so many brackets, and counting them is a search that compares many characters at a time.
  return text.length > 2 * DEPTH_MAX && hasMoreOpeningsThan(text, DEPTH_MAX) && depthOf(text) > DEPTH_MAX;
}

function hasMoreOpeningsThan(text: string, max: number): boolean {
  let count = 0;
  for (const opening of ["{", "["]) {
    for (let at = text.indexOf(opening); at >= 0; at = text.indexOf(opening, at + 1)) {
      count += 1;
      if (count > max) return true;
    }
  }
  return false;
}

/** The deepest nesting of well-formed JSON; of other text, something the parser refuses anyway. Ends at the first level too deep. */
function depthOf(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (let at = 0; at < text.length && deepest <= DEPTH_MAX; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(text, at);
    else if (code === 0x7b || code === 0x5b) {
      depth += 1;
      if (depth > deepest) deepest = depth;
    } else if (code === 0x7d || code === 0x5d) depth -= 1;
  }
  return deepest;
}

/** Where the string that begins at `start` ends: its closing quote, or the end of the text. */
function stringEnd(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes += 1;
    if (slashes % 2 === 0) return at;
  }
  return text.length;
}
