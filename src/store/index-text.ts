/**
 * Text as the index knows it, and queries in its language. The index keeps which passage holds a word, not where in it: a
 * third of the size. What stands together without a space (`parse_frame`, `src/a.ts`, 解析) is therefore indexed once more as
 * pairs of neighbours, so that such a name is found as a whole. Scripts without spaces are words of one sign each.
 */

const NO_SPACES = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}`;
const WORD = new RegExp(String.raw`[${NO_SPACES}]|(?:(?![${NO_SPACES}])[\p{L}\p{N}\p{M}])+`, "gu");
const NOT_ASCII = /[\u0080-\uffff]/;
/** Where signs alone stand between two words. Starts at one character, so that a long word costs no second look. */
const ASCII_JOINT = /[A-Za-z0-9][^A-Za-z0-9\s]+(?=[A-Za-z0-9])/g;
const ACCENTS = /[\u0300-\u036f]/g;

/** Joins a pair. No word has it: it is a sign. */
const JOINT = "·";
/** Longer words are data, and pairs of data would double it. */
const PAIRED_CHARS_MAX = 64;

interface Word {
  readonly text: string;
  /** True when no space stands between it and the word before. */
  readonly isJoined: boolean;
}

/** Lower case, without accents: é and e are one letter to who searches. */
const folded = (text: string): string => text.normalize("NFD").replace(ACCENTS, "").normalize("NFC").toLowerCase();

function wordsOf(text: string): Word[] {
  const words: Word[] = [];
  let end = 0;
  for (const { 0: word, index } of text.matchAll(WORD)) {
    words.push({ text: word, isJoined: words.length > 0 && !/\s/.test(text.slice(end, index)) });
    end = index + word.length;
  }
  return words;
}

/** Undefined where one of the two is data. */
function pairOf(before: string, after: string): string | undefined {
  return Math.max(before.length, after.length) > PAIRED_CHARS_MAX ? undefined : `${before}${JOINT}${after}`;
}

function pairsOf(words: readonly Word[]): string[] {
  return words.flatMap((word, at) => {
    const before = words[at - 1];
    return before !== undefined && word.isJoined ? (pairOf(before.text, word.text) ?? []) : [];
  });
}

/** The same for plain text, which is nearly all there is: without a list of its words. */
function asciiPairsOf(text: string): string[] {
  const pairs: string[] = [];
  for (const { 0: joint, index } of text.matchAll(ASCII_JOINT)) {
    const end = index + joint.length;
    const before = /[A-Za-z0-9]+$/.exec(text.slice(Math.max(0, index - PAIRED_CHARS_MAX), index + 1))?.[0] ?? "";
    const after = /^[A-Za-z0-9]+/.exec(text.slice(end, end + PAIRED_CHARS_MAX + 1))?.[0] ?? "";
    const pair = pairOf(before, after);
    if (pair !== undefined) pairs.push(pair);
  }
  return pairs;
}

/** The words of `text` for the index. */
export function indexText(text: string): string {
  if (!NOT_ASCII.test(text)) {
    const pairs = asciiPairsOf(text);
    return pairs.length === 0 ? text : `${text} ${pairs.join(" ")}`;
  }
  const words = wordsOf(folded(text));
  return [...words.map((word) => word.text), ...pairsOf(words)].join(" ");
}

/** The session a text belongs to, as a word of it: a search in few sessions then looks at theirs alone. No query can say it. */
const sessionTerm = (session: number): string => `${JOINT}${session}`;

/** What is given to the index for `text` of a session. */
export const indexDocument = (text: string, session: number): string => `${indexText(text)} ${sessionTerm(session)}`;

/** Shorter beginnings match so much that the search would be slow and of no use. */
const PREFIX_CHARS_MIN = 3;

function wordTerms(words: readonly string[]): string[] {
  return words.flatMap((word, at) => {
    const parts = wordsOf(folded(word));
    const pairs = pairsOf(parts);
    const terms = pairs.length === parts.length - 1 && pairs.length > 0 ? pairs : parts.map((part) => part.text);
    const mayGoOn = at === words.length - 1 && word.length >= PREFIX_CHARS_MIN;
    return terms.map((term, index) => (mayGoOn && index === terms.length - 1 ? `"${term}"*` : `"${term}"`));
  });
}

/**
 * The query in the language of the index: every word quoted, so nothing in it is an operator; the last may go on. `among`:
 * the sessions that count, at least one; absent for all.
 */
export function indexQuery(words: readonly string[], among?: readonly number[]): string {
  const terms = wordTerms(words).join(" AND ");
  return among === undefined ? terms : `${terms} AND (${among.map((id) => `"${sessionTerm(id)}"`).join(" OR ")})`;
}
