/** How well a path answers to what somebody typed: its letters in order, closer together and nearer to the name the better. Pure. */

/** A whole name, its beginning, a part of it; then a part of the path; then letters in order. */
const EXACT = 5000;
const NAME_BEGINS = 4000;
const NAME_HOLDS = 3000;
const PATH_HOLDS = 2000;
const NAME_LETTERS = 1000;
/** A letter that begins a word counts as much as this many characters of length. */
const WORD_START = 20;
const NEIGHBOUR = 10;

const isWordStart = (path: string, at: number): boolean => at === 0 || /[^\p{L}\p{N}]/u.test(path[at - 1] ?? "");

/**
 * Higher is better; undefined when the letters of `query` are not all in `path` in this order. `query` is in lower case, `path` as
 * it is, with "/" between its parts.
 */
export function rankPath(query: string, path: string): number | undefined {
  const lower = path.toLowerCase();
  const name = lower.slice(lower.lastIndexOf("/") + 1);
  // Of two that fit as well, the shorter and shallower one.
  const cost = Math.min(900, path.length + 10 * path.split("/").length);
  if (query === "") return -cost;
  if (name === query) return EXACT - cost;
  if (name.startsWith(query)) return NAME_BEGINS - cost;
  if (name.includes(query)) return NAME_HOLDS - cost;
  if (lower.includes(query)) return PATH_HOLDS - cost;
  const inName = lettersInOrder(query, name);
  if (inName !== undefined) return NAME_LETTERS + inName - cost;
  const inPath = lettersInOrder(query, lower);
  return inPath === undefined ? undefined : inPath - cost;
}

/** Found from the end, so that the letters stand as near to the name as they can. */
function lettersInOrder(query: string, text: string): number | undefined {
  let score = 0;
  let at = text.length;
  let after = -1;
  for (let index = query.length - 1; index >= 0; index -= 1) {
    at = text.lastIndexOf(query[index] ?? "", at - 1);
    if (at < 0 || (at === 0 && index > 0)) return undefined;
    if (isWordStart(text, at)) score += WORD_START;
    if (at + 1 === after) score += NEIGHBOUR;
    after = at;
  }
  return score;
}
