/**
 * How hard a given secret is to guess, as a lower estimate: what kinds of characters it is made of, times how many of them
 * tell something new. No dictionary: text in which most characters stand in what could be words is counted as words.
 */

const CLASSES: readonly (readonly [RegExp, number])[] = [
  [/^[0-9]*$/, 10],
  [/^[0-9a-f]*$/, 16],
  [/^[0-9A-F]*$/, 16],
  [/^[0-9a-z]*$/, 36],
  [/^[0-9A-Z]*$/, 36],
  [/^[0-9A-Za-z]*$/, 62],
  [/^[0-9A-Za-z_+/=.~-]*$/, 64],
  [/^[\x21-\x7e]*$/, 90],
];

/** What a secret a person chose must hold before it opens anything (contract, remote token). */
export const SECRET_BITS_MIN = 128;

const ALPHABET_DEFAULT = 90;
/** Written language has little more than two bits a letter. */
const WORD_BITS_PER_CHAR = 2.2;
/** More than this is more than enough. */
const CHARS_MAX = 512;

const HEX = /^[0-9a-f]*$|^[0-9A-F]*$/;

const lengthOf = (words: Iterable<{ readonly 0: string }>): number =>
  [...words].reduce((sum, { 0: word }) => sum + word.length, 0);

/**
 * True when most characters stand in words set apart, or in long runs of letters of one case with no digit in between. Of
 * random text that is true once in many thousand times.
 */
function couldBeWords(secret: string): boolean {
  if (HEX.test(secret)) return false;
  const letters = secret.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, "");
  const runs = /\p{N}/u.test(letters) ? 0 : lengthOf(letters.matchAll(/\p{Lu}?\p{Ll}{4,}|\p{Lu}{5,}|\p{Lo}+/gu));
  const words = lengthOf(secret.matchAll(/(?<![\p{L}\p{N}])(?:\p{Lu}?\p{Ll}+|\p{Lu}+)(?![\p{L}\p{N}])/gu));
  return runs >= secret.length * 0.6 || words >= secret.length * 0.5;
}

/** Characters that neither continue a run (`abc`, `111`) nor repeat what stood there before. */
function newCharCount(secret: string): number {
  const seen = new Set<string>();
  let count = 0;
  for (let at = 0; at < secret.length; at++) {
    const [before, last, now] = [secret.charCodeAt(at - 2), secret.charCodeAt(at - 1), secret.charCodeAt(at)];
    const step = now - last;
    const isRun = Math.abs(step) <= 1 && step === last - before;
    const three = secret.slice(Math.max(0, at - 2), at + 1);
    if (!isRun && !seen.has(three)) count++;
    seen.add(three);
  }
  return count;
}

/** Bits, rounded down. */
export function entropyBits(secret: string): number {
  const text = secret.slice(0, CHARS_MAX);
  const alphabet = CLASSES.find(([form]) => form.test(text))?.[1] ?? ALPHABET_DEFAULT;
  const perChar = couldBeWords(text) ? WORD_BITS_PER_CHAR : Math.log2(alphabet);
  const fresh = newCharCount(text);
  // A random secret has a chance run or two; one in five is no chance any more.
  const counted = fresh >= text.length * 0.8 ? text.length : fresh;
  return Math.floor(perChar * counted);
}
